"""Metrics, each computed from one trial's records over its window. A target chooses which of them it has."""

from collections.abc import Mapping

from lab.analysis.metrics.adjusted import AS_MEASURED
from lab.analysis.metrics.window import known
from lab.contract import Judgement, Measure, Metric
from lab.record import TrialData


def measures(judgement: Judgement) -> dict[str, Measure]:
    """Return all that a target's trial may have a value of, by name."""
    return {**judgement.metrics, **judgement.paired, **AS_MEASURED}


def values(data: TrialData, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Return every metric that the trial's records allow, by name."""
    found = {name: known(metric.compute, data) for name, metric in metrics.items()}
    return {name: value for name, value in found.items() if value is not None}
