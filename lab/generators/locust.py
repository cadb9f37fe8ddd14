"""The thesis's generator: a closed loop of users (loadgen/locust)."""

from collections.abc import Mapping

from lab import records
from lab.generators.generator import SECOND_NS, Loaded, LoadPlan, Stage
from lab.load import LocustLoad
from lab.spec import Level, Protocol

LOAD_MARGIN_S = 60.0
# The window is counted from the first request, up to 0.2 s after the generator's start, and the generator has to be
# there, and sampled once, after the window's end.
LOAD_TAIL_S = 1
# From the end of a saturating warm-up's load to the window: queues empty, and users get out of step.
SETTLE_S = 2.0


class Locust:
    """The `LoadGenerator` for users who think. It loads a start once, and ends by itself."""

    service = "locust"

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`."""
        assert isinstance(plan.load, LocustLoad)
        shortest_s, longest_s = plan.load.think_time_s
        return {
            "LOAD_USERS": str(plan.users),
            "LOAD_DURATION_S": f"{_load_s(plan.protocol) + LOAD_TAIL_S:.0f}",
            "LOAD_ROUTES": " ".join(plan.topology.routes()),
            "LOAD_THINK_TIME_S": f"{shortest_s} {longest_s}",
            "LOAD_SATURATE_S": f"{saturate_s(plan.protocol):g}",
            "SEED": str(plan.seed),
        }

    def lead_s(self, plan: LoadPlan) -> float:
        """See `LoadGenerator.lead_s`."""
        return plan.protocol.warm_up_s

    def begin(self, plan: LoadPlan, stage: Stage) -> None:
        """See `LoadGenerator.begin`: its warm-up is the beginning of its load."""

    def measure(self, plan: LoadPlan, stage: Stage, level: Level) -> Loaded:
        """See `LoadGenerator.measure`."""
        stage.driver.start([self.service])
        bound_s = _load_s(plan.protocol) + LOAD_MARGIN_S
        try:
            exit_code = stage.driver.wait(self.service, bound_s)
        except TimeoutError:
            raise stage.failed(self.service, f"had not ended after {bound_s:.0f} s") from None
        if exit_code:
            raise stage.failed(self.service, f"ended with exit code {exit_code}")
        path = stage.out / "requests.csv"
        start_ns = records.read_requests(path).first_start_ns()
        window_start_ns = start_ns + round(plan.protocol.warm_up_s * SECOND_NS)
        window_ns = round((_load_s(plan.protocol) - plan.protocol.warm_up_s) * SECOND_NS)
        return Loaded(path, start_ns, window_start_ns, window_start_ns + window_ns)

    def end(self, stage: Stage) -> None:
        """See `LoadGenerator.end`: it has ended."""


def saturate_s(protocol: Protocol) -> float:
    """How long users ask without thinking, from the load's start."""
    return max(0.0, protocol.warm_up_s - SETTLE_S) if protocol.warm_up_load == "saturating" else 0.0


def _load_s(protocol: Protocol) -> float:
    assert protocol.window_s is not None  # an experiment with Locust has one
    return protocol.warm_up_s + protocol.window_s
