"""What a search found: the capacity of what takes the traces, and whether it was not the generator's. Pure."""

from collections.abc import Callable, Iterator
from functools import partial
from typing import cast

from lab.contract import Metric
from lab.record import LOCAL, SECOND_NS, Censoring, TrialData
from lab.record.search import Search, ShortTrial
from lab.target import generated


def search_of(data: TrialData) -> Search | None:
    """Return the search for a rate that the trial was; None if it was none."""
    return cast(Search | None, data.streams.get("search", {}).get(LOCAL))


def search_ended(data: TrialData) -> Iterator[str]:
    """Reject searches that found no rate."""
    if (search := search_of(data)) and search.stopped:
        yield f"no rate was found: {search.stopped}"


def deciding_trials_had_cpu(data: TrialData) -> Iterator[str]:
    """Reject searches whose generator and sink needed most of their CPUs in the trials that decided."""
    search = search_of(data)
    for rate in filter(None, (search.low, search.high) if search else ()):
        deciding = search.at(rate) if search else []
        used = sum(one.duration_s * generated.instruments_fraction(data, *_interval_ns(one)) for one in deciding)
        fraction = used / sum(one.duration_s for one in deciding)
        yield from generated.too_busy(data, fraction, f" at {rate:.0f} traces/s")


def _interval_ns(trial: ShortTrial) -> tuple[int, int]:
    return trial.start_ns, trial.start_ns + round(trial.duration_s * SECOND_NS)


def _capacity(of: str) -> Callable[[TrialData], float | None]:
    """Return the rate that was found, of the `traces` or `spans` that were sent at it."""

    def compute(data: TrialData) -> float | None:
        search = search_of(data)
        if search is None or search.rate is None:
            return None
        sent: int = sum(getattr(one, of) for one in search.trials)
        return search.rate * sent / sum(one.due for one in search.trials)

    return compute


def _bound(data: TrialData) -> Censoring | None:
    found = search_of(data)
    return "at least" if found and found.low is not None and found.high is None else None


def _trials(data: TrialData) -> float | None:
    return len(search.trials) if (search := search_of(data)) else None


def _lasted_s(data: TrialData) -> float | None:
    """Return how long the search took, from its first trial's start to its last one's end."""
    search = search_of(data)
    if search is None or not search.trials:
        return None
    return (_interval_ns(search.trials[-1])[1] - search.trials[0].start_ns) / SECOND_NS


CAPACITY = partial(Metric, unit="1/s", better="higher", bound=_bound)
METRICS = (
    CAPACITY("capacity_traces_per_s", "Capacity, traces per second", compute=_capacity("traces")),
    CAPACITY("capacity_spans_per_s", "Capacity, spans per second", compute=_capacity("spans")),
    Metric("search_trials", "Trials of the search", "", compute=_trials),
    Metric("search_s", "Time of the search", "s", compute=_lasted_s),
)
