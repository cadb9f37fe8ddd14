"""How a Collector's trials are judged: its checks and metrics. Pure."""

from collections.abc import Iterator, Mapping

from lab.analysis import checks
from lab.analysis.metrics import resources, speed, window
from lab.contract import Judgement, Metric
from lab.record import MIB, NotDerivableError, TrialData
from lab.target import delays, generated, searched
from lab.target.collector import counted, decisions, saturation, steadiness
from lab.target.ended import until_ended

ROLE = "collector"
# Of the spans that were counted one step before.
LOST_FRACTION = 0.01
INSTRUMENTS = {"cpu_generator_cores", "cpu_observer_cores", "memory_backends_mean_mib"}


def spans_counted(data: TrialData) -> Iterator[str]:
    """Reject trials in which the generator, the Collectors or the sink counted nothing."""
    values = data.results.values if data.has("results") else {}
    arrived = "spans_received" if data.has("trace-log") else "spans_delivered"
    missing = [name for name in ("load_s", "spans_generated", arrived) if name not in values]
    if missing:
        yield f"not counted: {', '.join(missing)}"
    elif not counted.collectors(data):
        yield "the Collector's own counters were not read: see the logs of the scraper and the Collector"
    elif not counted.spans_accepted(data):
        yield "the Collector accepted no span: see the logs of the generator and the Collector"


def spans_accounted_for(data: TrialData) -> Iterator[str]:
    """Reject trials in which something was lost and no one counted it: traces by outcome, spans by step."""
    accepted = counted.spans_accepted(data)
    if data.has("trace-log"):
        yield from generated.traces_accounted_for(data)
    else:
        yield from _unaccounted(
            "the generator generated",
            data.results.values["spans_generated"],
            accepted=accepted,
            refused=counted.spans_refused(data),
        )
    if (delivered := counted.spans_delivered(data)) is not None and _all_expected(data):
        yield from _unaccounted(
            "the Collector accepted", accepted, delivered=delivered, dropped=counted.spans_dropped(data)
        )


def _all_expected(data: TrialData) -> bool:
    """Whether the pipeline passes every span on, unless it loses it."""
    return bool(data.trial.settings.get("keeps", "all") == "all")


def _unaccounted(what: str, before: float, **known: float) -> Iterator[str]:
    if sum(known.values()) < (1 - LOST_FRACTION) * before:
        said = " and ".join(f"{count:.0f} {name}" for name, count in known.items())
        yield f"{what} {before:.0f} spans, of which {said} (limit {LOST_FRACTION:.0%} unaccounted for)"


def cpu_per_span_us(data: TrialData) -> float:
    """Return the Collectors' CPU time in the window by the spans that the first stage accepted in it."""
    accepted_per_s = counted.accepted_per_s(data)
    if accepted_per_s == 0:
        raise NotDerivableError("the Collector accepted no span")
    return 1e6 * window.cpu_cores(data, data.trial.names(ROLE)) / accepted_per_s


def cpu_per_mb_ms(data: TrialData) -> float:
    """Return the Collectors' CPU time in the window by the megabytes (10^6) of uncompressed OTLP that it accepted.

    Each span counts with the mean size of those that were sent.
    """
    return 1e3 * cpu_per_span_us(data) / span_bytes(data)


def span_bytes(data: TrialData) -> float:
    """Return the uncompressed OTLP bytes of a span as it was sent, with its share of the request.

    Raises `NotDerivableError` if the generator does not count them.
    """
    series = list(data.streams.get("generator", {}).values())
    if not series:
        raise NotDerivableError("the generator counted no bytes")
    sent, spans = (sum(float(one[name].values[-1]) for one in series) for name in ("bytes_sent", "spans_sent"))
    return sent / spans


def _memory_max_mib(data: TrialData) -> float:
    window = data.trial.window_start_ns, data.trial.window_end_ns
    series = [data.counters.containers[name]["memory_working_set_bytes"] for name in data.trial.names(ROLE)]
    return sum(float(one.within(*window).values.max()) for one in series) / MIB


def _lost_fraction(data: TrialData) -> float | None:
    if searched.search_of(data):
        return None  # the counters are of all of its trials
    if (delivered := counted.spans_delivered(data)) is None:
        return delays.spans_lost(data) / delays.spans_accepted(data)
    if not _all_expected(data):
        raise NotDerivableError("the pipeline drops traces, and the sink does not know which")
    return max(0.0, 1 - delivered / counted.spans_accepted(data))


def _refused(data: TrialData) -> float | None:
    return None if searched.search_of(data) else counted.spans_refused(data)


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("cpu_per_span_us", "CPU per span, Collector", "µs", compute=cpu_per_span_us),
        Metric(
            "cores_per_10000_spans_per_s",
            "CPU for 10,000 spans per second, Collector",
            "cores",
            compute=lambda data: cpu_per_span_us(data) / 100,
        ),
        Metric("cpu_per_mb_ms", "CPU per MB, Collector", "ms", compute=cpu_per_mb_ms),
        Metric("cpu_collector_cores", "CPU, Collector", "cores", compute=resources.cores(ROLE)),
        Metric("memory_collector_mean_mib", "Memory, Collector, mean", "MiB", compute=resources.memory_mean_mib(ROLE)),
        Metric("memory_collector_max_mib", "Memory, Collector, highest", "MiB", compute=_memory_max_mib),
        Metric("span_bytes", "Bytes per span", "B", compute=span_bytes),
        Metric("spans_per_s", "Spans accepted per second", "1/s", "higher", compute=counted.accepted_per_s),
        Metric("spans_lost_fraction", "Accepted spans lost", "fraction", compute=_lost_fraction),
        Metric("spans_refused", "Spans that the Collector rejected", "", compute=_refused),
        *delays.METRICS,
        *saturation.METRICS,
        *steadiness.METRICS,
        *decisions.METRICS,
        *searched.METRICS,
        *(metric for metric in resources.METRICS if metric.name in INSTRUMENTS),
        *speed.METRICS,
    )
}


JUDGEMENT = Judgement(
    checks=(
        (spans_counted,),
        (
            checks.records_complete,
            until_ended(checks.containers_present),
            until_ended(checks.observed_throughout),
            generated.load_held,
            spans_accounted_for,
            searched.search_ended,
        ),
        (
            until_ended(checks.generator_had_cpu),
            until_ended(checks.host_left_alone),
            generated.instruments_had_cpu,
            searched.deciding_trials_had_cpu,
        ),
    ),
    metrics=METRICS,
    paired={metric.name: metric for metric in steadiness.PAIRED},
)
