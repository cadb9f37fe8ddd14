"""What became of a trial's traces over time, as their generator logged it: how many, and how late."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from lab.analysis.stats import FloatArray
from lab.record import LOCAL, TrialData
from lab.record.traces import ACCEPTED, COMPLETE, LOGGED, RECEIVE_MS, RETURNED, SEND_MS, SENT, UNSENT

FORMAT, VERSION = "tollbooth.course", 1

EVERY = pl.lit(value=True)
WORKERS = "workers"
RATES = {
    "sent": (EVERY, SENT),
    "returned": (COMPLETE, RETURNED),
    "not returned": (pl.col("outcome") == "receive timeout", LOGGED),
    "refused": (UNSENT, LOGGED),
}
"""Which traces are counted, and by which of their times."""
DELAYS = {
    "accepted, p95": (ACCEPTED, SEND_MS, 0.95),
    "returned, p50": (COMPLETE, RECEIVE_MS, 0.5),
    "returned, p99": (COMPLETE, RECEIVE_MS, 0.99),
}
"""Of which traces, which delay, and which quantile of those sent in a step."""


@dataclass(frozen=True)
class Course:
    """A trial over time, step by step: workers, traces per second by `RATES`, and ms by `DELAYS`.

    `time_s`: the middles of the steps, since the load began. A delay is not a number where no trace has it.
    """

    block: int
    time_s: FloatArray
    workers: FloatArray
    per_s: Mapping[str, FloatArray]
    delays_ms: Mapping[str, FloatArray]


def course(data: TrialData, edges_s: FloatArray) -> Course | None:
    """Take from a trial's log what happened between even edges, since the load began.

    A kept trial has what was taken from its log before. None without either.
    """
    if kept := data.streams.get("course", {}).get(LOCAL):
        return kept_course(data.trial.block, kept)
    frames: list[pl.DataFrame] = list(data.streams.get("trace-log", {}).values())
    if not frames:
        return None
    log, start_ns = pl.concat(frames), data.trial.load_start_ns
    time_s = (edges_s[1:] + edges_s[:-1]) / 2
    counted = {
        name: np.histogram(_seconds(log.filter(which), time, start_ns), edges_s)[0] / edges_s[1]
        for name, (which, time) in RATES.items()
    }
    delays = {
        name: _quantiles(log.filter(which).select(_step(start_ns, edges_s), delay.alias("ms")), len(time_s), quantile)
        for name, (which, delay, quantile) in DELAYS.items()
    }
    readings = [one[WORKERS] for one in data.streams.get("generator", {}).values()]
    workers = sum(
        (np.interp(time_s, (one.t_ns - start_ns) / 1e9, one.values, 0, 0) for one in readings), np.zeros(len(time_s))
    )
    return Course(data.trial.block, time_s, workers, counted, delays)


def course_text(found: Course) -> str:
    """Return a course as JSON, to a tenth; a delay is null where no trace has it."""

    def listed(values: FloatArray) -> list[float | None]:
        return [round(float(value), 1) if np.isfinite(value) else None for value in values]

    series = {
        "workers": listed(found.workers),
        "per_s": {name: listed(values) for name, values in found.per_s.items()},
        "delays_ms": {name: listed(values) for name, values in found.delays_ms.items()},
    }
    step_s = float(found.time_s[1] - found.time_s[0])
    return json.dumps({"format": FORMAT, "version": VERSION, "step_s": step_s, **series}, separators=(",", ":"))


def kept_course(block: int, kept: Mapping[str, Any]) -> Course:
    """Return what `course_text` wrote."""

    def array(values: Sequence[float | None]) -> FloatArray:
        return np.array([np.nan if value is None else value for value in values], dtype=np.float64)

    workers = array(kept[WORKERS])
    per_s, delays_ms = ({name: array(values) for name, values in kept[of].items()} for of in ("per_s", "delays_ms"))
    return Course(block, (np.arange(len(workers)) + 0.5) * kept["step_s"], workers, per_s, delays_ms)


def _seconds(log: pl.DataFrame, time: pl.Expr, start_ns: int) -> FloatArray:
    return np.asarray(log.select((time - start_ns) / 1e9).to_series().drop_nulls().to_numpy())


def _step(start_ns: int, edges_s: FloatArray) -> pl.Expr:
    """Return the number of the step in which a trace was sent."""
    return ((SENT - start_ns) / (1e9 * float(edges_s[1]))).floor().cast(pl.Int64).alias("step")


def _quantiles(found: pl.DataFrame, steps: int, quantile: float) -> FloatArray:
    inside = found.drop_nulls().filter(pl.col("step").is_between(0, steps - 1))
    by_step = inside.group_by("step").agg(pl.col("ms").quantile(quantile))
    values = np.full(steps, np.nan)
    values[by_step["step"].to_numpy()] = by_step["ms"].to_numpy()
    return values
