"""A proxy that answers with an error and does not forward the request."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.fault import Part
from lab.fault.sidecar import ByProxy, percent, share_doubts
from lab.record import Course, TrialData


class EnvoyAbort(ByProxy):
    """The sidecar in front of the target answers a share of the requests itself, with 503 (gRPC: UNAVAILABLE)."""

    kind: Literal["envoy-abort"]
    size: float = Field(ge=0.0001, le=1, description="the share of requests", examples=[0.3])
    part: ClassVar[Part] = "proxy aborts"
    counter: ClassVar[str] = "aborts_injected"

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the fault filter's counters do not show the share."""
        return share_doubts(course, self.size, "aborted")

    @override
    def keys(self) -> dict[str, int | str]:
        return {"fault.http.abort.abort_percent": percent(self.size)}
