"""A network that loses packets."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from lab.fault.evidence import share_doubt
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.fault.network import shape, unshape
from lab.record import Course, Seen, TrialData


class PacketLoss(DeclaredFault):
    """A share of the packets that the target sends to the network of requests is lost (netem)."""

    kind: Literal["packet-loss"]
    size: float = Field(ge=0.0001, le=1, description="the share of packets that is lost")
    part: ClassVar[Part] = "network"
    images: ClassVar[tuple[str, ...]] = ("nettools",)

    def inject(self, subject: Subject) -> Seen:
        """See `DeclaredFault.inject`."""
        shape(subject, self.target, "netem", "loss", f"{self.size:.4%}")
        return {}

    def lift(self, subject: Subject) -> Seen:
        """See `DeclaredFault.lift`."""
        return unshape(subject, self.target)

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the discipline's counters do not show the share."""
        passed, lost = (float(course.lifted.seen[name]) for name in ("packets", "drops"))
        if doubt := share_doubt(lost, passed + lost, self.size, "packets", "lost"):
            yield doubt
