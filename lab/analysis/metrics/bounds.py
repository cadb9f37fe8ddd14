"""Which values of a trial are only bounds of what was searched for. Pure."""

from collections.abc import Mapping

from lab.contract import Metric
from lab.record import Censoring, TrialData


def bounds(data: TrialData, metrics: Mapping[str, Metric]) -> dict[str, Censoring]:
    """Return what each value is a bound of, by its metric. Other programs say it of their results."""
    said = data.results.censored if data.has("results") else {}
    found = {name: metric.bound(data) for name, metric in metrics.items() if metric.bound}
    return {**said, **{name: bound for name, bound in found.items() if bound is not None}, **data.kept.censored}
