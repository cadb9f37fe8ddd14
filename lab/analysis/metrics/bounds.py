"""Which values of a trial are only bounds of what was searched for, and which are kept in place of records. Pure."""

from collections.abc import Mapping
from typing import cast

from lab.contract import Metric
from lab.record import LOCAL, Censoring, Results, TrialData


def bounds(data: TrialData, metrics: Mapping[str, Metric]) -> dict[str, Censoring]:
    """Return what each value is a bound of, by its metric. Other programs say it of their results."""
    said = data.results.censored if data.has("results") else {}
    found = {name: metric.bound(data) for name, metric in metrics.items() if metric.bound}
    return {**said, **{name: bound for name, bound in found.items() if bound is not None}, **in_place(data).censored}


def in_place(data: TrialData) -> Results:
    """Return what a kept trial says in place of the records that it lacks."""
    return cast(Results, data.streams.get("kept", {}).get(LOCAL, Results(values={})))
