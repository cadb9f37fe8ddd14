"""A process that is killed and restarted."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from typing_extensions import override

from lab.fault.evidence import container_growth, during, not_felt
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.record import ENDED, Course, Seen, TrialData


class Killed(DeclaredFault):
    """The target's process is killed (SIGKILL), and restarted after the fault's length.

    So is its sidecar: it lives in the target's network namespace, which the engine creates again.
    """

    kind: Literal["killed"]
    part: ClassVar[Part] = "process"
    stops: ClassVar[bool] = True

    @override
    def inject(self, subject: Subject) -> Seen:
        address = subject.address(self.target)
        names = subject.containers(self.target)
        subject.driver.kill(names)
        return {"address": address, ENDED: " ".join(names)}

    def lift(self, subject: Subject) -> Seen:
        """See `DeclaredFault.lift`. The service answers again once it has started."""
        subject.driver.start(subject.containers(self.target))
        return {"address": subject.address(self.target)}

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the observer's events, or the requests, do not show it."""
        yield from self.unseen(data, course)
        yield from not_felt(data, course, self.target)

    def unseen(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the observer's events do not show it."""
        gone, restarted = (
            [event.t_ns for event in data.counters.events if (event.name, event.event) == (self.target, what)]
            for what in ("gone", "restarted")
        )
        if not any(course.injected.begin_ns <= t_ns <= course.lifted.begin_ns for t_ns in gone):
            yield "its process was not seen to go"
        if container_growth(data, self.target, "cpu_usage_ns", during(course)) is not None:
            yield "its process went on"
        if not any(t_ns >= course.lifted.begin_ns for t_ns in restarted):
            yield "it was not seen to come back"
        if course.injected.seen["address"] != course.lifted.seen["address"]:
            yield f"it came back with another address, {course.lifted.seen['address']}, which its peers do not know"
