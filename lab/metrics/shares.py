"""A level's share of something, all its trials counted together."""

from collections.abc import Iterable

from lab.records import TrialSummary
from lab.stats.proportions import Count, Pooled, pool

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
