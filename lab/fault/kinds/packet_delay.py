"""A slower network."""

from collections.abc import Iterator, Sequence
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.evidence import before, during, median_latency_ms
from lab.fault.network import ByNetwork
from lab.fault.planes import SERVICE, Role
from lab.record import Course, TrialData

# Of a request's latency, which noise may shorten a little during the fault.
NEARLY = 0.8


class PacketDelay(ByNetwork):
    """Every packet that the target sends to the network of requests is delayed (netem)."""

    kind: Literal["packet-delay"]
    size: float = Field(ge=1, le=60_000, description="ms by which a packet is delayed", examples=[20])
    # It is verified by the latency of requests.
    roles: ClassVar[frozenset[Role]] = frozenset({SERVICE})

    @override
    def discipline(self) -> Sequence[str]:
        return ("netem", "delay", f"{self.size:g}ms", "limit", "100000")

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why packets, or requests, were not delayed: the discipline does not count its delays."""
        if not course.lifted.seen["packets"]:
            yield "no packet passed the delay"
        usual_ms = median_latency_ms(data, before(data, course))
        delayed_ms = median_latency_ms(data, during(course))
        if usual_ms is None or delayed_ms is None:
            yield "no request began and succeeded both before and meanwhile"
        elif delayed_ms < usual_ms + NEARLY * self.size:
            yield f"half of the requests took {delayed_ms:.1f} ms or less, {usual_ms:.1f} ms before"
