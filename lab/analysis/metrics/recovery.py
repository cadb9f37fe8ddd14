"""What faults did to the requests: how soon they were served as before, and how many were lost (lab/stats/recovery.py).

Requests are taken by their intended start: in an open loop that is when their users wanted them.
"""

from collections.abc import Callable, Iterator, Sequence

from lab.analysis.stats.recovery import Recovery, outcomes, recovery
from lab.contract import Metric
from lab.record import NotDerivableError, TrialData

SECOND_NS = 1_000_000_000
WINDOW_NS = SECOND_NS
HOLD_NS = 3 * SECOND_NS


def recoveries(data: TrialData) -> Iterator[Recovery]:
    """Yield what became of the requests at each of the trial's faults.

    Raises `NotDerivableError` where too little of the trial lies before one.
    """
    requests = outcomes(data.requests.intended_ns, data.requests.end_ns, data.requests.status)
    for injection in data.injections:
        if injection.injected is None or injection.lifted is None:
            continue
        try:
            yield recovery(requests, injection.injected.begin_ns, injection.lifted.end_ns, WINDOW_NS, HOLD_NS)
        except ValueError as error:
            raise NotDerivableError(str(error)) from None


def _mean(of: Callable[[Recovery], float | None]) -> Callable[[TrialData], float | None]:
    """Measure the mean over a trial's faults of what is known; None without any."""

    def compute(data: TrialData) -> float | None:
        known: Sequence[float] = [value for one in recoveries(data) if (value := of(one)) is not None]
        return sum(known) / len(known) if known else None

    return compute


METRICS = (
    Metric(
        "recovery_s",
        "Time to recover after a fault, where that was seen",
        "s",
        compute=_mean(lambda one: None if one.after_ns is None else one.after_ns / SECOND_NS),
    ),
    Metric(
        "recovered_fraction",
        "Faults after which requests were seen to be served as before",
        "fraction",
        "higher",
        compute=_mean(lambda one: float(one.after_ns is not None)),
    ),
    Metric(
        "requests_lost",
        "Requests lost to a fault: failed beyond the usual",
        "",
        compute=_mean(lambda one: one.lost),
    ),
    Metric(
        "requests_unasked",
        "Requests not sent because users waited during a fault",
        "",
        compute=_mean(lambda one: one.unasked),
    ),
)
