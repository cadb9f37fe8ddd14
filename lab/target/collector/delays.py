"""How fast traces were sent and came back, and when the first of them failed. Pure.

*Send* is from the start of a request to its answer, *receive* from the answer to the last span that came back.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from lab.analysis.collector.sampling import Mode, kept, trace_ids
from lab.contract import Metric
from lab.record import Censoring, NotDerivableError, TrialData
from lab.target.collector import counted, ended

SECOND_NS = 1_000_000_000
# As collector/pipelines/sample.yaml states them.
SAMPLER_MODE: Mode = "hash_seed"
HASH_SEED = 22
# Over so long before the first error, rates are averages.
BEFORE_S = 10.0
SEND, RECEIVE = "send", "receive"
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
SENT = pl.col("intended_ns") + pl.col("send_start_after_ns")
RETURNED = pl.col("intended_ns") + pl.col("receive_end_after_ns")
LOGGED = pl.col("intended_ns") + pl.col("logged_after_ns")
DELAY_MS = {
    SEND: (pl.col("send_end_after_ns") - pl.col("send_start_after_ns")) / 1e6,
    RECEIVE: (pl.col("receive_end_after_ns") - pl.col("send_end_after_ns")) / 1e6,
}
# A send that was given up says nothing of how long an answer takes.
HAVING = {SEND: pl.col("outcome") != "send timeout", RECEIVE: pl.col("outcome") == "success"}
UNSENT = ("send timeout", "send error")
COLLECTOR_ENDED = "collector ended"


@dataclass(frozen=True)
class Reached:
    """What a load had reached at its first error, or at its end if there was none. `at_s`: since the load began.

    `outcome`: of the trace that failed, or `COLLECTOR_ENDED`; None without an error. `traces_per_s`: sent, over the
    `BEFORE_S` before. `queue`: of all exporters, in their units; None if they show none.
    """

    at_s: float
    outcome: str | None
    workers: float
    traces_per_s: float
    queue: float | None


def traces(data: TrialData) -> pl.DataFrame:
    """Return what became of each trace of all loads of the trial; raises `NotDerivableError` if none was logged."""
    frames: list[pl.DataFrame] = list(data.streams.get("trace-log", {}).values())
    if not frames:
        raise NotDerivableError("the trial logged no traces")
    return pl.concat(frames)


def in_window(data: TrialData, time: pl.Expr) -> pl.DataFrame:
    """Return the traces of which something, such as `SENT`, happened in the window."""
    return traces(data).filter(time.is_between(data.trial.window_start_ns, data.trial.window_end_ns, closed="left"))


def delay_ms(data: TrialData, which: str, quantile: float) -> float:
    """Return a quantile of the delays of traces sent in the window; raises `NotDerivableError` if there is none."""
    found = in_window(data, SENT).filter(HAVING[which]).select(DELAY_MS[which]).to_series().quantile(quantile)
    if found is None:
        raise NotDerivableError("no trace of the window was answered, or none came back")
    return float(found)


def failures(data: TrialData) -> pl.DataFrame:
    """Return the traces that failed: not accepted, or expected back and not returned in time.

    Which traces are expected back is a setting of the level: a sampled trace that does not come back has not failed.
    """
    found = traces(data)
    unsent = pl.col("outcome").cast(pl.String).is_in(UNSENT)
    late = pl.col("outcome") == "receive timeout"
    keeps = data.trial.settings["keeps"]
    if keeps == "some":
        return found.filter(unsent)
    missing = found.filter(unsent | late)
    if keeps == "all" or missing.is_empty():
        return missing
    ids, percent = trace_ids(missing["trace_id"].to_list()), data.trial.settings["sampling_percent"]
    expected = pl.Series(kept(ids, SAMPLER_MODE, percent, HASH_SEED))
    return missing.filter(unsent | expected)


def reached(data: TrialData) -> Reached:
    """Return what the load had reached when the first failure was logged, or when the window ended.

    If a Collector ended under a ramp, the traces that failed since it was last seen failed because of that.
    """
    failed = failures(data).sort(LOGGED).head(1)
    at_ns = failed.select(LOGGED).item() if len(failed) else data.trial.window_end_ns
    outcome = str(failed["outcome"][0]) if len(failed) else None
    if (end := ended.under_ramp(data)) and at_ns >= end.seen_ns:
        at_ns, outcome = min(at_ns, end.gone_ns), COLLECTOR_ENDED
    since_ns = max(data.trial.load_start_ns, at_ns - round(BEFORE_S * SECOND_NS))
    sent = traces(data).select(SENT.is_between(since_ns, at_ns, closed="left").sum()).item()
    return Reached(
        at_s=(at_ns - data.trial.load_start_ns) / SECOND_NS,
        outcome=outcome,
        workers=_workers_at(data, at_ns),
        traces_per_s=sent * SECOND_NS / max(at_ns - since_ns, 1),
        queue=_queue_at(data, at_ns),
    )


def bound(data: TrialData) -> Censoring | None:
    """Return what the values of `reached` are a bound of: a load without an error might have gone further."""
    return "at least" if data.has("trace-log") and reached(data).outcome is None else None


def _workers_at(data: TrialData, at_ns: int) -> float:
    """Return how many workers the generator had at its last reading before a time."""
    series = [one["workers"] for one in data.streams["generator"].values()]
    before = max((one for one in series if one.t_ns[0] <= at_ns), key=lambda one: int(one.t_ns[0]), default=series[0])
    return float(before.values[max(0, int(np.searchsorted(before.t_ns, at_ns)) - 1)])


def _queue_at(data: TrialData, at_ns: int) -> float | None:
    """Return how full the exporters' queues were at the last reading before a time."""
    series = [fields["queue_size"] for fields in counted.collectors(data).values() if "queue_size" in fields]
    before = [one.values[one.t_ns <= at_ns] for one in series]
    return float(sum(values[-1] for values in before)) if before and all(map(len, before)) else None


def _per_s(outcome: str | None, time: pl.Expr) -> Callable[[TrialData], float]:
    def compute(data: TrialData) -> float:
        found = in_window(data, time)
        of = found if outcome is None else found.filter(pl.col("outcome") == outcome)
        return len(of) / data.trial.window_s

    return compute


def _reached(name: str, title: str, unit: str) -> Metric:
    """Return a metric of what a load had reached at its first error."""

    def compute(data: TrialData) -> float | None:
        value: float | None = getattr(reached(data), name)
        return value

    return Metric(f"first_error_{name}", title, unit, "higher", compute=compute, bound=bound)


METRICS = (
    Metric("traces_sent_per_s", "Traces sent per second", "1/s", "higher", compute=_per_s(None, SENT)),
    Metric("traces_returned_per_s", "Traces returned per second", "1/s", "higher", compute=_per_s("success", RETURNED)),
    Metric(
        "traces_failed_per_s",
        "Traces that failed per second",
        "1/s",
        compute=lambda data: len(failures(data)) / data.trial.window_s,
    ),
    *(
        Metric(f"{which}_delay_{name}_ms", f"{title}, {name}", "ms", compute=partial(delay_ms, which=which, quantile=q))
        for which, title in ((SEND, "Delay until accepted"), (RECEIVE, "Delay until returned"))
        for name, q in QUANTILES.items()
    ),
    _reached("at_s", "First error, after the load's start", "s"),
    _reached("workers", "Workers at the first error", ""),
    _reached("traces_per_s", "Rate at the first error", "1/s"),
    _reached("queue", "Queue of the exporters at the first error", ""),
)
