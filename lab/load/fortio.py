"""A closed loop without pauses, over HTTP, by fortio (loadgen/fortio)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field

from lab.load.generator import WARM_UP_REQUEST_BOUND_S, LoadPlan
from lab.load.timed import TimedByFiles
from lab.spec import Capability, EntryProtocol, Load, Schedule


class Saturated(Schedule):
    """A closed loop without pauses: each connection sends its next request as soon as the last one is answered."""

    kind: Literal["saturated"]
    connections: int = Field(default=48, ge=1, le=1000, description="requests in flight at the same time")

    def fixed(self) -> Mapping[str, float]:
        """See `Schedule.fixed`."""
        return {"users": self.connections}


class FortioLoad(Load):
    """HTTP requests as fast as they are answered."""

    generator: Literal["fortio"]
    schedule: Saturated

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"warms-up", "reusable", "timed"})
    protocol: ClassVar[EntryProtocol | None] = "http"


class Fortio(TimedByFiles):
    """The `LoadGenerator` for a load that has no rate of its own."""

    service = "fortio"
    model = FortioLoad

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """See `LoadGenerator.environment`: the one host that it sends to. Everything else it reads from files."""
        return {"LOAD_TARGET": f"{plan.endpoint.host}:{plan.endpoint.port}"}

    def fields(self, plan: LoadPlan) -> Mapping[str, object]:
        """See `ByFiles.fields`."""
        return {"concurrency": plan.users, "routes": plan.endpoint.routes}

    def warm_up_bound_s(self, plan: LoadPlan) -> float:
        """See `TimedByFiles.warm_up_bound_s`."""
        return plan.protocol.warm_up_s or (plan.protocol.warm_up_requests or 0) * WARM_UP_REQUEST_BOUND_S
