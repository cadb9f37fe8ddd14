"""What failed at each level, all its valid trials together."""

from collections.abc import Mapping

from lab.records import Summary, TrialSummary
from lab.stats.proportions import Count, Pooled, pool

# The pooled intervals' dealing out at random: the same page each time.
SEED = 1


def failed(summary: Summary) -> Mapping[str, Pooled]:
    """Count requests and failures of every level that has a valid trial with both."""
    counts: dict[str, list[Count]] = {}
    for trial in summary.trials:
        if trial.valid and "requests_failed" in trial.values:
            counts.setdefault(trial.level, []).append(_count(trial))
    return {level: pool(counts[level], SEED) for level in summary.levels if level in counts}


def _count(trial: TrialSummary) -> Count:
    return Count(round(trial.values["requests_failed"]), round(trial.values["requests"]))
