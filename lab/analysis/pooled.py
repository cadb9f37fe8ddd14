"""What a level's trials say together: block by block, all counted together, and where values are only bounds.

A value is a bound if the search for it ended without finding it (`TrialSummary.censored`).
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from lab.analysis.metrics.requests import FAILED
from lab.analysis.stats import Comparison, Count, Interval, Pooled, difference, pool
from lab.record import Censoring, Summary, TrialSummary

# Of the pooled intervals' dealing out at random: a share has one interval, wherever it is shown.
SEED = 1


def by_block(summary: Summary, level: str, *metrics: str) -> dict[int, float]:
    """Return the sum of the metrics in each valid trial of a level that has them all, by block.

    Nothing if a trial's value is only a bound: exact comparisons cannot be made with it.
    """
    trials = [trial for trial in summary.trials if trial.counts and trial.level == level]
    if any(censoring(metric, trials) for metric in metrics):
        return {}
    return {
        trial.block: sum(trial.values[metric] for metric in metrics)
        for trial in trials
        if all(metric in trial.values for metric in metrics)
    }


def failed(summary: Summary) -> Mapping[str, Pooled]:
    """Count requests and failures of every level that has a valid trial with both."""
    valid = [trial for trial in summary.trials if trial.counts]
    of_level = {level: [trial for trial in valid if trial.level == level] for level in summary.levels}
    pooled = {level: pooled_share(FAILED, trials) for level, trials in of_level.items()}
    return {level: found for level, found in pooled.items() if found is not None}


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
    """Give a comparison of shares the difference of what both levels counted in the blocks that they share."""
    shared = {trial.block for trial in level} & {trial.block for trial in baseline}
    one, other = (pooled_share(share_of, (t for t in trials if t.block in shared)) for trials in (level, baseline))
    if one is None or other is None:
        return comparison
    bounds = difference(one, other, confidence)
    gap = one.count.rate - other.count.rate
    return replace(comparison, difference=replace(comparison.difference, mean=gap, low=bounds.low, high=bounds.high))


def censoring(metric: str, trials: Iterable[TrialSummary]) -> frozenset[Censoring]:
    """Return what the trials' values of a metric are bounds of: empty if all are exact.

    With one, the trials' mean is such a bound too. With both, it bounds nothing.
    """
    return frozenset(trial.censored[metric] for trial in trials if metric in trial.censored)


def opposite(found: Iterable[Censoring]) -> frozenset[Censoring]:
    """Return what a ratio or a difference is a bound of where values like `found` are subtracted or divided by."""
    return frozenset("at most" if bound == "at least" else "at least" for bound in found)
