"""A closed loop without pauses, over HTTP, by fortio (loadgen/fortio)."""

from collections.abc import Mapping
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.load.generator import WARM_UP_REQUEST_BOUND_S, LoadPlan
from lab.load.timed import TimedByFiles
from lab.spec import Capability, EntryProtocol, Load, Schedule


class Saturated(Schedule):
    """A closed loop without pauses: each connection sends its next request as soon as the last one is answered."""

    kind: Literal["saturated"]
    connections: int = Field(default=48, ge=1, le=1000, description="requests in flight at the same time")

    @override
    def fixed(self) -> Mapping[str, float]:
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

    @override
    def fields(self, plan: LoadPlan) -> Mapping[str, object]:
        return {"concurrency": plan.users, "routes": plan.endpoint.routes}

    @override
    def warm_up_bound_s(self, plan: LoadPlan) -> float:
        return plan.protocol.warm_up_s or (plan.protocol.warm_up_requests or 0) * WARM_UP_REQUEST_BOUND_S
