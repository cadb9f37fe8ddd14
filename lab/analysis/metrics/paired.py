"""Metrics that need two trials: a level's values compared with those of its references in the same block."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from lab.analysis.stats.compare import mean_of
from lab.contract import PairedMetric, Values
from lab.record import TrialSummary


def with_paired_values(
    trials: Sequence[TrialSummary], references: Collection[str], metrics: Mapping[str, PairedMetric]
) -> list[TrialSummary]:
    """Add the paired metrics to the values of each valid trial whose block has a valid one of the `references`.

    The references are one system under several names. If a block has several of them, their mean counts.
    """
    known: defaultdict[int, list[Values]] = defaultdict(list)
    for trial in trials:
        if trial.valid and trial.level in references:
            known[trial.block].append(_exact(trial))
    return [
        trial.model_copy(
            update={"values": {**trial.values, **_paired(_exact(trial), mean_of(known[trial.block]), metrics)}}
        )
        if trial.valid and trial.level not in references and known[trial.block]
        else trial
        for trial in trials
    ]


def _exact(trial: TrialSummary) -> Values:
    """Return the trial's values without those that are only bounds."""
    return {name: value for name, value in trial.values.items() if name not in trial.censored}


def _paired(values: Values, baseline: Values, metrics: Mapping[str, PairedMetric]) -> dict[str, float]:
    found = {}
    for metric in metrics.values():
        try:
            value = metric.compute(values, baseline)
        except KeyError:
            continue
        if value is not None:
            found[metric.name] = value
    return found


def _cpu_per_delivered_span_us(values: Values, baseline: Values) -> float | None:
    """Divide the services' CPU beyond the baseline's by the spans that arrived. Lost spans cost CPU too."""
    extra_ms = values["cpu_per_request_services_ms"] - baseline["cpu_per_request_services_ms"]
    spans = values["spans_accepted_per_request"]
    return 1000 * extra_ms / spans if spans else None


PAIRED: Mapping[str, PairedMetric] = {
    metric.name: metric
    for metric in (
        PairedMetric(
            "cpu_per_delivered_span_us",
            "CPU beyond the baseline's per delivered span, services",
            "µs",
            compute=_cpu_per_delivered_span_us,
        ),
    )
}
