"""Schedules of the generator of traces: how many workers or traces when."""

from collections.abc import Iterator
from typing import Literal

from pydantic import Field

from lab.spec import Problem, Schedule


class Ramp(Schedule):
    """More and more workers, each of whom sends a trace, waits until it has come back, and sends the next."""

    kind: Literal["ramp"]
    workers: int = Field(default=6000, ge=1, le=50_000, description="at the end; the trial ends when all have started")
    workers_per_s: float = Field(default=5, gt=0, le=1000, description="that start each second")

    def expected_s(self) -> float:
        """See `Schedule.expected_s`."""
        return self.workers / self.workers_per_s

    def problems(self) -> Iterator[Problem]:
        """See `Schedule.problems`."""
        if self.expected_s() < 2:
            yield Problem(("workers",), f"have all started after {self.expected_s():g} s; a ramp takes 2 s at least")


class Workers(Schedule):
    """A constant number of workers, each of whom sends a trace, waits until it has come back, and sends the next."""

    kind: Literal["workers"]
    workers: int = Field(ge=1, le=50_000, description="who all start at once")


class TraceRate(Schedule):
    """Traces at a rate, whatever becomes of them."""

    kind: Literal["trace-rate"]
    traces_per_s: float = Field(gt=0, le=1_000_000, description="mean rate of the arrivals")
    arrivals: Literal["fixed", "poisson"] = Field(
        default="poisson", description="`fixed`: at equal distances; `poisson`: as of many independent clients"
    )
    connections: int = Field(default=100, ge=1, le=50_000, description="which take turns")
    traces_per_request: int = Field(default=1, ge=1, le=10_000, description="that are due together, and share a request")
