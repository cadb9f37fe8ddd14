"""The sidecar study's generator: a fixed number of gRPC requests (loadgen/ghz).

Its container stays for all trials of a start (`by_files`).
"""

from collections.abc import Mapping
from typing import ClassVar, Literal

from typing_extensions import override

from lab.load.by_files import ByFiles
from lab.load.generator import Loaded, LoadPlan, Stage
from lab.load.schedule import Counted
from lab.record import read_requests
from lab.spec import Capability, EntryProtocol, Load

# Slower than this no request of the studies is, retries and all.
SLOWEST_REQUEST_S = 10.0


class GhzLoad(Load):
    """A fixed number of gRPC requests in each trial."""

    generator: Literal["ghz"]
    schedule: Counted

    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"warms-up", "counted", "reusable", "timed", "draws-errors"}
    )
    protocol: ClassVar[EntryProtocol | None] = "grpc"


class Ghz(ByFiles):
    """The `LoadGenerator` for a counted load."""

    service = "ghz"
    whole = True
    model = GhzLoad

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`: its loads come as files."""
        return {"SEED": str(plan.seed)}

    def lead_s(self, plan: LoadPlan) -> float:
        """See `LoadGenerator.lead_s`: its container looks for a load all the time."""
        return 0.0

    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        """See `LoadGenerator.measure`: the window is from the first request's start to the last one's end."""
        path = self.send(plan, stage, {"requests": _schedule(plan).requests, **request})
        requests = read_requests(path)
        start_ns = requests.first_start_ns()
        # A window ends before its end: the last request is to be in it.
        return Loaded(self.with_warm_up(stage, path), start_ns, start_ns, requests.last_end_ns() + 1)

    @override
    def send_on(self, plan: LoadPlan, stage: Stage) -> None:
        self.ordered(stage, {**self.fields(plan), "requests": _schedule(plan).requests}, 0.0)
        super().send_on(plan, stage)

    @override
    def fields(self, plan: LoadPlan) -> Mapping[str, object]:
        return {
            "target": f"{plan.endpoint.host}:{plan.endpoint.port}",
            "operation": plan.endpoint.routes[0],
            "concurrency": plan.users or None,
            "requests_per_s": _schedule(plan).requests_per_s,
            # The same in all trials of a block, so that its levels meet the same draws (common random numbers).
            "first_counter": 1,
        }

    @override
    def bound_s(self, plan: LoadPlan) -> float:
        schedule = _schedule(plan)
        at_rate_s = schedule.requests / schedule.requests_per_s if schedule.requests_per_s else 0.0
        in_turn = schedule.requests / schedule.concurrency if schedule.concurrency else 1
        return plan.protocol.expected_warm_up_s + max(at_rate_s, in_turn * SLOWEST_REQUEST_S)


def _schedule(plan: LoadPlan) -> Counted:
    assert isinstance(plan.load, GhzLoad)
    return plan.load.schedule
