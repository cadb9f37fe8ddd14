"""What load a trial is put under: the `load` of an experiment file, one model for each generator."""

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field

from lab.spec.model import Shape
from lab.spec.problems import Fault

ThinkTime = Annotated[float, Field(ge=0, le=60)]


# What three small gRPC services on two cores answered in a closed loop when the lab was built.
FIRST_GUESS_REQUESTS_PER_S = 600.0


class UsersLoad(Shape):
    """A closed loop of users who think between their requests, over HTTP."""

    generator: Literal["locust", "visitors"]
    users: Literal["calibrated"] | Annotated[int, Field(ge=1, le=10_000)] = Field(
        description="simulated users; `calibrated` finds how many reach baseline_cpu_fraction on this machine"
    )
    baseline_cpu_fraction: float = Field(
        default=0.4,
        ge=0.05,
        le=0.95,
        description="share of the services' CPUs that calibrated users make the baseline use",
    )
    think_time_s: Annotated[tuple[ThinkTime, ThinkTime], Field(strict=False)] = Field(
        description="shortest and longest pause of a user between two requests, drawn evenly"
    )

    def expected_s(self) -> float:
        """Return how long the load lasts by itself: no time, for it ends when the window does."""
        return 0.0

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong between fields that are each right by themselves."""
        shortest_s, longest_s = self.think_time_s
        if shortest_s > longest_s:
            yield Fault(("think_time_s",), f"the shortest, {shortest_s:g}, is longer than the longest, {longest_s:g}")


class GhzLoad(Shape):
    """A fixed number of gRPC requests in each trial, whose window is from the first's start to the last's end."""

    generator: Literal["ghz"]
    requests: int = Field(default=10_000, ge=100, le=10_000_000, description="of a trial")
    concurrency: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=50, description="requests under way at the same time; null: as many as an open loop comes to"
    )
    requests_per_s: float | None = Field(
        default=None, gt=0, le=100_000, description="open loop at this rate; a closed loop where it is left out"
    )

    def expected_s(self) -> float:
        """Return how long a trial's requests will probably take, in seconds."""
        return self.requests / (self.requests_per_s or FIRST_GUESS_REQUESTS_PER_S)

    def faults(self) -> Iterator[Fault]:
        """Yield what is wrong between fields that are each right by themselves."""
        if self.concurrency is None and self.requests_per_s is None:
            yield Fault(("concurrency",), "null is for an open loop, which needs requests_per_s")


Load = Annotated[UsersLoad | GhzLoad, Field(discriminator="generator")]
