"""A proxy that waits before it forwards a request."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.fault import Part
from lab.fault.sidecar import ByProxy, percent, share_doubts
from lab.record import Course, TrialData

EVERY = 1.0


class EnvoyDelay(ByProxy):
    """The sidecar in front of the target holds every request for `size` ms."""

    kind: Literal["envoy-delay"]
    size: int = Field(ge=1, le=60_000, description="ms for which a request is held", examples=[50])
    part: ClassVar[Part] = "proxy delays"
    counter: ClassVar[str] = "delays_injected"

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the fault filter's counter does not show every request."""
        return share_doubts(course, EVERY, "delayed")

    @override
    def keys(self) -> dict[str, int | str]:
        return {
            "fault.http.delay.fixed_delay_percent": percent(EVERY),
            "fault.http.delay.fixed_duration_ms": self.size,
        }
