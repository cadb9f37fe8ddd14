"""What a fault did to the requests: how long until they were served as before, and how many were lost.

Requests are taken by their start, when users sent them: pass the intended start to see what users
of an open loop saw.
"""

from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from lab.analysis.stats.proportions import Count, clopper_pearson

SERVED = 200
# A window is looked at every so many parts of its width: the resolution of the time to recover.
PARTS = 10
# The latency that a twentieth of the requests exceed: the 95th percentile.
SLOW_PERCENT = 95
# How unlikely a window must be to count as not as before. Dozens of windows are looked at.
UNLIKELY = 0.001
# With fewer, a 95th percentile is a guess.
REQUESTS_BEFORE = 100

IntArray = NDArray[np.int64]


@dataclass(frozen=True)
class Outcomes:
    """Requests in order of their start: start (Unix ns), latency (ns), and whether it failed or had no answer."""

    start_ns: IntArray
    latency_ns: IntArray
    failed: NDArray[np.bool_]


@dataclass(frozen=True)
class Before:
    """How requests were served before the fault.

    `failed` is of all requests. `usual_failed` and `usual_slow` are the shares of a window's requests that are no more
    than before (slow: over `slow_ns`, the 95th percentile). `fewest`: how many were sent in the window with the fewest.
    """

    slow_ns: float
    failed: Count
    usual_failed: float
    usual_slow: float
    fewest: int
    requests_per_s: float


@dataclass(frozen=True)
class Recovery:
    """When requests were served as before, and what users did not get until one window later, or else until the end.

    `after_ns`: from the fault's end until requests were served as before; None where that was not seen. `lost`: how
    many more failed or had no answer than at the share that failed before, those still open when the fault began
    among them. `unasked`: how many fewer were sent than at the rate before: a closed loop's users wait, and so lose
    requests that never fail.
    """

    after_ns: int | None
    lost: float
    unasked: float


def outcomes(start_ns: ArrayLike, end_ns: ArrayLike, status: ArrayLike) -> Outcomes:
    """Make outcomes of a trial's columns, in any order."""
    start, end, code = (np.asarray(column, dtype=np.int64) for column in (start_ns, end_ns, status))
    order = np.argsort(start, kind="stable")
    return Outcomes(start[order], (end - start)[order], code[order] != SERVED)


def recovery(requests: Outcomes, fault_start_ns: int, fault_end_ns: int, window_ns: int, hold_ns: int) -> Recovery:
    """Return when requests were served as before the fault, and what was lost until then.

    The time to recover runs from the fault's end to the first moment from which on a sliding window of `window_ns`
    stays in the band of before for `hold_ns`. So Brown and Patterson measure it (2000, "Towards availability
    benchmarks": quality of service over time, and when it is back in the band of normal behaviour); what normal is, is
    taken from the trial itself, as the steady state of Basiri et al. (2016, "Chaos engineering").

    In the band is a window in which neither more requests failed nor more were slow nor fewer were sent than chance
    would have it where the worst window before the fault is usual. (Slow are over a twentieth exactly where the
    window's 95th percentile is over the one of before. Few are sent where users still wait.) A window that begins just
    before the recovery hardly differs from one after it: `after_ns` may be a tenth of a window late, and early by the
    share of a window that chance allows, a tenth to a third.

    Raises `ValueError` where fewer than 100 requests ended before the fault, or none was sent in a window there.
    """
    before = _before(requests, fault_start_ns, window_ns)
    after_ns = _recovered_after(requests, before, fault_end_ns, window_ns, hold_ns)
    last_ns = int(requests.start_ns[-1])
    until_ns = max(last_ns, fault_end_ns) if after_ns is None else fault_end_ns + after_ns + window_ns
    begun = requests.start_ns <= until_ns
    hit = _part(requests, begun & (requests.start_ns + requests.latency_ns >= fault_start_ns))
    usual = before.requests_per_s * (until_ns - fault_start_ns) / 1e9
    return Recovery(
        after_ns,
        lost=int(hit.failed.sum()) - len(hit.start_ns) * before.failed.rate,
        unasked=usual - int(np.sum(begun & (requests.start_ns >= fault_start_ns))),
    )


def _before(requests: Outcomes, fault_start_ns: int, window_ns: int) -> Before:
    done = _part(requests, requests.start_ns + requests.latency_ns < fault_start_ns)
    total = len(done.start_ns)
    if total < REQUESTS_BEFORE:
        raise ValueError(f"{total} requests ended before the fault (at least {REQUESTS_BEFORE} are needed)")
    slow_ns = float(np.percentile(done.latency_ns, SLOW_PERCENT))
    first_ns = int(done.start_ns[0])
    sent, failed, slow = _windows(done, slow_ns, first_ns, fault_start_ns - window_ns, window_ns)
    if not np.any(sent):
        raise ValueError("no complete window lies before the fault")
    counts = [Count(int(mask.sum()), total) for mask in (done.failed, done.latency_ns > slow_ns)]
    # Events may come in bursts, which the worst window shows; where there were hardly any, it shows too little, and the
    # upper bound of the share before takes its place.
    usual_failed, usual_slow = (
        max(float((events[sent > 0] / sent[sent > 0]).max()), clopper_pearson(count, 0.95).high)
        for events, count in zip((failed, slow), counts, strict=True)
    )
    return Before(
        slow_ns,
        counts[0],
        usual_failed,
        usual_slow,
        int(sent.min()),
        float(np.sum(requests.start_ns < fault_start_ns)) / ((fault_start_ns - first_ns) / 1e9),
    )


def _recovered_after(requests: Outcomes, before: Before, fault_end_ns: int, window_ns: int, hold_ns: int) -> int | None:
    step_ns = window_ns // PARTS
    last_ns = int(requests.start_ns[-1]) - window_ns
    sent, failed, slow = _windows(requests, before.slow_ns, fault_end_ns, last_ns, window_ns)
    in_band = (
        (sent > 0)
        & (scipy.stats.poisson.cdf(sent, before.fewest) > UNLIKELY)
        & (scipy.stats.binom.sf(failed - 1, sent, before.usual_failed) > UNLIKELY)
        & (scipy.stats.binom.sf(slow - 1, sent, before.usual_slow) > UNLIKELY)
    )
    held, wanted = 0, hold_ns // step_ns + 1
    for index, inside in enumerate(in_band):
        held = held + 1 if inside else 0
        if held == wanted:
            return (index + 1 - wanted) * step_ns
    return None


def _part(requests: Outcomes, mask: NDArray[np.bool_]) -> Outcomes:
    return Outcomes(requests.start_ns[mask], requests.latency_ns[mask], requests.failed[mask])


def _windows(
    requests: Outcomes, slow_ns: float, first_ns: int, last_ns: int, window_ns: int
) -> tuple[IntArray, IntArray, IntArray]:
    """Return how many requests were sent, failed and slow in each window that begins from `first_ns` to `last_ns`."""
    begins = np.arange(first_ns, last_ns + 1, window_ns // PARTS, dtype=np.int64)
    edges = np.searchsorted(requests.start_ns, (begins, begins + window_ns))
    sent, failed, slow = (
        np.diff(np.concatenate(([0], np.cumsum(mask)))[edges], axis=0)[0]
        for mask in (np.ones(len(requests.start_ns), dtype=bool), requests.failed, requests.latency_ns > slow_ns)
    )
    return sent, failed, slow
