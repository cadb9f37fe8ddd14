"""How a Collector's trials are judged: its checks and metrics. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from lab.analysis import checks
from lab.analysis.metrics import resources, speed
from lab.analysis.metrics.window import cpu_cores, mean
from lab.contract import Check, Metric, PairedMetric
from lab.record import NotDerivableError, TrialData

ROLE = "collector"
COUNTED = (
    "load_s",
    "spans_planned",
    "spans_generated",
    "spans_accepted",
    "spans_refused",
    "spans_dropped",
    "spans_delivered",
)
# Of the spans that were planned, or counted one step before. The generator needs a moment until its first span.
SHORT_FRACTION = 0.03
LOST_FRACTION = 0.01
INSTRUMENTS = {"cpu_generator_cores", "cpu_observer_cores", "memory_backends_mean_mib"}


def spans_counted(data: TrialData) -> Iterator[str]:
    """Reject trials in which the generator, the Collector or the sink counted nothing."""
    values = data.results.values if data.has("results") else {}
    if missing := [name for name in COUNTED if name not in values]:
        yield f"not counted: {', '.join(missing)}"
    elif not values["spans_accepted"]:
        yield "the Collector accepted no span: see the logs of the generator and the Collector"


def load_held(data: TrialData) -> Iterator[str]:
    """Reject trials whose generator did not generate the planned spans."""
    planned, generated = (data.results.values[name] for name in ("spans_planned", "spans_generated"))
    if abs(generated / planned - 1) > SHORT_FRACTION:
        yield f"the generator generated {generated:.0f} spans, planned were {planned:.0f} (limit ±{SHORT_FRACTION:.0%})"


def spans_accounted_for(data: TrialData) -> Iterator[str]:
    """Reject trials in which spans were lost and no one counted them as refused or dropped."""
    values = data.results.values
    steps = (
        ("the generator generated", "spans_generated", ("spans_accepted", "spans_refused")),
        ("the Collector accepted", "spans_accepted", ("spans_delivered", "spans_dropped")),
    )
    for what, before, after in steps:
        known = sum(values[name] for name in after)
        if known < (1 - LOST_FRACTION) * values[before]:
            said = " and ".join(f"{values[name]:.0f} {name.removeprefix('spans_')}" for name in after)
            yield f"{what} {values[before]:.0f} spans, of which {said} (limit {LOST_FRACTION:.0%} unaccounted for)"


def spans_per_s(data: TrialData) -> float:
    """Return the rate at which the Collector accepted spans. The generator's rate is constant over its load."""
    values = data.results.values
    return values["spans_accepted"] / values["load_s"]


def cpu_per_span_us(data: TrialData) -> float:
    """Return the Collector's CPU time in the window by the spans that it accepted in that time."""
    rate = spans_per_s(data)
    if rate == 0:
        raise NotDerivableError("the Collector accepted no span")
    return 1e6 * cpu_cores(data, data.trial.names(ROLE)) / rate


def _memory_mean_mib(data: TrialData) -> float:
    return mean(data, data.counters.containers, data.trial.names(ROLE), "memory_working_set_bytes") / resources.MIB


def _dropped_fraction(data: TrialData) -> float:
    values = data.results.values
    return max(0.0, 1 - values["spans_delivered"] / values["spans_accepted"])


def _counted(name: str) -> Callable[[TrialData], float]:
    return lambda data: data.results.values[name]


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("cpu_per_span_us", "CPU per span, Collector", "µs", compute=cpu_per_span_us),
        Metric(
            "cpu_collector_cores",
            "CPU, Collector",
            "cores",
            compute=lambda data: cpu_cores(data, data.trial.names(ROLE)),
        ),
        Metric("memory_collector_mean_mib", "Memory, Collector, mean", "MiB", compute=_memory_mean_mib),
        Metric("spans_per_s", "Spans accepted per second", "1/s", "higher", compute=spans_per_s),
        Metric(
            "spans_dropped_fraction", "Accepted spans that the sink did not get", "fraction", compute=_dropped_fraction
        ),
        Metric("spans_refused", "Spans that the Collector refused", "", compute=_counted("spans_refused")),
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
            checks.containers_present,
            checks.observed_throughout,
            load_held,
            spans_accounted_for,
        ),
        (checks.generator_had_cpu, checks.host_left_alone),
    )
    metrics: Mapping[str, Metric] = field(default_factory=lambda: METRICS)
    paired: Mapping[str, PairedMetric] = field(default_factory=dict)
