"""A container without its network."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from typing_extensions import override

from lab.fault.evidence import Span, before, container_growth, during, not_felt
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.fault.planes import passed
from lab.record import Course, Seen, TrialData


class CutOff(DeclaredFault):
    """The target and its sidecar are disconnected from the network of its work; the process continues."""

    kind: Literal["cut-off"]
    part: ClassVar[Part] = "network"
    stops: ClassVar[bool] = True

    @override
    def inject(self, subject: Subject) -> Seen:
        address = subject.address(self.target)
        subject.driver.disconnect(self.target, subject.network(self.target))
        return {"address": address}

    @override
    def lift(self, subject: Subject) -> Seen:
        subject.driver.connect(self.target, subject.network(self.target), subject.names(self.target))
        return {"address": subject.address(self.target)}

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the interface's packets, or the requests, do not show it."""
        if container_growth(data, self.target, "cpu_usage_ns", during(course)) is None:
            yield "it was not observed meanwhile"
        if packets := self._packets(data, during(course)):
            yield f"{packets:.0f} packets passed its interface meanwhile"
        if not self._packets(data, before(data, course)):
            yield "no packet was seen to pass its interface before"
        if course.injected.seen["address"] != course.lifted.seen["address"]:
            yield f"it came back with another address, {course.lifted.seen['address']}, which its peers do not know"
        yield from not_felt(data, course, self.target)

    def _packets(self, data: TrialData, span: Span) -> float:
        return sum(passed(data, self.target, field, span) for field in ("rx_packets", "tx_packets"))
