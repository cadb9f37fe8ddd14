"""How a Collector's trials are judged: its checks and metrics. Pure."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.analysis import checks
from lab.analysis.metrics import resources, speed
from lab.analysis.metrics.window import cpu_cores, over
from lab.contract import Check, Metric, PairedMetric
from lab.record import NotDerivableError, TrialData
from lab.target.collector import counted, delays
from lab.target.collector.ended import ROLE, until_ended

# Of the spans that were planned, or counted one step before. The generator needs a moment until its first span.
SHORT_FRACTION = 0.03
# Of a Poisson count, in standard deviations: one load in 30,000 is further off.
SPARE_SDS = 4
LOST_FRACTION = 0.01
# Of the CPUs of the generator and the sink, until the first error. What they cannot do is not the Collector's limit.
INSTRUMENTS_FRACTION = 0.7
INSTRUMENTS = {"cpu_generator_cores", "cpu_observer_cores", "memory_backends_mean_mib"}
OUTCOMES = ("traces_returned", "send_timeouts", "send_errors", "receive_timeouts", "shutdowns")


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


def load_held(data: TrialData) -> Iterator[str]:
    """Reject open loops whose generator did not generate what was planned."""
    values = data.results.values
    if planned := values.get("spans_planned"):
        yield from _short("spans", values["spans_generated"], planned, SHORT_FRACTION)
    if planned := values.get("traces_planned"):
        drawn = float(len(delays.traces(data)))
        yield from _short("traces", drawn, planned, SHORT_FRACTION + SPARE_SDS / math.sqrt(planned))


def _short(what: str, generated: float, planned: float, limit: float) -> Iterator[str]:
    if abs(generated / planned - 1) > limit:
        yield f"the generator generated {generated:.0f} {what}, planned were {planned:.0f} (limit ±{limit:.0%})"


def spans_accounted_for(data: TrialData) -> Iterator[str]:
    """Reject trials in which something was lost and no one counted it: traces by outcome, otherwise spans by step."""
    values = data.results.values
    if data.has("trace-log"):
        known = sum(values[name] for name in OUTCOMES)
        if known != values["traces_sent"]:
            yield f"the generator sent {values['traces_sent']:.0f} traces, and knows what became of {known:.0f}"
        return
    accepted = counted.spans_accepted(data)
    arrived = {"accepted": accepted, "refused": counted.spans_refused(data)}
    yield from _unaccounted("the generator generated", values["spans_generated"], arrived)
    passed_on = {"delivered": counted.spans_delivered(data), "dropped": counted.spans_dropped(data)}
    yield from _unaccounted("the Collector accepted", accepted, passed_on)


def _unaccounted(what: str, before: float, known: Mapping[str, float]) -> Iterator[str]:
    if sum(known.values()) < (1 - LOST_FRACTION) * before:
        said = " and ".join(f"{count:.0f} {name}" for name, count in known.items())
        yield f"{what} {before:.0f} spans, of which {said} (limit {LOST_FRACTION:.0%} unaccounted for)"


def instruments_had_cpu(data: TrialData) -> Iterator[str]:
    """Reject trials in which the generator and the sink needed most of their CPUs before anything failed."""
    if not data.has("trace-log"):
        return
    end_ns = data.trial.load_start_ns + round(delays.reached(data).at_s * delays.SECOND_NS)
    until = over(data, data.trial.window_start_ns, max(end_ns, data.trial.window_start_ns + 1))
    used = cpu_cores(until, data.trial.names("generator", "backend")) / len(data.trial.generator_cpus)
    if used > INSTRUMENTS_FRACTION:
        yield (
            f"the generator and the sink used {used:.0%} of their CPUs (limit {INSTRUMENTS_FRACTION:.0%}): "
            "the Collector may not have been the limit"
        )


def cpu_per_span_us(data: TrialData) -> float:
    """Return the Collectors' CPU time in the window by the spans that the first stage accepted in it."""
    return 1e6 * _per(data, counted.accepted_per_s(data), "accepted no span")


def cpu_per_mb_ms(data: TrialData) -> float:
    """Return the Collectors' CPU time in the window by the megabytes (10^6) that the first stage received over gRPC."""
    return 1e9 * _per(data, counted.bytes_per_s(data), "received nothing over gRPC")


def _per(data: TrialData, rate: float, nothing: str) -> float:
    if rate == 0:
        raise NotDerivableError(f"the Collector {nothing}")
    return cpu_cores(data, data.trial.names(ROLE)) / rate


def _memory_max_mib(data: TrialData) -> float:
    window = data.trial.window_start_ns, data.trial.window_end_ns
    series = [data.counters.containers[name]["memory_working_set_bytes"] for name in data.trial.names(ROLE)]
    return sum(float(one.within(*window).values.max()) for one in series) / resources.MIB


def _dropped_fraction(data: TrialData) -> float:
    if data.has("trace-log"):
        return counted.spans_dropped(data) / counted.spans_accepted(data)
    return max(0.0, 1 - counted.spans_delivered(data) / counted.spans_accepted(data))


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("cpu_per_span_us", "CPU per span, Collector", "µs", compute=cpu_per_span_us),
        Metric("cpu_per_mb_ms", "CPU per MB, Collector", "ms", compute=cpu_per_mb_ms),
        Metric("cpu_collector_cores", "CPU, Collector", "cores", compute=resources.cores(ROLE)),
        Metric("memory_collector_mean_mib", "Memory, Collector, mean", "MiB", compute=resources.memory_mean_mib(ROLE)),
        Metric("memory_collector_max_mib", "Memory, Collector, highest", "MiB", compute=_memory_max_mib),
        Metric("spans_per_s", "Spans accepted per second", "1/s", "higher", compute=counted.accepted_per_s),
        Metric("spans_dropped_fraction", "Accepted spans lost", "fraction", compute=_dropped_fraction),
        Metric("spans_refused", "Spans that the Collector refused", "", compute=counted.spans_refused),
        *delays.METRICS,
        *(metric for metric in resources.METRICS if metric.name in INSTRUMENTS),
        *speed.METRICS,
    )
}


@dataclass(frozen=True)
class CollectorJudgement:
    """See `lab.contract.Judgement`."""

    checks: Sequence[Sequence[Check]] = (
        (spans_counted,),
        (
            checks.records_complete,
            until_ended(checks.containers_present),
            until_ended(checks.observed_throughout),
            load_held,
            spans_accounted_for,
        ),
        (until_ended(checks.generator_had_cpu), until_ended(checks.host_left_alone), instruments_had_cpu),
    )
    metrics: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    paired: Mapping[str, PairedMetric] = field(default_factory=dict)
