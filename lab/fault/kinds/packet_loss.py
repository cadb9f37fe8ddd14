"""A network that loses packets."""

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.evidence import share_doubts
from lab.fault.network import ByNetwork
from lab.record import Course, TrialData


class PacketLoss(ByNetwork):
    """A share of the packets that the target sends to the network of its work is lost (netem)."""

    kind: Literal["packet-loss"]
    size: float = Field(ge=0.0001, le=1, description="the share of packets that is lost", examples=[0.05])

    @override
    def discipline(self) -> Sequence[str]:
        return ("netem", "loss", f"{self.size:.4%}")

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the discipline's counters do not show the share."""
        passed, lost = (float(course.lifted.seen[name]) for name in ("packets", "drops"))
        yield from share_doubts(lost, passed + lost, self.size, "packets", "lost")
