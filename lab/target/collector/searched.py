"""What a search found: the capacity of a Collector, and whether it was the Collector's. Pure."""

from collections.abc import Callable, Iterator
from functools import partial

from lab.analysis.metrics.window import cpu_cores, over
from lab.contract import Metric
from lab.record import Censoring, TrialData
from lab.record.search import ShortTrial

SECOND_NS = 1_000_000_000
# Of the CPUs of the generator and the sink. What they cannot do is not the Collector's limit.
INSTRUMENTS_FRACTION = 0.7


def search_ended(data: TrialData) -> Iterator[str]:
    """Reject searches that found no rate."""
    if data.search and data.search.stopped:
        yield f"no rate was found: {data.search.stopped}"


def deciding_trials_had_cpu(data: TrialData) -> Iterator[str]:
    """Reject searches whose generator and sink needed most of their CPUs in the trials that decided."""
    search = data.search
    for rate in filter(None, (search.low, search.high) if search else ()):
        deciding = search.at(rate) if search else []
        used = sum(one.duration_s * instruments_fraction(data, *_interval_ns(one)) for one in deciding)
        yield from too_busy(used / sum(one.duration_s for one in deciding), f" at {rate:.0f} traces/s")


def instruments_fraction(data: TrialData, start_ns: int, end_ns: int) -> float:
    """Return which share of their CPUs the generator and the sink used."""
    used = cpu_cores(over(data, start_ns, end_ns), data.trial.names("generator", "backend"))
    return used / len(data.trial.generator_cpus)


def too_busy(fraction: float, when: str) -> Iterator[str]:
    """Yield a reason if the generator and the sink used more of their CPUs than they may."""
    if fraction > INSTRUMENTS_FRACTION:
        yield (
            f"the generator and the sink used {fraction:.0%} of their CPUs{when} (limit {INSTRUMENTS_FRACTION:.0%}): "
            "the Collector may not have been the limit"
        )


def _interval_ns(trial: ShortTrial) -> tuple[int, int]:
    return trial.start_ns, trial.start_ns + round(trial.duration_s * SECOND_NS)


def _capacity(of: str) -> Callable[[TrialData], float | None]:
    """Return the rate that was found, of the `traces` or `spans` that were sent at it."""

    def compute(data: TrialData) -> float | None:
        if data.search is None or data.search.rate is None:
            return None
        trials = data.search.trials
        sent: int = sum(getattr(one, of) for one in trials)
        return data.search.rate * sent / sum(one.due for one in trials)

    return compute


def _bound(data: TrialData) -> Censoring | None:
    found = data.search
    return "at least" if found and found.low is not None and found.high is None else None


def _trials(data: TrialData) -> float | None:
    return len(data.search.trials) if data.search else None


def _lasted_s(data: TrialData) -> float | None:
    """Return how long the search took, from its first trial's start to its last one's end."""
    if data.search is None or not data.search.trials:
        return None
    trials = data.search.trials
    return (_interval_ns(trials[-1])[1] - trials[0].start_ns) / SECOND_NS


CAPACITY = partial(Metric, unit="1/s", better="higher", bound=_bound)
METRICS = (
    CAPACITY("capacity_traces_per_s", "Capacity, traces per second", compute=_capacity("traces")),
    CAPACITY("capacity_spans_per_s", "Capacity, spans per second", compute=_capacity("spans")),
    Metric("search_trials", "Trials of the search", "", compute=_trials),
    Metric("search_s", "Time of the search", "s", compute=_lasted_s),
)
