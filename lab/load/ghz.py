"""The sidecar study's generator: a fixed number of gRPC requests (loadgen/ghz).

Its container stays for all trials of a start (`by_files`).
"""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from lab.load import by_files
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

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"warms-up", "counted", "reusable", "timed"})
    protocol: ClassVar[EntryProtocol | None] = "grpc"


class Ghz:
    """The `LoadGenerator` for a counted load. A start's first load is its warm-up, and is thrown away."""

    service = "ghz"
    model: type[Load] = GhzLoad

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`: its loads come as files."""
        return {"SEED": str(plan.seed)}

    def lead_s(self, plan: LoadPlan) -> float:
        """See `LoadGenerator.lead_s`: its container looks for a load all the time."""
        return 0.0

    def begin(self, plan: LoadPlan, stage: Stage) -> None:
        """See `LoadGenerator.begin`."""
        stage.driver.start([self.service])
        for warm_up in by_files.warm_ups(plan.protocol):
            _run(plan, stage, warm_up).unlink()

    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        """See `LoadGenerator.measure`: the window is from the first request's start to the last one's end."""
        assert isinstance(plan.load, GhzLoad)
        asked = {"requests": plan.load.schedule.requests, **request}
        path = _run(plan, stage, asked)
        requests = read_requests(path)
        start_ns = requests.first_start_ns()
        # A window ends before its end: the last request is to be in it.
        return Loaded(path, start_ns, start_ns, requests.last_end_ns() + 1)

    def end(self, stage: Stage) -> None:
        """See `LoadGenerator.end`."""
        by_files.end(stage, self.service)


def _run(plan: LoadPlan, stage: Stage, fields: Mapping[str, object]) -> Path:
    """Sends one load, and waits for its records."""
    assert isinstance(plan.load, GhzLoad)
    schedule = plan.load.schedule
    load = {
        "target": f"{plan.endpoint.host}:{plan.endpoint.port}",
        "operation": plan.endpoint.routes[0],
        "concurrency": plan.users or None,
        "requests_per_s": schedule.requests_per_s,
        # The same in all trials of a block, so that its levels meet the same draws (common random numbers).
        "first_counter": 1,
        **fields,
    }
    return by_files.send(stage, Ghz.service, load, _bound_s(schedule, plan.protocol.expected_warm_up_s))


def _bound_s(schedule: Counted, warm_up_s: float) -> float:
    at_rate_s = schedule.requests / schedule.requests_per_s if schedule.requests_per_s else 0.0
    queued_s = (
        schedule.requests * SLOWEST_REQUEST_S / schedule.concurrency if schedule.concurrency else SLOWEST_REQUEST_S
    )
    return warm_up_s + by_files.LOAD_MARGIN_S + max(at_rate_s, queued_s)
