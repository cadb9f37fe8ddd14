"""A service that is slow."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from lab.fault.application import ByService
from lab.record import Course, TrialData

# A timer never ends early, but the counters may be read between an operation's wait and its count.
NEARLY = 0.95


class ApplicationLatency(ByService):
    """The target's operations wait this long, whatever the topology and the request set."""

    kind: Literal["application-latency"]
    size: int = Field(ge=1, le=60_000, description="whole ms that every operation waits", examples=[50])
    setting: ClassVar[str] = "latency_ms"

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the waiting time that the target measured does not show the latency."""
        operations, start = course.counted("operations"), course.injected.seen
        # Clients that give up sooner end all waits. Earlier records do not count these.
        given_up = course.counted("given_up") if "given_up" in start else 0
        if operations + given_up == 0:
            yield "no operation was requested"
            return
        waited_ms = course.counted("waited_ns") / max(1.0, operations) / 1e6
        usual_ms = float(start["waited_ns"]) / max(1.0, float(start["operations"])) / 1e6
        if operations and waited_ms < NEARLY * self.size:
            yield f"operations waited {waited_ms:.1f} ms, {self.size:g} ms were expected"
        if usual_ms >= NEARLY * self.size:
            yield f"operations waited {usual_ms:.1f} ms before, too"
