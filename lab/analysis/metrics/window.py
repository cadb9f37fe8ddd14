"""What all metrics are made of: requests, counters and gauges of a trial's window."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

import numpy as np

from lab.contract import Metric, PairedMetric
from lab.record import Fields, NotDerivableError, Requests, Series, TrialData, Window, ended_on_purpose


def known(compute: Callable[..., float | None], *of: object) -> float | None:
    """Return what a metric's function computes; None where there is nothing of the kind or the records do not say."""
    try:
        value = compute(*of)
    except (NotDerivableError, KeyError):
        return None
    return float(value) if value is not None and np.isfinite(value) else None


def all_known(metrics: Mapping[str, Metric] | Mapping[str, PairedMetric], *of: object) -> dict[str, float]:
    """Return what each metric's function computes, by name, where it computes something."""
    found = {name: known(metric.compute, *of) for name, metric in metrics.items()}
    return {name: value for name, value in found.items() if value is not None}


def over(data: TrialData, start_ns: int, end_ns: int) -> TrialData:
    """Return the trial with another time as its window."""
    window = Window(load_start_ns=data.trial.load_start_ns, start_ns=start_ns, end_ns=end_ns)
    return replace(data, trial=data.trial.model_copy(update={"window": window}))


def window_requests(data: TrialData) -> Requests:
    """Return the requests that ended in the trial's window."""
    return data.requests.ended_in(data.trial.window_start_ns, data.trial.window_end_ns)


def load_requests(data: TrialData) -> Requests:
    """Return the requests of the trial's load. A warm-up that is a load of its own came before it."""
    return data.requests.started_since(data.trial.load_start_ns)


def served(data: TrialData) -> float:
    """Return how many requests the window served, those at its edges by the share of their time inside."""
    return data.requests.served_in(data.trial.window_start_ns, data.trial.window_end_ns)


def per_request(data: TrialData, amount: float) -> float:
    """Divide what the window took by the requests that it served."""
    count = served(data)
    if count == 0:
        raise NotDerivableError("no request was served in the window")
    return amount / count


def increase(data: TrialData, group: Mapping[str, Fields], names: Iterable[str], *fields: str) -> float:
    """Return by how much counters of a group (containers or JVMs) grew in the window, in all."""
    return sum(grown(data, name, group[name][field]) for name in names for field in fields)


def grown(data: TrialData, name: str, counter: Series) -> float:
    """Return by how much a counter of the container `name` grew in the window.

    If a fault ended its process, the counter restarted; what it counted after its last sample is missing.
    """
    if name in ended_on_purpose(data.injections):
        counter = counter.continued()
    return in_window(data, counter)


def in_window(data: TrialData, counter: Series) -> float:
    """Return by how much a counter grew in the window."""
    return counter.increase(data.trial.window_start_ns, data.trial.window_end_ns, data.trial.window_apart)


def mean(data: TrialData, group: Mapping[str, Fields], names: Iterable[str], field: str) -> float:
    """Return the mean of a gauge's samples in the window, added up over a group's members."""
    window = data.trial.window_start_ns, data.trial.window_end_ns
    return float(sum(group[name][field].within(*window).values.mean() for name in names))


def cpu_cores(data: TrialData, names: Iterable[str]) -> float:
    """Return how many cores containers kept busy over the window, on average."""
    used_ns = increase(data, data.counters.containers, names, "cpu_usage_ns")
    return used_ns / (data.trial.window_end_ns - data.trial.window_start_ns)
