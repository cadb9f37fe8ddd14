"""Faults of what takes a proxy's spans: a Collector that is killed, a sink that answers late or refuses.

Unlike other faults, they must not be felt by requests: whether they are is what is measured. They are verified by what
the receiver counted.
"""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter

from lab.engine import Place
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.fault.journal import Journal
from lab.fault.kinds.killed import Killed
from lab.fault.run import drawn, injector
from lab.record import Course, Seen, TrialData

FILE = "faults.jsonl"
MAX_FAULTS = 5


@dataclass(frozen=True, kw_only=True)
class Receiver(Subject):
    """The running system. `behave` tells the sink how to behave; `counted` returns what it counted so far.

    Both raise `OSError` if it does not answer.
    """

    behave: Callable[[Mapping[str, object]], None]
    counted: Callable[[], Seen]


class CollectorKilled(Killed):
    """The Collector is killed (SIGKILL), and restarted after the fault's length."""

    target: Literal["collector"]

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the observer's events do not show it."""
        yield from self.unseen(data, course)


class SinkTold(DeclaredFault):
    """The sink behaves otherwise. A kind says how, and what then grows of what it counts."""

    target: Literal["sink"]
    part: ClassVar[Part] = "application"
    grows: ClassVar[str]

    @abstractmethod
    def behaviour(self) -> Mapping[str, object]:
        """Return how it behaves, in the words of its own page."""

    def inject(self, subject: Subject) -> Seen:
        """See `DeclaredFault.inject`."""
        return _told(subject, self.behaviour())

    def lift(self, subject: Subject) -> Seen:
        """See `DeclaredFault.lift`."""
        return _told(subject, {"behaviour": "accept"})

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield that nothing came that it could have treated so."""
        if not course.counted(self.grows):
            yield f"{self.grows} of the sink did not grow"


class SinkSlow(SinkTold):
    """The sink accepts spans, but answers late."""

    kind: Literal["slow"]
    delay_ms: int = Field(ge=1, le=60_000, description="how late it answers")
    grows: ClassVar[str] = "delayed_requests"

    def behaviour(self) -> Mapping[str, object]:
        """See `SinkTold.behaviour`."""
        return {"behaviour": "slow", "delay_ms": self.delay_ms}


class SinkRefusing(SinkTold):
    """The sink answers at once that it is not available."""

    kind: Literal["refusing"]
    grows: ClassVar[str] = "refused_spans"

    def behaviour(self) -> Mapping[str, object]:
        """See `SinkTold.behaviour`."""
        return {"behaviour": "refuse"}


AnyFault = Annotated[CollectorKilled | SinkSlow | SinkRefusing, Field(discriminator="kind")]
Faults = Annotated[Sequence[AnyFault], Field(max_length=MAX_FAULTS)]
"""The faults of a level."""

_FAULT: TypeAdapter[AnyFault] = TypeAdapter(AnyFault)


def parse(declared: Mapping[str, Any]) -> DeclaredFault:
    """Return a fault from its declaration, as records keep it; raises pydantic's `ValidationError`."""
    return _FAULT.validate_python(dict(declared))


def injecting(
    faults: Sequence[DeclaredFault], subject: Receiver, place: Place, out: Path, seed: int, window_start_s: float
) -> AbstractContextManager[None]:
    """Return what injects and lifts the faults while the block waits for the load. Their record goes to `out`."""
    playing = injector(subject, Journal(place.journal), out / FILE)
    return playing.during_load(drawn(faults, seed), window_start_s)


def _told(subject: Subject, behaviour: Mapping[str, object]) -> Seen:
    """Tell the sink how to behave; return what it had counted just before."""
    assert isinstance(subject, Receiver)
    seen = subject.counted()
    subject.behave(behaviour)
    return seen
