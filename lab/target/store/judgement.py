"""How a store's trials are judged: its checks and metrics. Pure.

A trace counts as found if its ID gave all spans that were sent.
"""

from collections.abc import Iterator, Mapping, Sequence

import polars as pl

from lab.analysis import checks
from lab.analysis.metrics import resources, speed, window
from lab.contract import Judgement, Metric
from lab.record import LOCAL, MIB, NotDerivableError, Series, TrialData
from lab.record.traces import COMPLETE, LOGGED
from lab.target import delays, generated, searched
from lab.target.store.lookup import wanted

ROLE = "store"
INSTRUMENTS = {"cpu_generator_cores", "cpu_observer_cores"}
# Of the delays: a store sends nothing back, and has no queue that is read.
SENDING = ("traces_sent", "traces_failed", "send_delay", "first_error_at", "first_error_workers", "first_error_traces")
ACCEPTED_NS = pl.col("intended_ns") + pl.col("send_end_after_ns")
FOUND = pl.col("spans_found") >= pl.col("spans_sent")
# Of the traces that were to be looked up.
UNANSWERED_FRACTION = 0.01
# Of the traces that were accepted at the rate that a search found.
FOUND_FRACTION = 0.99


def traces_counted(data: TrialData) -> Iterator[str]:
    """Reject trials in which the generator counted nothing, or no trace was accepted or looked up."""
    values = data.results.values if data.has("results") else {}
    if missing := [name for name in ("load_s", "traces_sent") if name not in values]:
        yield f"not counted: {', '.join(missing)}"
    elif not (data.has("trace-log") and data.has("lookups")):
        yield "no traces were logged and looked up: see the log of the generator"
    elif not wanted(delays.traces(data)):
        yield "the store accepted no trace: see the logs of the generator and the store"


def lookups_answered(data: TrialData) -> Iterator[str]:
    """Reject trials in which the store did not answer look-ups: nobody knows whether it has these traces."""
    count = len(wanted(delays.traces(data)))
    unanswered = count - len(data.streams["lookups"][LOCAL])
    if unanswered > UNANSWERED_FRACTION * count:
        yield (
            f"the store did not answer the look-ups of {unanswered} of {count} traces "
            f"(limit {UNANSWERED_FRACTION:.0%}): see its log"
        )


def searched_rate_stored(data: TrialData) -> Iterator[str]:
    """Reject searches at whose rate the store accepted traces that it does not have.

    The short trials know only what was accepted. Looked up are the traces of the load that repeats the rate.
    """
    if searched.search_of(data) is None:
        return
    found = _fraction_found(_looked_up(data, delays.traces(data)))
    if found < FOUND_FRACTION:
        yield (
            f"of the traces accepted at the rate that the search found, {found:.1%} were found by ID "
            f"(limit {FOUND_FRACTION:.0%})"
        )


def accepted(data: TrialData) -> pl.DataFrame:
    """Return the traces that the store accepted in the window."""
    return delays.in_window(data, ACCEPTED_NS).filter(COMPLETE)


def accepted_per_s(data: TrialData) -> float:
    """Return the rate at which the store accepted traces in the window."""
    return len(accepted(data)) / data.trial.window_s


def cpu_per_span_us(data: TrialData) -> float:
    """Return the store's CPU time in the window by the spans that it accepted in it."""
    spans = int(accepted(data)["spans_sent"].sum())
    if spans == 0:
        raise NotDerivableError("no span was accepted in the window")
    return 1e6 * window.cpu_cores(data, data.trial.names(ROLE)) * data.trial.window_s / spans


def found_fraction(data: TrialData) -> float:
    """Return the share of the traces accepted in the window and looked up after the load that were found."""
    seen = _looked_up(data, accepted(data))
    if seen.is_empty():
        raise NotDerivableError("no trace of the window was looked up")
    return _fraction_found(seen)


def spans_held(data: TrialData) -> float | None:
    """Return the spans of accepted traces that the store had after the load, as those that were looked up say of all.

    It may hold more: a trace whose answer came too late is not accepted, but may be stored.
    """
    if searched.search_of(data):
        return None  # it also holds those of the short trials, whose logs are gone
    known = delays.traces(data).filter(COMPLETE)
    seen = _looked_up(data, known)
    return float(seen["spans_found"].sum()) * len(known) / len(seen)


def memory_end_mib(data: TrialData) -> float:
    """Return the store's RSS at the load's end: its size, with all that its runtime holds."""
    return sum(float(one.values[-1]) for one in _rss_in_load(data)) / MIB


def memory_per_span_held_bytes(data: TrialData) -> float | None:
    """Return by how much the store's RSS grew from the load's start to its end, by the spans that it then had.

    What a runtime has not given back is a part of it: garbage, and room to grow. None if it held no span, or was filled
    by the short trials of a search.
    """
    held = spans_held(data)
    if not held:
        return None
    return sum(float(one.values[-1] - one.values[0]) for one in _rss_in_load(data)) / held


def _rss_in_load(data: TrialData) -> Sequence[Series]:
    """Return the store's RSS from the load's start to its last answer. Jaeger is ready before its first reading."""
    end_ns = int(delays.traces(data).select(LOGGED.max()).item())
    series = [data.counters.containers[name]["memory_rss_bytes"] for name in data.trial.names(ROLE)]
    return [one.within(data.trial.load_start_ns, end_ns) for one in series]


def _looked_up(data: TrialData, traces: pl.DataFrame) -> pl.DataFrame:
    """Return those of some traces that were looked up, with `spans_found`."""
    lookups: pl.DataFrame = data.streams["lookups"][LOCAL]
    return traces.filter(COMPLETE).join(lookups, on="trace_id")


def _fraction_found(seen: pl.DataFrame) -> float:
    return float(seen.select(FOUND.mean()).item())


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("cpu_per_span_us", "CPU per span, store", "µs", compute=cpu_per_span_us),
        Metric("cpu_store_cores", "CPU, store", "cores", compute=resources.cores(ROLE)),
        Metric("memory_store_end_mib", "Memory (RSS), store, at the load's end", "MiB", compute=memory_end_mib),
        Metric(
            "memory_per_span_held_bytes", "Growth of RSS per span that is held", "B", compute=memory_per_span_held_bytes
        ),
        Metric("spans_held", "Spans of accepted traces that are held after the load", "", "higher", compute=spans_held),
        Metric("traces_accepted_per_s", "Traces accepted per second", "1/s", "higher", compute=accepted_per_s),
        Metric(
            "traces_found_per_s",
            "Traces accepted per second that were found by ID",
            "1/s",
            "higher",
            compute=lambda data: accepted_per_s(data) * found_fraction(data),
        ),
        Metric("traces_found_fraction", "Accepted traces found by ID", "fraction", "higher", compute=found_fraction),
        Metric(
            "traces_looked_up",
            "Traces looked up",
            "",
            "higher",
            compute=lambda data: float(len(data.streams["lookups"][LOCAL])),
        ),
        *(metric for metric in delays.METRICS if metric.name.startswith(SENDING)),
        *searched.METRICS,
        *(metric for metric in resources.METRICS if metric.name in INSTRUMENTS),
        *speed.METRICS,
    )
}


JUDGEMENT = Judgement(
    checks=(
        (traces_counted,),
        (
            checks.records_complete,
            checks.containers_present,
            checks.observed_throughout,
            generated.load_held,
            generated.traces_accounted_for,
            lookups_answered,
            searched.search_ended,
        ),
        (
            checks.generator_had_cpu,
            checks.host_left_alone,
            generated.instruments_had_cpu,
            searched.deciding_trials_had_cpu,
            searched_rate_stored,
        ),
    ),
    metrics=METRICS,
)
