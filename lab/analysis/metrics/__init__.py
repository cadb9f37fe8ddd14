"""Metrics, each computed from one trial's records over its window. A target chooses which of them it has."""

from collections.abc import Mapping

import numpy as np

from lab.analysis.metrics.adjusted import AS_MEASURED
from lab.contract import Judgement, Measure, Metric
from lab.record import NotDerivableError, TrialData


def measures(judgement: Judgement) -> dict[str, Measure]:
    """Return all that a target's trial may have a value of, by name."""
    return {**judgement.metrics, **judgement.paired, **AS_MEASURED}


def values(data: TrialData, metrics: Mapping[str, Metric]) -> dict[str, float]:
    """Return every metric that the trial's records allow, by name."""
    found = {}
    for metric in metrics.values():
        try:
            value = metric.compute(data)
        except (NotDerivableError, KeyError):
            continue
        if value is not None and np.isfinite(value):
            found[metric.name] = float(value)
    return found
