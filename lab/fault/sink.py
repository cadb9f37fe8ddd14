"""Faults of the lab's sink, where every span ends: a request sets how it behaves, and it counts what it did."""

import json
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar

from typing_extensions import override

from lab.backend import Http
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.record import Course, Seen, TrialData

COUNTERS = ("requests", "delayed_requests", "refused_spans", "accepted_spans")
NO_CONTENT = 204


@dataclass(frozen=True, kw_only=True)
class Receiver(Subject):
    """The running system. `behave` sets how the sink behaves; `counted` returns what it counted so far.

    Both raise `OSError` if it does not answer.
    """

    behave: Callable[[Mapping[str, object]], None]
    counted: Callable[[], Seen]


class SinkFault(DeclaredFault):
    """The sink behaves otherwise. A kind says how, and what then grows of what it counts."""

    part: ClassVar[Part] = "application"
    grows: ClassVar[str]

    @abstractmethod
    def behaviour(self) -> Mapping[str, object]:
        """Return how it behaves, in the words of its own page."""

    @override
    def inject(self, subject: Subject) -> Seen:
        return _applied(subject, self.behaviour())

    @override
    def lift(self, subject: Subject) -> Seen:
        return _applied(subject, {"behaviour": "accept"})

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield that nothing came that it could have treated so."""
        if not course.counted(self.grows):
            yield f"{self.grows} of the sink did not grow"


def behave(http: Http, behaviour: Mapping[str, object]) -> None:
    """Set how the sink behaves. Raises `OSError` if it does not take it."""
    status, answer = http.send("PUT", "SINK_PORT", "/behaviour", json.dumps(behaviour).encode())
    if status != NO_CONTENT:
        raise OSError(f"the sink answered with {status}: {answer.decode().strip()}")


def counted(http: Http) -> Seen:
    """Return what the sink counted so far. Raises `OSError` if it does not answer."""
    found = json.loads(http.get("SINK_PORT", "/counters"))
    return {name: found[name] for name in COUNTERS}


def _applied(subject: Subject, behaviour: Mapping[str, object]) -> Seen:
    """Set how the sink behaves; return what it had counted just before."""
    assert isinstance(subject, Receiver)
    seen = subject.counted()
    subject.behave(behaviour)
    return seen
