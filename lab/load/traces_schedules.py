"""Schedules of the generator of traces, and how its loads say them."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from pydantic import Field
from typing_extensions import override

from lab.spec import Problem, Schedule

# A ramp's window begins so long after its load: the observer has then seen the generator.
LEAD_S = 2.0
SHORTEST_RAMP_S = 2 * LEAD_S
# After a search, the highest rate that met the objective is sent once more. This is the trial's window.
HELD_S = 10.0
# Of the short trials, and what is between them.
FIRST_GUESS_SEARCH_S = 150.0


class Ramp(Schedule):
    """More and more workers, each of whom sends a trace, waits until it has come back, and sends the next."""

    kind: Literal["ramp"]
    workers: int = Field(default=6000, ge=1, le=50_000, description="at the end; the trial ends when all have started")
    workers_per_s: float = Field(default=5, gt=0, le=1000, description="that start each second")

    @override
    def expected_s(self) -> float:
        return self.workers / self.workers_per_s

    @override
    def problems(self) -> Iterator[Problem]:
        if self.expected_s() < SHORTEST_RAMP_S:
            text = f"have all started after {self.expected_s():g} s; a ramp takes {SHORTEST_RAMP_S:g} s at least"
            yield Problem(("workers",), text)


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
    traces_per_request: int = Field(default=1, ge=1, le=10_000, description="due together, in one request")


class Search(Schedule):
    """Short trials at different rates, which find the highest one that meets an objective."""

    kind: Literal["search"]
    lowest_traces_per_s: float = Field(
        gt=0, le=1_000_000, description="a rate that every system holds; after an overload, systems recover at it"
    )
    highest_traces_per_s: float = Field(gt=0, le=1_000_000, description="the rate that is tried first")
    delay_p99_ms: float = Field(
        gt=0, le=3_600_000, description="of a rate that is held, until traces are back, or accepted if none come back"
    )
    connections: int = Field(default=100, ge=1, le=50_000, description="which take turns")
    traces_per_request: int = Field(default=1, ge=1, le=10_000, description="due together, in one request")

    @override
    def expected_s(self) -> float:
        return FIRST_GUESS_SEARCH_S + HELD_S

    @override
    def problems(self) -> Iterator[Problem]:
        if self.lowest_traces_per_s >= self.highest_traces_per_s:
            text = f"{self.lowest_traces_per_s:g} is not below the highest rate, {self.highest_traces_per_s:g}"
            yield Problem(("lowest_traces_per_s",), text)

    def at(self, traces_per_s: float) -> TraceRate:
        """Return the schedule of one trial. Its traces are due at equal distances: none has more of them by chance."""
        same = self.model_dump(include={"connections", "traces_per_request"})
        return TraceRate(kind="trace-rate", traces_per_s=traces_per_s, arrivals="fixed", **same)


TracesSchedule = Ramp | Workers | TraceRate | Search


def loop(schedule: Ramp | Workers | TraceRate, request: Mapping[str, object]) -> Mapping[str, Any]:
    """Return how traces are sent, as a load says it: the schedule, with what the level changes of it."""
    if isinstance(schedule, TraceRate):
        changed = {name: request[name] for name in ("traces_per_s", "connections") if request.get(name) is not None}
        return {"decoupled": {**schedule.model_dump(exclude={"kind"}), **changed}}
    workers_per_s = schedule.workers_per_s if isinstance(schedule, Ramp) else 0
    return {
        "coupled": {
            "workers": schedule.workers,
            "workers_per_s": workers_per_s,
            "wait_out_durations": request.get("wait_out_durations", True),
            "shared_connections": request.get("connections") or 0,
        },
    }
