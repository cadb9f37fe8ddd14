"""What is measured: one registry of metrics, each computed from one trial's records over its window."""

import numpy as np

from lab.analysis.metrics import errors, jvm, latency, recovery, resources, sidecars, speed, telemetry, traffic
from lab.analysis.metrics.adjusted import AS_MEASURED, Pieces, pieces, with_adjusted_values
from lab.analysis.metrics.metric import Measure, Metric
from lab.analysis.metrics.paired import PAIRED, with_paired_values
from lab.analysis.metrics.window import cpu_cores, window_requests
from lab.record.records import TrialData
from lab.record.series import NotDerivableError

__all__ = [
    "MEASURES",
    "METRICS",
    "Measure",
    "Metric",
    "Pieces",
    "cpu_cores",
    "pieces",
    "values",
    "window_requests",
    "with_adjusted_values",
    "with_paired_values",
]

METRICS: dict[str, Metric] = {
    metric.name: metric
    for module in (resources, latency, errors, recovery, sidecars, traffic, jvm, telemetry, speed)
    for metric in module.METRICS
}
"""What a trial's records alone give."""

MEASURES: dict[str, Measure] = {**METRICS, **PAIRED, **AS_MEASURED}
"""All that a trial may have a value of."""


def values(data: TrialData) -> dict[str, float]:
    """Return every metric that the trial's records allow, by name."""
    found = {}
    for metric in METRICS.values():
        try:
            value = metric.compute(data)
        except (NotDerivableError, KeyError):
            continue
        if value is not None and np.isfinite(value):
            found[metric.name] = float(value)
    return found
