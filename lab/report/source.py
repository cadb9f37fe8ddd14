"""Reads a results folder into what the report is built from; the only part of it that reads files."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.analysis.claims.records import Verdicts, read_verdicts
from lab.analysis.metrics.jvm import allocated
from lab.analysis.metrics.requests import OK
from lab.analysis.stats import FloatArray
from lab.record import (
    Fields,
    Injection,
    NotDerivableError,
    Series,
    Summary,
    TrialData,
    TrialRecord,
    read_manifest,
    read_summary,
    read_trial,
    read_trial_record,
    stored,
    trial_folders,
)
from lab.report.courses import Course, course
from lab.report.endpoint_courses import EndpointCourse, endpoint_course
from lab.report.figures.latency import Latencies
from lab.report.figures.over_time import Line, Served
from lab.report.figures.trials import Span

MOST_POINTS = 120
"""Points of a line over time: more cannot be seen in a panel of a few centimetres."""
MOST_QUANTILES = 4000
"""Requests of a level that the figure of latencies keeps; with more, evenly spaced ones of the sorted."""

STEP_S = 0.5
"""Of the share of requests served around a fault: at 100 requests/s a step has 50."""
Curve = tuple[FloatArray, FloatArray]
"""Seconds since the load began, and values."""


@dataclass(frozen=True)
class Observed:
    """What one valid trial's records say: latencies of its window in ms, and lines of CPUs, of MiB, and of JVMs."""

    level: str
    from_start_ms: FloatArray
    from_intended_ms: FloatArray
    cpu: Line
    memory: Line
    jvm: Mapping[str, Curve]
    """By measure; without those that the services' JVMs did not report."""
    served: Sequence[Served] = ()
    """Around each of the trial's faults."""
    course: Course | None = None
    endpoints: EndpointCourse | None = None


def observe(data: TrialData) -> Observed:
    """Take from a trial's records what the figures show."""
    trial = data.trial
    from_start_ms, from_intended_ms = _latencies_ms(data)
    return Observed(
        level=trial.level,
        from_start_ms=from_start_ms,
        from_intended_ms=from_intended_ms,
        # How many CPUs were busy from one point to the next.
        cpu=_line(data, "cpu_usage_ns", lambda counter_ns, step_s: np.diff(counter_ns) / (step_s * 1e9)),
        memory=_line(data, "memory_rss_bytes", lambda gauge, _: (gauge[1:] + gauge[:-1]) / 2 / (1 << 20)),
        jvm=_jvm(data),
        served=[_served(data, injection) for injection in data.injections if injection.injected and injection.lifted],
        course=course(data, _grid_s(trial)),
        endpoints=endpoint_course(data),
    )


def _latencies_ms(data: TrialData) -> tuple[FloatArray, FloatArray]:
    """Return the latencies of the window's requests, from their starts and their intended starts."""
    if not data.has("requests"):
        return np.empty(0), np.empty(0)
    requests = data.requests.ended_in(data.trial.window_start_ns, data.trial.window_end_ns)
    return (requests.end_ns - requests.start_ns) / 1e6, (requests.end_ns - requests.intended_ns) / 1e6


def _served(data: TrialData, injection: Injection) -> Served:
    """Count the requests due and served around a fault, by when they were due."""
    assert injection.injected and injection.lifted
    begin_ns = injection.injected.begin_ns
    due_s = (data.requests.intended_ns - begin_ns) / 1e9
    steps = np.arange(np.ceil(due_s.min() / STEP_S), np.floor(due_s.max() / STEP_S) + 1)
    due, served = (
        np.histogram(some, steps * STEP_S)[0].astype(np.float64) for some in (due_s, due_s[data.requests.status == OK])
    )
    return Served(_middles(steps * STEP_S), due, served, (injection.lifted.begin_ns - begin_ns) / 1e9)


def _grid_s(trial: TrialRecord) -> FloatArray:
    """Return the edges of even steps from the load's start to the window's end, of a second or more."""
    length_s = (trial.window_end_ns - trial.load_start_ns) / 1e9
    return np.linspace(0.0, length_s, max(2, min(MOST_POINTS, int(length_s))) + 1)


def _total(trial: TrialRecord, sampled: Iterable[Series]) -> FloatArray:
    """Add up series, each interpolated at the grid's edges."""
    grid_s = _grid_s(trial)
    lines = [np.interp(grid_s, (s.t_ns - trial.load_start_ns) / 1e9, s.values.astype(np.float64)) for s in sampled]
    return np.asarray(np.sum(lines, axis=0))


def _line(data: TrialData, field: str, convert: Callable[[FloatArray, float], FloatArray]) -> Line:
    trial = data.trial
    grid_s = _grid_s(trial)

    def total(names: Sequence[str]) -> FloatArray | None:
        sampled = [
            # That of a container that was killed begins anew.
            series.continued() if field == "cpu_usage_ns" else series
            for counters in data.counters_by_machine().values()
            for name in names
            if (series := counters.containers.get(name, {}).get(field)) is not None
        ]
        return convert(_total(trial, sampled), grid_s[1]) if sampled else None

    services = total(trial.measured())
    return Line(
        time_s=_middles(grid_s),
        services=np.zeros(len(grid_s) - 1) if services is None else services,
        backends=total(trial.names("backend")),
        window_start_s=(trial.window_start_ns - trial.load_start_ns) / 1e9,
        window_end_s=float(grid_s[-1]),
    )


def _middles(grid_s: FloatArray) -> FloatArray:
    return (grid_s[1:] + grid_s[:-1]) / 2


def _jvm(data: TrialData) -> Mapping[str, Curve]:
    found = {}
    grid_s = _grid_s(data.trial)
    for measure, (counters_of, divisor) in JVM_MEASURES.items():
        try:
            counters = [
                one.continued() for name in data.trial.measured() for one in counters_of(data.counters.jvms[name])
            ]
        except (KeyError, NotDerivableError):
            continue
        per_s = np.diff(_total(data.trial, counters)) / grid_s[1]
        found[measure] = (_middles(grid_s), per_s / divisor)
    return found


JVM_MEASURES: Mapping[str, tuple[Callable[[Fields], Iterable[Series]], float]] = {
    "Allocation (MB/s)": (lambda jvm: [allocated(jvm)], 1e6),
    "Garbage collection (ms/s)": (lambda jvm: [jvm["young_gc_time_ns"], jvm["full_gc_time_ns"]], 1e6),
    "JIT compilation (threads busy)": (lambda jvm: [jvm["jit_time_ns"]], 1e9),
}
"""What is shown of the services' JVMs together: counters of each, and how many of these per second are one."""


def pooled(level: str, trials: Sequence[Observed]) -> Latencies | None:
    """Put the latencies of a level's trials together; None where no request ended."""
    start = np.sort(np.concatenate([trial.from_start_ms for trial in trials]))
    intended = np.sort(np.concatenate([trial.from_intended_ms for trial in trials]))
    return Latencies(level, _thinned(start), _thinned(intended)) if len(start) > 1 else None


def _thinned(values: FloatArray) -> FloatArray:
    """Keep the extremes and evenly spaced ones between."""
    if len(values) <= MOST_QUANTILES:
        return values
    kept = np.unique(np.linspace(0, len(values) - 1, MOST_QUANTILES).round().astype(np.int64))
    return values[kept]


def trace_spans(trace: Mapping[str, Any]) -> list[Span]:
    """Order a trace's spans as its tree has them; a span whose parent is missing counts as a root."""
    spans = sorted(trace["spans"], key=lambda span: span["start_ns"])
    known = {span["id"] for span in spans}
    children: dict[str | None, list[Mapping[str, Any]]] = {}
    for span in spans:
        children.setdefault(span["parent"] if span["parent"] in known else None, []).append(span)
    begin_ns = spans[0]["start_ns"] if spans else 0
    ordered: list[Span] = []
    waiting = [(span, 0) for span in reversed(children.get(None, []))]
    while waiting:
        span, depth = waiting.pop()
        start_ms, duration_ms = (span["start_ns"] - begin_ns) / 1e6, span["duration_ns"] / 1e6
        ordered.append(Span(span["service"], span["kind"], start_ms, duration_ms, depth, span.get("tags", 0)))
        waiting += [(child, depth + 1) for child in reversed(children.get(span["id"], []))]
    return ordered


@dataclass(frozen=True)
class Source:
    """A run: its summary, its manifest, every trial's record, and what the valid ones' raw records show."""

    summary: Summary
    manifest: Mapping[str, Any]
    trials: Sequence[TrialRecord]
    observed: Sequence[Observed]
    traces: Mapping[str, Sequence[Span]]
    """A trace for each level that has one: that of its first valid trial."""
    second_starts: Collection[str]
    """The levels whose trace is not of the trial's load but of services that were started once more after it."""
    verdicts: Verdicts | None
    """What became of the claims that the experiment tests; None where it tests none."""


def read(results_dir: Path) -> Source:
    """Read everything once, one trial at a time; raises `UserError` where a record is missing or broken."""
    trials = []
    observed = []
    traces: dict[str, Sequence[Span]] = {}
    second_starts = set()
    for folder in trial_folders(results_dir):
        trial = read_trial_record(folder)
        trials.append(trial)
        if not trial.valid or trial.settled is False:
            continue
        data = read_trial(folder)
        if trial.window is not None:
            observed.append(observe(data))
        if data.trace is not None and trial.level not in traces:
            traces[trial.level] = trace_spans(data.trace)
            if trial.trace_of_second_start:
                second_starts.add(trial.level)
    verdicts = results_dir / "claims.json"
    return Source(
        summary=read_summary(results_dir / "summary.json"),
        manifest=read_manifest(results_dir),
        trials=sorted(trials, key=lambda trial: (trial.number, trial.attempt)),
        observed=observed,
        traces=traces,
        second_starts=second_starts,
        verdicts=read_verdicts(verdicts) if stored(verdicts) else None,
    )
