"""What every load has: a generator that sends it, and a schedule that says how much when."""

from collections.abc import Iterator, Mapping
from typing import ClassVar, Literal

from pydantic import Field

from lab.spec.model import Shape
from lab.spec.problems import Problem

EntryProtocol = Literal["http", "grpc", "otlp"]
Capability = Literal[
    "warms-up",
    "counted",
    "reusable",
    "timed",
    "open-ended",
    "at-times",
    "calibratable",
    "receives-traces",
    "begins-traces",
    "rate-by-level",
    "draws-errors",
]
"""What a generator can do.

`warms-up`: it sends a warm-up load first. `counted`: a trial's window is the time that a number of requests takes.
`reusable`: one start of the generator serves several trials. `timed`: the window begins at
a known time after the trial's load, whatever the warm-up. `open-ended`: it sends until it is stopped.
`at-times`: it sends from a given time on, so that several can send in the same window.
`calibratable`: its load can follow from the cost of a request. `receives-traces`: traces that it sent can come back to
it. `begins-traces`: its requests can have a traceparent. `rate-by-level`: a level can have a rate of its own.
`draws-errors`: its requests can ask for errors with a probability.
"""


class Schedule(Shape):
    """How much load when. A kind of schedule is a subclass in `lab/load/schedule.py`."""

    kind: str
    alternates: ClassVar[bool] = False
    """Whether all systems of a block run at once, and load goes to one of them at a time."""

    def expected_s(self) -> float:
        """Return how long the load lasts by itself, in seconds; 0 if the window ends it."""
        return 0.0

    def fixed(self) -> Mapping[str, float] | None:
        """Return what the schedule sets, such as a number of users; None if it has to be found first."""
        return {}

    def guess(self, cpus: int) -> Mapping[str, float]:
        """Return what to measure the baseline with, if the load has to be found first."""
        return {}

    def from_cost(self, cpus: int, cpu_per_request_ms: float, latency_s: float) -> Mapping[str, float]:
        """Return the load that follows from what a request costs, and what it was chosen for."""
        return {}

    def problems(self) -> Iterator[Problem]:
        """Yield contradictions between fields that are each valid."""
        yield from ()


class Load(Shape):
    """A generator with its schedule: `load` in an experiment file. A generator's is a subclass in `lab/load/`."""

    generator: str = Field(description="the program that sends the load")
    schedule: Schedule = Field(description="how much load when")

    capabilities: ClassVar[frozenset[Capability]] = frozenset()
    protocol: ClassVar[EntryProtocol | None] = None
    """What it speaks to the system; None if it sends nothing."""

    def can(self, capability: Capability) -> bool:
        """Return whether the generator has a capability."""
        return capability in self.capabilities
