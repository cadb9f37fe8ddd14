"""What failed at each level, all its valid trials together."""

from collections.abc import Mapping

from lab.analysis.metrics.requests import FAILED
from lab.analysis.pooled import pooled_share
from lab.analysis.stats.proportions import Pooled
from lab.record import Summary


def failed(summary: Summary) -> Mapping[str, Pooled]:
    """Count requests and failures of every level that has a valid trial with both."""
    valid = [trial for trial in summary.trials if trial.valid]
    of_level = {level: [trial for trial in valid if trial.level == level] for level in summary.levels}
    pooled = {level: pooled_share(FAILED, trials) for level, trials in of_level.items()}
    return {level: found for level, found in pooled.items() if found is not None}
