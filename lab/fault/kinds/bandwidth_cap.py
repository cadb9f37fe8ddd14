"""A container with limited bandwidth."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.evidence import during, growth
from lab.fault.network import ByNetwork
from lab.fault.planes import interfaces
from lab.record import Course, TrialData

# At least one Ethernet packet; for fast links, the traffic of this time.
BURST_BYTES = 2_000
BURST_S = 0.01
QUEUE = "400ms"
TIMING = 1.05
# Below this share of the cap, something else limited the traffic.
NEAR = 0.8


class BandwidthCap(ByNetwork):
    """What the target sends to the network of its work passes a token bucket filter (tbf) of `size` kbit/s."""

    kind: Literal["bandwidth-cap"]
    size: float = Field(ge=8, le=10_000_000, description="kbit/s that it may send", examples=[256])

    @override
    def discipline(self) -> Sequence[str]:
        rate, burst = f"{round(self.size * 1000)}bit", f"{self._burst_bytes():.0f}"
        return ("tbf", "rate", rate, "burst", burst, "latency", QUEUE)

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the interface's bytes, or the filter's counter, do not show the cap."""
        sent = [one for fields in interfaces(data, self.target) if (one := growth(fields, "tx_bytes", during(course)))]
        if not sent:
            yield "what it sent was not sampled twice meanwhile"
            return
        kbit_per_s = sum(one.per_s for one in sent) * 8 / 1000
        burst = self._burst_bytes() * 8 / 1000 / min(one.seconds for one in sent)
        if kbit_per_s > self.size * TIMING + burst:
            yield f"it sent {kbit_per_s:.3g} kbit/s, {self.size:g} kbit/s were allowed"
        if kbit_per_s < self.size * NEAR:
            yield f"it wanted to send no more than {kbit_per_s:.3g} kbit/s"
        if not course.lifted.seen.get("overlimits"):
            yield "no packet had to wait for it"

    def _burst_bytes(self) -> float:
        return max(BURST_BYTES, self.size * 1000 / 8 * BURST_S)
