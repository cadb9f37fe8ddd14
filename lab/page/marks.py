"""What a change did to cost and latency, with its noise: the means of batches of seconds before and after it. Pure.

It is one start of the containers each, so it says nothing about another start: "one start, not a finding". As in a
study, nothing counts before the JVMs have settled (lab/run/settling.py has the rule).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from lab.analysis.metrics.jvm import SETTLED_JIT_FRACTION
from lab.analysis.stats import mean_interval
from lab.page.figures import Request
from lab.page.observed import Samples
from lab.record import SECOND_NS, NotDerivableError, Series
from lab.run.settling import settled_after

LABEL = "one start, not a finding"
MEASURES = "CPU of services and sidecars"
# Ten slices of a second: neighbouring seconds resemble each other, batches of ten less so.
BATCH_S = 10
# With fewer an interval says little.
FEWEST_BATCHES = 6
CONFIDENCE = 0.95
MOST_MARKS = 20

Interval = dict[str, float]


@dataclass(frozen=True)
class Batch:
    """Ten seconds: CPU per request and mean latency. `quiet`: the compilers used little."""

    cpu_ms_per_request: float
    latency_ms: float
    quiet: bool


@dataclass(frozen=True)
class Summary:
    """A state of the system once it had settled; no intervals if it had not, or not for long enough."""

    settled: bool
    cpu_ms_per_request: Interval | None = None
    latency_ms: Interval | None = None


@dataclass(frozen=True)
class Mark:
    """A change, what was before it, and what came after it; None while it is the last one."""

    at_s: float
    change: str
    before: Summary
    after: Summary | None = None


@dataclass
class Marks:
    """The changes so far, and the state that is in force since `since_s`, by the settings that make it."""

    settings: Mapping[str, str] = field(default_factory=dict)
    since_s: float = 0.0
    marks: list[Mark] = field(default_factory=list)

    def see(self, settings: Mapping[str, str], now_s: float, summary: Callable[[float], Summary]) -> None:
        """Takes the settings that are in force; `summary` returns the state's that began at a time."""
        if settings == self.settings:
            return
        if self.settings:
            before = summary(self.since_s)
            if self.marks:
                self.marks[-1] = replace(self.marks[-1], after=before)
            self.marks = [*self.marks, Mark(now_s, changed(self.settings, settings), before)][-MOST_MARKS:]
        self.settings, self.since_s = dict(settings), now_s

    def shown(self, now: Summary) -> list[dict[str, Any]]:
        """Return the marks as the page has them, the newest first; `now` is the state's that is in force."""
        return [_shown(mark, mark.after or now) for mark in reversed(self.marks)]


def changed(before: Mapping[str, str], after: Mapping[str, str]) -> str:
    """Return in words what differs: `telemetry baseline → otel-manual`."""
    names = [name for name in after if before.get(name) != after[name]]
    return ", ".join(f"{name} {before.get(name, 'nothing')} → {after[name]}" for name in names)


def summed_up(batches: Sequence[Batch]) -> Summary:
    """Return what the batches say that came after the compilers were once quiet for some batches in a row."""
    after = settled_after([batch.quiet for batch in batches])
    settled = [] if after is None else batches[after:]
    if len(settled) < FEWEST_BATCHES:
        return Summary(settled=after is not None)
    return Summary(
        True, _interval([one.cpu_ms_per_request for one in settled]), _interval([one.latency_ms for one in settled])
    )


@dataclass(frozen=True)
class Counters:
    """CPU time since a state began. `cpu`: of what counts, `services`: of services, `jit`: of their compilers."""

    cpu: Sequence[Samples]
    services: Sequence[Samples]
    jit: Sequence[Samples]


def batches(counters: Counters, requests: Sequence[Request], start_s: float, end_s: float) -> list[Batch]:
    """Return the complete batches from `start_s` until `end_s`, in Unix time; none in which nothing was answered."""
    series = [[_series(samples) for samples in part] for part in (counters.cpu, counters.services, counters.jit)]
    starts = range(round(start_s * SECOND_NS), round((end_s - BATCH_S) * SECOND_NS) + 1, BATCH_S * SECOND_NS)
    return [found for start_ns in starts for found in _batch(series, requests, start_ns)]


def _batch(series: Sequence[Sequence[Series]], requests: Sequence[Request], start_ns: int) -> Iterator[Batch]:
    end_ns = start_ns + BATCH_S * SECOND_NS
    served = sum(_share(request, start_ns, end_ns) for request in requests)
    ended = [request.latency_ms for request in requests if start_ns <= request.end_ns < end_ns]
    try:
        cpu_ns, services_ns, jit_ns = (sum(one.increase(start_ns, end_ns) for one in part) for part in series)
    except NotDerivableError:
        return
    if ended and served and services_ns:
        # Where the compilers' time is not counted, nobody knows whether they are quiet.
        quiet = len(series[2]) == len(series[1]) and jit_ns / services_ns <= SETTLED_JIT_FRACTION
        yield Batch(cpu_ns / 1e6 / served, float(np.mean(ended)), quiet)


def _share(request: Request, start_ns: int, end_ns: int) -> float:
    """Return which part of a request's time is in a window: a request counts there by it."""
    inside_ns = min(request.end_ns, end_ns) - max(request.start_ns, start_ns)
    return max(inside_ns, 0) / max(request.end_ns - request.start_ns, 1)


def _series(samples: Samples) -> Series:
    t_ns, values = np.array(samples, dtype=np.int64).reshape(-1, 2).T
    return Series(t_ns, values)


def _interval(values: Sequence[float]) -> Interval:
    found = mean_interval(values, CONFIDENCE, seed=1)
    assert found.low is not None and found.high is not None
    return {name: round(value, 4) for name, value in (("mean", found.mean), ("low", found.low), ("high", found.high))}


def _shown(mark: Mark, after: Summary) -> dict[str, Any]:
    return {
        "at_unix_s": round(mark.at_s, 3),
        "change": mark.change,
        "settled": after.settled,
        "label": LABEL,
        "measures": MEASURES,
        "cpu_ms_per_request": {"before": mark.before.cpu_ms_per_request, "after": after.cpu_ms_per_request},
        "latency_ms": {"before": mark.before.latency_ms, "after": after.latency_ms},
    }
