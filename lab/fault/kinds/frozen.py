"""A process that is suspended."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from typing_extensions import override

from lab.fault.evidence import before, container_growth, during, not_felt
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.record import Course, Seen, TrialData

# A frozen group uses no CPU at all.
STILL_NS = 1_000_000


class Frozen(DeclaredFault):
    """The target's processes are frozen (the kernel's freezer): connections stay open without an answer."""

    kind: Literal["frozen"]
    part: ClassVar[Part] = "process"
    stops: ClassVar[bool] = True

    @override
    def inject(self, subject: Subject) -> Seen:
        subject.driver.pause(self.target)
        return {}

    @override
    def lift(self, subject: Subject) -> Seen:
        subject.driver.unpause(self.target)
        return {}

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why its CPU time, or the requests, do not show it."""
        used = container_growth(data, self.target, "cpu_usage_ns", during(course))
        used_before = container_growth(data, self.target, "cpu_usage_ns", before(data, course))
        if used is None:
            yield "its CPU time was not sampled twice meanwhile"
        elif used.amount > STILL_NS:
            yield f"it used {used.amount / 1e6:.0f} ms of CPU meanwhile"
        if used_before is None or used_before.amount <= STILL_NS:
            yield "it was not seen to use CPU before"
        yield from not_felt(data, course, self.target)
