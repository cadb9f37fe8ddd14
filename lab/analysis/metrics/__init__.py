"""Metrics, each computed from one trial's records over its window. A target chooses which of them it has.

Paired metrics need two trials: a level's values are compared with those of its references in the same block.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence

from lab.analysis.metrics.bounds import in_place
from lab.analysis.metrics.speed import as_measured
from lab.analysis.metrics.window import all_known
from lab.analysis.stats import mean_of
from lab.contract import Judgement, Measure, Metric, PairedMetric, Values
from lab.record import TrialData, TrialSummary


def measures(judgement: Judgement) -> dict[str, Measure]:
    """Return all that a target's trial may have a value of, by name."""
    return {**judgement.metrics, **judgement.paired, **as_measured(judgement.metrics)}


def values(data: TrialData, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Return every metric that the trial's records allow, by name. A kept trial says those of the records it lacks."""
    return {**all_known(metrics, data), **in_place(data).values}


def with_paired_values(
    trials: Sequence[TrialSummary], references: Collection[str], metrics: Mapping[str, PairedMetric]
) -> list[TrialSummary]:
    """Add the paired metrics to the values of each valid trial whose block has a valid one of the `references`.

    The references are one system under several names. If a block has several of them, their mean counts.
    """
    by_block: defaultdict[int, list[Values]] = defaultdict(list)
    for trial in trials:
        if trial.counts and trial.level in references:
            by_block[trial.block].append(_exact(trial))

    def added(trial: TrialSummary) -> Mapping[str, float]:
        if not trial.counts or trial.level in references or not by_block[trial.block]:
            return {}
        return all_known(metrics, _exact(trial), mean_of(by_block[trial.block]))

    return [trial.model_copy(update={"values": {**trial.values, **added(trial)}}) for trial in trials]


def _exact(trial: TrialSummary) -> Values:
    """Return the trial's values without those that are only bounds."""
    return {name: value for name, value in trial.values.items() if name not in trial.censored}
