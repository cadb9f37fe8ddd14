"""What a level's trials say together: its share of something, all counted together, and values that are only bounds.

A value is a bound if the search for it ended without finding it (`TrialSummary.censored`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lab.analysis.stats.compare import Comparison
from lab.analysis.stats.intervals import Interval
from lab.analysis.stats.proportions import Count, Pooled, difference, pool
from lab.record import Censoring, TrialSummary

# Of the pooled intervals' dealing out at random: a share has one interval, wherever it is shown.
SEED = 1


def pooled_share(share_of: tuple[str, str], trials: Iterable[TrialSummary]) -> Pooled | None:
    """Pool what `trials` counted by the two metrics of `share_of`; None where none counted anything."""
    events, total = share_of
    counts = [
        Count(round(trial.values[events]), round(trial.values[total]))
        for trial in trials
        if events in trial.values and trial.values.get(total)
    ]
    return pool(counts, SEED) if counts else None


def share_interval(share_of: tuple[str, str], trials: Iterable[TrialSummary], confidence: float) -> Interval | None:
    """Return the share with its interval; None where nothing was counted.

    A level without an event has no spread between blocks, but its share is not known to be 0.
    """
    pooled = pooled_share(share_of, trials)
    if pooled is None:
        return None
    bounds = pooled.interval(confidence)
    return Interval(pooled.count.rate, bounds.low, bounds.high)


def by_counts(
    share_of: tuple[str, str],
    comparison: Comparison,
    level: Sequence[TrialSummary],
    baseline: Sequence[TrialSummary],
    confidence: float,
) -> Comparison:
    """Give a comparison of shares the interval of what both levels counted in the blocks that they share."""
    shared = {trial.block for trial in level} & {trial.block for trial in baseline}
    one, other = (pooled_share(share_of, (t for t in trials if t.block in shared)) for trials in (level, baseline))
    if one is None or other is None:
        return comparison
    bounds = difference(one, other, confidence)
    return replace(comparison, difference=replace(comparison.difference, low=bounds.low, high=bounds.high))


def censoring(metric: str, trials: Iterable[TrialSummary]) -> frozenset[Censoring]:
    """Return what the trials' values of a metric are bounds of: empty if all are exact.

    With one, the trials' mean is such a bound too. With both, it bounds nothing.
    """
    return frozenset(trial.censored[metric] for trial in trials if metric in trial.censored)


def opposite(found: Iterable[Censoring]) -> frozenset[Censoring]:
    """Return what a ratio or a difference is a bound of where values like `found` are subtracted or divided by."""
    return frozenset("at most" if bound == "at least" else "at least" for bound in found)
