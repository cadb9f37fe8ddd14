"""A proxy that waits before it asks."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from lab.injection.fault import DeclaredFault, Part, Subject
from lab.injection.records import Course, Seen
from lab.injection.sidecar import percent, share_doubts, switch_off, switch_on
from lab.records import TrialData

EVERY = 1.0
COUNTER = "delays_injected"


class EnvoyDelay(DeclaredFault):
    """The sidecar in front of the target holds every request for a while."""

    kind: Literal["envoy-delay"]
    size: int = Field(ge=1, le=60_000, description="ms for which a request is held")
    part: ClassVar[Part] = "proxy delays"
    needs_sidecar: ClassVar[bool] = True

    def inject(self, subject: Subject) -> Seen:
        """See `DeclaredFault.inject`."""
        return switch_on(subject, self.target, self._keys(), COUNTER)

    def lift(self, subject: Subject) -> Seen:
        """See `DeclaredFault.lift`."""
        return switch_off(subject, self.target, self._keys(), COUNTER)

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the fault filter's own counter does not show every request."""
        return share_doubts(course, EVERY, "delayed")

    def _keys(self) -> dict[str, int | str]:
        return {
            "fault.http.delay.fixed_delay_percent": percent(EVERY),
            "fault.http.delay.fixed_duration_ms": self.size,
        }
