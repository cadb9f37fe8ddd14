"""Schedules: how much load when. Each says what it finds before the first trial, and what it expects."""

import math
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.spec import Problem, Schedule

ThinkTime = Annotated[float, Field(ge=0, le=60)]

# What three small gRPC services on two cores answered in a closed loop when the lab was built.
FIRST_GUESS_REQUESTS_PER_S = 600.0
FIRST_GUESS_USERS_PER_CPU = 8
# Of five alternating systems whose JVMs have the optimising compiler, on two cores.
FIRST_GUESS_ROUND_S = 3.0


class ClosedLoop(Schedule):
    """Users who think between their requests; a slower system gets fewer requests."""

    kind: Literal["closed-loop"]
    users: Literal["calibrated"] | Annotated[int, Field(ge=1, le=10_000)] = Field(
        description="simulated users; `calibrated` finds how many reach baseline_cpu_fraction on this machine"
    )
    baseline_cpu_fraction: float = Field(
        default=0.4,
        ge=0.05,
        le=0.95,
        description="share of the services' CPUs that calibrated users make all containers of the baseline use, "
        "or side by side those of all systems of a block together",
    )
    think_time_s: Annotated[tuple[ThinkTime, ThinkTime], Field(strict=False)] = Field(
        description="shortest and longest pause of a user between two requests, drawn evenly"
    )

    @override
    def fixed(self) -> Mapping[str, float] | None:
        return None if isinstance(self.users, str) else {"users": self.users}

    @override
    def guess(self, cpus: int) -> Mapping[str, float]:
        return {"users": FIRST_GUESS_USERS_PER_CPU * cpus}

    def from_cost(self, cpus: int, cpu_per_request_ms: float, latency_s: float) -> Mapping[str, float]:
        """Return the users whose requests together cost `baseline_cpu_fraction` of `cpus`.

        A user sends a request every think time plus latency (Little's law), so N users send
        N / (think_s + latency_s) requests per second.
        """
        think_s = sum(self.think_time_s) / 2
        requests_per_s = self.baseline_cpu_fraction * cpus * 1000 / cpu_per_request_ms
        users = max(1, math.floor(requests_per_s * (think_s + latency_s) + 0.5))
        return {"users": users, "target_fraction": self.baseline_cpu_fraction}

    @override
    def problems(self) -> Iterator[Problem]:
        shortest_s, longest_s = self.think_time_s
        if shortest_s > longest_s:
            yield Problem(("think_time_s",), f"the shortest, {shortest_s:g}, is longer than the longest, {longest_s:g}")


class Counted(Schedule):
    """A fixed number of requests in each trial, whose window lasts from the first's start to the last's end."""

    kind: Literal["counted"]
    requests: int = Field(default=10_000, ge=100, le=1_000_000, description="of a trial")
    concurrency: Annotated[int, Field(ge=1, le=1000)] | None = Field(
        default=50, description="requests in flight at the same time; null: no bound, for an open loop"
    )
    requests_per_s: float | None = Field(
        default=None, gt=0, le=100_000, description="open loop at this rate; a closed loop where it is left out"
    )

    @override
    def fixed(self) -> Mapping[str, float]:
        return {"users": self.concurrency or 0}

    @override
    def expected_s(self) -> float:
        return self.requests / (self.requests_per_s or FIRST_GUESS_REQUESTS_PER_S)

    @override
    def problems(self) -> Iterator[Problem]:
        if self.concurrency is None and self.requests_per_s is None:
            yield Problem(("concurrency",), "null is for an open loop, which needs requests_per_s")


class OpenLoop(Schedule):
    """Requests at a rate, whatever the system answers."""

    kind: Literal["open-loop"]
    requests_per_s: float = Field(gt=0, le=100_000, description="mean rate of the arrivals, over all routes")
    arrivals: Literal["fixed", "poisson"] = Field(
        default="poisson", description="`fixed`: at equal distances; `poisson`: as of many independent users"
    )


class Slices(Schedule):
    """Equal numbers of requests at one rate, to one system at a time: the systems of a set take turns.

    Interleaved slices of a round begin together, and the systems take turns request by request.
    """

    kind: Literal["slices"]
    requests: int = Field(default=25, ge=5, le=10_000, description="of a slice")
    requests_per_s: Literal["calibrated"] | Annotated[float, Field(gt=0, le=100_000)] = Field(
        default="calibrated", description="in a slice; `calibrated` finds the rate for busy_fraction on this machine"
    )
    busy_fraction: float = Field(
        default=0.5,
        ge=0.05,
        le=0.7,
        description="share of the CPUs that the most expensive system's slices use; if interleaved, that all use",
    )
    interleaved: bool = Field(
        default=False,
        description="the slices of a round begin together, and requests go to one system after the other: all systems "
        "share every second, so that what slows the machine slows all; their latencies include waiting for each other",
    )
    gap_s: float = Field(
        default=0.1, ge=0, le=60, description="without load between two slices; if interleaved, between two rounds"
    )
    measure_s: float = Field(
        default=60, ge=5, le=3600, description="of all slices of a set; rounded to complete squares of balanced orders"
    )
    rounds: int | None = Field(
        default=None, ge=2, le=10_000, description="of a set, rounded up to complete squares; replaces measure_s"
    )
    warm_up_in_turns: bool = Field(
        default=False,
        description="systems are warmed up in turns of `requests` requests, so that none makes more spans than its "
        "exporter's queue holds; or else all at the same time, which is faster",
    )

    alternates: ClassVar[bool] = True

    @override
    def expected_s(self) -> float:
        return self.rounds * FIRST_GUESS_ROUND_S if self.rounds else self.measure_s


class NoSchedule(Schedule):
    """No load."""

    kind: Literal["none"] = "none"


class SpanRate(Schedule):
    """Spans at a rate, sent by parallel workers."""

    kind: Literal["span-rate"]
    spans_per_s: float = Field(gt=0, le=1_000_000, description="of all workers together")
    workers: int = Field(default=1, ge=1, le=100, description="in parallel, each at its share of the rate")
