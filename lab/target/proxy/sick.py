"""Faults of what takes a proxy's spans: a Collector that is killed, a sink that answers late or rejects spans.

Unlike other faults, they must not be felt by requests: whether they are is what is measured. They are verified by what
the receiver counted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter
from typing_extensions import override

from lab.fault.fault import DeclaredFault
from lab.fault.kinds.killed import Killed
from lab.fault.sink import SinkFault
from lab.record import Course, TrialData

MAX_FAULTS = 5


class CollectorKilled(Killed):
    """The Collector is killed (SIGKILL), and restarted after the fault's length."""

    target: Literal["collector"]

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the observer's events do not show it."""
        yield from self.unseen(data, course)


class SinkSlow(SinkFault):
    """The sink accepts spans, but answers late."""

    kind: Literal["slow"]
    target: Literal["sink"]
    delay_ms: int = Field(ge=1, le=60_000, description="how late it answers")
    grows: ClassVar[str] = "delayed_requests"

    @override
    def behaviour(self) -> Mapping[str, object]:
        return {"behaviour": "slow", "delay_ms": self.delay_ms}


class SinkRefusing(SinkFault):
    """The sink answers at once that it is not available."""

    kind: Literal["refusing"]
    target: Literal["sink"]
    grows: ClassVar[str] = "refused_spans"

    @override
    def behaviour(self) -> Mapping[str, object]:
        return {"behaviour": "refuse"}


AnyFault = Annotated[CollectorKilled | SinkSlow | SinkRefusing, Field(discriminator="kind")]
Faults = Annotated[Sequence[AnyFault], Field(max_length=MAX_FAULTS)]
"""The faults of a level."""

_FAULT: TypeAdapter[AnyFault] = TypeAdapter(AnyFault)


def parse(declared: Mapping[str, Any]) -> DeclaredFault:
    """Return a fault from its declaration, as records keep it; raises pydantic's `ValidationError`."""
    return _FAULT.validate_python(dict(declared))
