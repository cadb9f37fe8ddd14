"""What is required of a streaming tracer in a system: the rows of `lab check span-pipeline`. Pure.

The levels are those of experiments/span-pipeline.yaml.
"""

import numpy as np

from lab.analysis.checklist import MISSING, Row, above, at_most
from lab.analysis.claims.evidence import evidence
from lab.analysis.stats.intervals import Interval
from lab.errors import UserError
from lab.record import Summary

QUESTION = "Does a streaming tracer save a system as much as is required?"
COST, LOST = "cpu_per_request_services_ms", "spans_lost_fraction"
STREAMING, SDK, UNSAMPLED = "streaming-sink", "manual-sink", "manual-unsampled"
LEVELS = (STREAMING, SDK, UNSAMPLED)

# Issue 23: of what the SDK adds over itself unsampled, so much is gone; and every span arrives.
LEAST_GONE = 0.5
# A request under way at the load's end is counted on one side only.
MOST_LOST_PERCENT = 0.1


def required(summary: Summary, seed: int) -> list[Row]:
    """Judge a run. `seed`: of the experiment, for intervals. Raises `UserError` if it lacks one of the levels."""
    if missing := [level for level in LEVELS if level not in summary.levels]:
        raise UserError(f"this run has no level {', '.join(missing)}", "name a run of `lab experiment span-pipeline`")
    return [above("gone of what the SDK adds to unsampled", _gone(summary, seed), LEAST_GONE), _lost(summary)]


def _gone(summary: Summary, seed: int) -> Interval | None:
    """Return the share that is gone, with Fieller's interval; None without blocks that have all levels."""
    by_block: dict[int, dict[str, float]] = {}
    for trial in summary.trials:
        if trial.counts and trial.level in LEVELS and COST in trial.values:
            by_block.setdefault(trial.block, {})[trial.level] = trial.values[COST]
    blocks = [[costs[level] for level in LEVELS] for costs in by_block.values() if len(costs) == len(LEVELS)]
    if len(blocks) < 2:
        return None
    found = evidence("overhead ratio", np.array(blocks), seed, summary.block_correlation.get(COST, 0.0))
    if found.estimate is None:
        return None
    low, high = found.interval(summary.confidence) or (None, None)
    return Interval(1 - found.estimate, None if high is None else 1 - high, None if low is None else 1 - low)


def _lost(summary: Summary) -> Row:
    """Judge the largest share of lost spans over the trials of the streaming tracer. It fails where none is known."""
    lost = [one.values[LOST] for one in summary.trials if one.counts and one.level == STREAMING and LOST in one.values]
    name = f"spans lost, {STREAMING}"
    if not lost:
        return Row(name, MISSING, f"at most {MOST_LOST_PERCENT:g} %", "FAIL")
    return at_most(name, 100 * max(lost), MOST_LOST_PERCENT, " %")
