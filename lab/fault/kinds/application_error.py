"""A service that fails."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from lab.fault.application import ByService
from lab.fault.evidence import share_doubts
from lab.record import Course, TrialData


class ApplicationError(ByService):
    """The target's operations fail with this probability, whatever the topology and the request set."""

    kind: Literal["application-error"]
    size: float = Field(
        ge=0.0001, le=1, description="the probability that an operation fails, drawn from the seed", examples=[0.3]
    )
    setting: ClassVar[str] = "error_probability"

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the target's counters do not show the share."""
        errors, operations = course.counted("errors"), course.counted("operations")
        yield from share_doubts(errors, operations, self.size, "operations", "made to fail")
