"""What the summary does not hold: a level's values block by block, to compare any level with any other."""

from collections.abc import Sequence

from lab.analysis.pooled import censoring
from lab.record import Summary


def by_block(summary: Summary, level: str, *metrics: str) -> dict[int, float]:
    """Return the sum of the metrics in each valid trial of a level that has them all, by block.

    Nothing if a trial's value is only a bound: exact comparisons cannot be made with it.
    """
    trials = [trial for trial in summary.trials if trial.valid and trial.level == level]
    if any(censoring(metric, trials) for metric in metrics):
        return {}
    return {
        trial.block: sum(trial.values[metric] for metric in metrics)
        for trial in trials
        if all(metric in trial.values for metric in metrics)
    }


def having(summary: Summary, levels: Sequence[str], *metrics: str) -> bool:
    """Whether some trial of one of the levels has all the metrics."""
    return any(by_block(summary, level, *metrics) for level in levels)
