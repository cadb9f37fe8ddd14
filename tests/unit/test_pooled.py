"""Shares of what several trials counted together."""

import pytest

from lab.analysis.metrics.requests import FAILED
from lab.analysis.pooled import by_counts
from lab.analysis.stats.compare import compare
from lab.record.summary import TrialSummary


def trial(block: int, failed: int, of: int) -> TrialSummary:
    values = dict(zip(FAILED, (failed, of), strict=True))
    return TrialSummary(trial=f"{block}", level="x", block=block, valid=True, reasons=[], values=values)


def test_the_difference_is_that_of_the_pooled_shares() -> None:
    """The mean of the blocks' differences would be 0.15."""
    level, baseline = [trial(0, 9, 30), trial(1, 0, 1000)], [trial(0, 0, 30), trial(1, 0, 1000)]
    found = by_counts(FAILED, compare([(0.3, 0.0), (0.0, 0.0)], 0.95, 1), level, baseline, 0.95).difference
    assert found.mean == pytest.approx(9 / 1030)
    assert found.low is not None
    assert found.high is not None
    assert found.low < found.mean < found.high
