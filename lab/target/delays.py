"""How fast traces were sent and came back, and when the first of them failed. Pure.

*Send* is from the start of a request to its answer, *receive* from the answer to the last span that came back, and
*round trip* is both. Below saturation, spans come back with the answer, or before it: then *receive* is about 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import polars as pl

from lab.analysis.collector.outcomes import failed
from lab.contract import Metric
from lab.record import LOCAL, SECOND_NS, Censoring, NotDerivableError, TrialData
from lab.record.traces import ACCEPTED, COMPLETE, LOGGED, RECEIVE_MS, RETURNED, ROUND_TRIP_MS, SEND_MS, SENT, UNSENT
from lab.target import ended

# Over so long before the first error, rates are averages.
BEFORE_S = 10.0
SEND, RECEIVE, ROUND_TRIP = "send", "receive", "round_trip"
TITLES = {SEND: "Delay until accepted", RECEIVE: "Delay from accepted to returned", ROUND_TRIP: "Round trip"}
QUANTILES = {"p50": 0.5, "p90": 0.9, "p95": 0.95, "p99": 0.99, "p999": 0.999}
DELAY_MS = {SEND: SEND_MS, RECEIVE: RECEIVE_MS, ROUND_TRIP: ROUND_TRIP_MS}
HAVING = {SEND: ACCEPTED, RECEIVE: COMPLETE, ROUND_TRIP: COMPLETE}
ENDED = "what is measured ended"
# What rates count, and of which traces.
TRACES, SENT_SPANS, RETURNED_SPANS = pl.len(), pl.col("spans_sent").sum(), pl.col("spans_received").sum()
MISSING_SPANS = (pl.col("spans_sent") - pl.col("spans_received")).sum()
EACH = pl.lit(True)


@dataclass(frozen=True)
class Reached:
    """What a load had reached at its first error, or at its end if there was none. `at_s`: since the load began.

    `outcome`: of the trace that failed, or `ENDED`; None without an error. `traces_per_s`: sent, over the
    `BEFORE_S` before. `queue`: of all exporters, in their units; None if they show none.
    """

    at_s: float
    outcome: str | None
    workers: float
    connections: float
    traces_per_s: float
    queue: float | None


def traces(data: TrialData) -> pl.DataFrame:
    """Return what became of each trace of all loads of the trial; raises `NotDerivableError` if none was logged."""
    frames: list[pl.DataFrame] = list(data.streams.get("trace-log", {}).values())
    if not frames:
        raise NotDerivableError("the trial logged no traces")
    return pl.concat(frames)


def in_window(data: TrialData, time: pl.Expr, which: Callable[[TrialData], pl.DataFrame] = traces) -> pl.DataFrame:
    """Return the traces, or `which` of them, of which something, such as `SENT`, happened in the window."""
    return which(data).filter(time.is_between(data.trial.window_start_ns, data.trial.window_end_ns, closed="left"))


def delay_ms(data: TrialData, which: str, quantile: float) -> float:
    """Return a quantile of the delays of traces sent in the window; raises `NotDerivableError` if there is none."""
    found = in_window(data, SENT).filter(HAVING[which]).select(DELAY_MS[which]).to_series().quantile(quantile)
    if found is None:
        raise NotDerivableError("no trace of the window was answered, or none came back")
    return float(found)


def mean_delay_ms(data: TrialData, which: str) -> float:
    """Return the mean delay of traces sent in the window, which adds up over stages as quantiles do not.

    Raises `NotDerivableError` if no trace was answered, or none came back.
    """
    found = in_window(data, SENT).filter(HAVING[which]).select(DELAY_MS[which].mean()).item()
    if found is None:
        raise NotDerivableError("no trace of the window was answered, or none came back")
    return float(found)


def failures(data: TrialData) -> pl.DataFrame:
    """Return the traces that failed. Which are expected back is a setting of the level; without it, all are."""
    settings = data.trial.settings
    return failed(traces(data), settings.get("keeps", "all"), settings.get("sampling_percent", 100))


def lost(data: TrialData) -> pl.DataFrame:
    """Return the traces that were accepted, expected back, and had not come back in time.

    Raises `NotDerivableError` where nobody knows which traces are expected back.
    """
    if data.trial.settings["keeps"] == "some":
        raise NotDerivableError("a rule of the pipeline drops traces, and which is not predicted")
    return failures(data).filter(ACCEPTED)


def spans_lost(data: TrialData) -> float:
    """Return the spans of lost traces that had not come back in time; raises as `lost`.

    What the Collectors count as dropped also contains what they rejected because a queue was full.
    """
    return float(lost(data).select(MISSING_SPANS).item())


def spans_accepted(data: TrialData) -> float:
    """Return the spans of all traces that were accepted, from the generator's log of the load.

    A Collector's own counter also has the loads before it, with which the generator waited for the connection.
    """
    return float(traces(data).filter(~UNSENT)["spans_sent"].sum())


def reached(data: TrialData) -> Reached:
    """Return what the load had reached when the first failure was logged, or when the window ended.

    If what is measured ended under a ramp, the traces that failed since it was last seen failed because of that.
    """
    first = failures(data).sort(LOGGED).head(1)
    at_ns = first.select(LOGGED).item() if len(first) else data.trial.window_end_ns
    outcome = str(first["outcome"][0]) if len(first) else None
    if (end := ended.under_ramp(data)) and at_ns >= end.seen_ns:
        at_ns, outcome = min(at_ns, end.gone_ns), ENDED
    since_ns = max(data.trial.load_start_ns, at_ns - round(BEFORE_S * SECOND_NS))
    sent = traces(data).select(SENT.is_between(since_ns, at_ns, closed="left").sum()).item()
    return Reached(
        at_s=(at_ns - data.trial.load_start_ns) / SECOND_NS,
        outcome=outcome,
        workers=_generator_at(data, "workers", at_ns),
        connections=_generator_at(data, "connections_opened", at_ns),
        traces_per_s=sent * SECOND_NS / max(at_ns - since_ns, 1),
        queue=_queue_at(data, at_ns),
    )


def bound(data: TrialData) -> Censoring | None:
    """Return what the values of `reached` are a bound of: a load without an error might have gone further."""
    return "at least" if data.has("trace-log") and reached(data).outcome is None else None


def _generator_at(data: TrialData, counter: str, at_ns: int) -> float:
    """Return how many workers the generator had, or connections it had opened, at its last reading before a time."""
    series = [one[counter] for one in data.streams["generator"].values()]
    before = max((one for one in series if one.t_ns[0] <= at_ns), key=lambda one: int(one.t_ns[0]), default=series[0])
    return float(before.values[max(0, int(np.searchsorted(before.t_ns, at_ns)) - 1)])


def _queue_at(data: TrialData, at_ns: int) -> float | None:
    """Return how full the exporters' queues were at the last reading before a time."""
    collectors = data.streams.get("collectors", {}).get(LOCAL, {})
    series = [fields["queue_size"] for fields in collectors.values() if "queue_size" in fields]
    before = [one.values[one.t_ns <= at_ns] for one in series]
    return float(sum(values[-1] for values in before)) if before and all(map(len, before)) else None


def _per_s(
    which: Callable[[TrialData], pl.DataFrame], of: pl.Expr = EACH, count: pl.Expr = TRACES, time: pl.Expr = SENT
) -> Callable[[TrialData], float]:
    def compute(data: TrialData) -> float:
        return float(in_window(data, time, which).filter(of).select(count).item()) / data.trial.window_s

    return compute


def _reached(name: str, title: str, unit: str) -> Metric:
    """Return a metric of what a load had reached at its first error."""

    def compute(data: TrialData) -> float | None:
        value: float | None = getattr(reached(data), name)
        return value

    return Metric(f"first_error_{name}", title, unit, "higher", compute=compute, bound=bound)


METRICS = (
    *(
        Metric(f"{name}_per_s", f"{title} per second", "1/s", "higher", compute=compute)
        for name, title, compute in (
            ("traces_sent", "Traces sent", _per_s(traces)),
            ("traces_accepted", "Traces accepted", _per_s(traces, ACCEPTED)),
            ("traces_returned", "Traces returned", _per_s(traces, COMPLETE, time=RETURNED)),
            ("spans_sent", "Spans sent", _per_s(traces, count=SENT_SPANS)),
            # A trace's spans count when the last of them has come back.
            ("spans_returned", "Spans returned", _per_s(traces, count=RETURNED_SPANS, time=RETURNED)),
        )
    ),
    *(
        Metric(f"{name}_per_s", f"{title} per second", "1/s", compute=compute)
        for name, title, compute in (
            ("traces_failed", "Traces that failed", _per_s(failures)),
            ("traces_refused", "Traces rejected", _per_s(traces, UNSENT)),
            ("traces_lost", "Traces lost", _per_s(lost)),
            ("spans_refused", "Spans rejected", _per_s(traces, UNSENT, SENT_SPANS)),
            ("spans_lost", "Spans lost", _per_s(lost, count=MISSING_SPANS)),
        )
    ),
    *(
        Metric(f"{which}_delay_{name}_ms", f"{title}, {name}", "ms", compute=partial(delay_ms, which=which, quantile=q))
        for which, title in TITLES.items()
        for name, q in QUANTILES.items()
    ),
    *(
        Metric(f"{which}_delay_mean_ms", f"{title}, mean", "ms", compute=partial(mean_delay_ms, which=which))
        for which, title in TITLES.items()
    ),
    _reached("at_s", "First error, after the load's start", "s"),
    _reached("workers", "Workers at the first error", ""),
    _reached("connections", "Connections opened until the first error", ""),
    _reached("traces_per_s", "Rate at the first error", "1/s"),
    _reached("queue", "Queue of the exporters at the first error", ""),
)
