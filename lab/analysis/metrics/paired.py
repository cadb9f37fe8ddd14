"""Metrics that need two trials: a level's values compared with those of its references in the same block."""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from lab.analysis.metrics.window import known
from lab.analysis.stats.compare import mean_of
from lab.contract import PairedMetric, Values
from lab.record import TrialSummary


def with_paired_values(
    trials: Sequence[TrialSummary], references: Collection[str], metrics: Mapping[str, PairedMetric]
) -> list[TrialSummary]:
    """Add the paired metrics to the values of each valid trial whose block has a valid one of the `references`.

    The references are one system under several names. If a block has several of them, their mean counts.
    """
    by_block: defaultdict[int, list[Values]] = defaultdict(list)
    for trial in trials:
        if trial.valid and trial.level in references:
            by_block[trial.block].append(_exact(trial))

    def added(trial: TrialSummary) -> TrialSummary:
        if not trial.valid or trial.level in references or not by_block[trial.block]:
            return trial
        pair = _exact(trial), mean_of(by_block[trial.block])
        found = {name: known(metric.compute, *pair) for name, metric in metrics.items()}
        new = {name: value for name, value in found.items() if value is not None}
        return trial.model_copy(update={"values": {**trial.values, **new}})

    return [added(trial) for trial in trials]


def _exact(trial: TrialSummary) -> Values:
    """Return the trial's values without those that are only bounds."""
    return {name: value for name, value in trial.values.items() if name not in trial.censored}


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
