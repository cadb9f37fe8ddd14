"""An open loop over HTTP: requests at a rate, whatever the system answers (loadgen/open-loop)."""

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.load.generator import WARM_UP_REQUEST_BOUND_S, Awaited, LoadPlan, Stage, TurnsGenerator
from lab.load.schedule import OpenLoop, Slices
from lab.load.timed import SLOWEST_REQUEST_S, TimedByFiles
from lab.spec import Capability, EntryProtocol, Load

# Of the number of Poisson arrivals. So many more, and one load in 30,000 ends too early.
SPARE_SDS = 4
# Of a warm-up: one request waits for another, and the CPUs never wait long.
CLOSED_CONCURRENCY = 2


class OpenLoopLoad(Load):
    """HTTP requests at a rate."""

    generator: Literal["open-loop"]
    schedule: Annotated[OpenLoop | Slices, Field(discriminator="kind")]

    capabilities: ClassVar[frozenset[Capability]] = frozenset(
        {"warms-up", "reusable", "timed", "at-times", "begins-traces", "rate-by-level", "draws-errors"}
    )
    protocol: ClassVar[EntryProtocol | None] = "http"


class OpenLoopHttp(TimedByFiles, TurnsGenerator):
    """The `LoadGenerator` for requests at a rate."""

    service = "open-loop"
    model = OpenLoopLoad

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`: the one host that it sends to. Everything else it reads from files."""
        return {"LOAD_TARGET": f"{plan.endpoint.host}:{plan.endpoint.port}", "SEED": str(plan.seed)}

    @override
    def closed(self, plan: LoadPlan, stage: Stage, requests: int) -> Awaited:
        load = {"requests": requests, "concurrency": CLOSED_CONCURRENCY, **_common(plan)}
        return self.ordered(stage, load, requests * WARM_UP_REQUEST_BOUND_S)

    @override
    def turns(self, plan: LoadPlan, stage: Stage, starts_ns: Sequence[int], lasts_s: float, per_s: float) -> Awaited:
        assert isinstance(plan.load, OpenLoopLoad) and isinstance(plan.load.schedule, Slices)
        rate = {"requests": plan.load.schedule.requests, "requests_per_s": per_s, "arrivals": "fixed"}
        return self.ordered(stage, {"starts_ns": starts_ns, **rate, **_common(plan)}, lasts_s + SLOWEST_REQUEST_S)

    @override
    def steady(self, plan: LoadPlan, stage: Stage, start_ns: int, lasts_s: float) -> Awaited:
        schedule = _schedule(plan)
        mean = schedule.requests_per_s * lasts_s
        spare = SPARE_SDS * math.sqrt(mean) if schedule.arrivals == "poisson" else 0.0
        load = {"starts_ns": [start_ns], "requests": math.ceil(mean + spare), **self.fields(plan)}
        return self.ordered(stage, load, (mean + spare) / schedule.requests_per_s + SLOWEST_REQUEST_S)

    @override
    def fields(self, plan: LoadPlan) -> Mapping[str, object]:
        schedule = _schedule(plan)
        return {
            "requests_per_s": schedule.requests_per_s,
            "arrivals": schedule.arrivals,
            **_common(plan),
        }

    @override
    def warm_up_bound_s(self, plan: LoadPlan) -> float:
        protocol = plan.protocol
        return protocol.warm_up_s or (protocol.warm_up_requests or 0) / _schedule(plan).requests_per_s


def _common(plan: LoadPlan) -> Mapping[str, object]:
    """What every load says. All trials of a block have one seed: its levels have the same arrivals."""
    return {"routes": plan.endpoint.routes, "seed": plan.seed}


def _schedule(plan: LoadPlan) -> OpenLoop:
    assert isinstance(plan.load, OpenLoopLoad) and isinstance(plan.load.schedule, OpenLoop)
    return plan.load.schedule
