"""What the figures show of the raw records: latencies, use over time, and a trace in its tree's order."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lab.records import TrialData
from lab.report.figures.gantt import Span
from lab.report.figures.latency import Latencies
from lab.report.figures.usage import Line

MOST_POINTS = 120
"""Points of a line over time: more could not be told apart in a panel of a few centimetres."""
MOST_QUANTILES = 4000
"""Requests of a level that the figure of latencies keeps; with more, evenly spaced ones of the sorted."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Observed:
    """What one valid trial's records say: latencies of its window in ms, and lines of CPUs and of MiB."""

    level: str
    from_start_ms: Floats
    from_intended_ms: Floats
    cpu: Line
    memory: Line


def observe(data: TrialData) -> Observed:
    """Take from a trial's records what the figures show."""
    trial = data.trial
    requests = data.requests.ended_in(trial.window_start_ns, trial.window_end_ns)
    return Observed(
        level=trial.level,
        from_start_ms=(requests.end_ns - requests.start_ns) / 1e6,
        from_intended_ms=(requests.end_ns - requests.intended_ns) / 1e6,
        cpu=_line(data, "cpu_usage_ns", _cpus),
        memory=_line(data, "memory_working_set_bytes", _mebibytes),
    )


def _cpus(counter_ns: Floats, step_s: float) -> Floats:
    """Turn a counter of CPU time into how many CPUs were busy from one point to the next."""
    return np.diff(counter_ns) / (step_s * 1e9)


def _mebibytes(gauge_bytes: Floats, _: float) -> Floats:
    return (gauge_bytes[1:] + gauge_bytes[:-1]) / 2 / (1 << 20)


def _line(data: TrialData, field: str, convert: Callable[[Floats, float], Floats]) -> Line:
    trial = data.trial
    length_s = (trial.window_end_ns - trial.load_start_ns) / 1e9
    points = max(2, min(MOST_POINTS, int(length_s)))
    grid_s = np.linspace(0.0, length_s, points + 1)

    def total(role: str) -> Floats | None:
        sampled = [
            data.counters.containers[name][field]
            for name in trial.names(role)
            if field in data.counters.containers.get(name, {})
        ]
        if not sampled:
            return None
        lines = [np.interp(grid_s, (s.t_ns - trial.load_start_ns) / 1e9, s.values.astype(np.float64)) for s in sampled]
        return convert(np.sum(lines, axis=0), length_s / points)

    services = total("service")
    return Line(
        time_s=(grid_s[1:] + grid_s[:-1]) / 2,
        services=np.zeros(points) if services is None else services,
        backends=total("backend"),
        window_start_s=(trial.window_start_ns - trial.load_start_ns) / 1e9,
        window_end_s=length_s,
    )


def pooled(level: str, trials: Sequence[Observed]) -> Latencies | None:
    """Put the latencies of a level's trials together; None where no request ended."""
    start = np.sort(np.concatenate([trial.from_start_ms for trial in trials]))
    intended = np.sort(np.concatenate([trial.from_intended_ms for trial in trials]))
    return Latencies(level, _thinned(start), _thinned(intended)) if len(start) > 1 else None


def _thinned(values: Floats) -> Floats:
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
        ordered.append(Span(span["service"], span["kind"], start_ms, duration_ms, depth))
        waiting += [(child, depth + 1) for child in reversed(children.get(span["id"], []))]
    return ordered
