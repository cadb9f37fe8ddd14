"""A proxy that answers with an error instead of asking."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from lab.injection.fault import DeclaredFault, Part, Subject
from lab.injection.records import Course, Seen
from lab.injection.sidecar import percent, share_doubts, switch_off, switch_on
from lab.records import TrialData

COUNTER = "aborts_injected"


class EnvoyAbort(DeclaredFault):
    """The sidecar in front of the target answers a share of the requests with 503 (gRPC: UNAVAILABLE) by itself."""

    kind: Literal["envoy-abort"]
    size: float = Field(ge=0.0001, le=1, description="the share of requests")
    part: ClassVar[Part] = "proxy aborts"
    needs_sidecar: ClassVar[bool] = True

    def inject(self, subject: Subject) -> Seen:
        """See `DeclaredFault.inject`."""
        return switch_on(subject, self.target, self._keys(), COUNTER)

    def lift(self, subject: Subject) -> Seen:
        """See `DeclaredFault.lift`."""
        return switch_off(subject, self.target, self._keys(), COUNTER)

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the fault filter's own counters do not show the share."""
        return share_doubts(course, self.size, "aborted")

    def _keys(self) -> dict[str, int | str]:
        return {"fault.http.abort.abort_percent": percent(self.size)}
