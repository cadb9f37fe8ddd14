"""A service that fails."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from lab.fault.application import set_fault
from lab.fault.evidence import share_doubt
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.record import Course, Seen, TrialData


class ApplicationError(DeclaredFault):
    """The target's operations fail with this probability, whatever the topology and the request set."""

    kind: Literal["application-error"]
    size: float = Field(ge=0.0001, le=1, description="the probability that an operation fails, drawn from the seed")
    part: ClassVar[Part] = "application"

    def inject(self, subject: Subject) -> Seen:
        """See `DeclaredFault.inject`."""
        return set_fault(subject, self.target, {"error_probability": self.size})

    def lift(self, subject: Subject) -> Seen:
        """See `DeclaredFault.lift`."""
        return set_fault(subject, self.target, {})

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the target's counters do not show the share."""
        errors, operations = course.counted("errors"), course.counted("operations")
        if doubt := share_doubt(errors, operations, self.size, "operations", "made to fail"):
            yield doubt
