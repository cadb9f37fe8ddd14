"""The two-sample t tests, as the sidecar study used one: with the assumptions of each.

The lab itself compares pairs within blocks (`compare`). These let a report show the study's own test
as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import scipy

BOTH = (
    "each value is a run, and runs do not influence each other",
    "what the runs of one side share, such as the state of the machine at the time, does not differ between the sides",
    "the means of the runs are normally distributed, which a latency's tail can spoil where runs are few",
    "a large p value says that these runs are inconclusive, not that there is no difference: "
    "the interval says how large it may be",
)
ASSUMPTIONS = {
    "student": (*BOTH, "the runs of both sides vary alike"),
    "welch": BOTH,
}


@dataclass(frozen=True)
class TTest:
    """A t test that two sides have the same mean.

    `difference` (of `one`'s mean less `other`'s) and its interval are in the values' unit.
    """

    n: tuple[int, int]
    difference: float
    low: float
    high: float
    p_value: float


def student(one: Sequence[float], other: Sequence[float], confidence: float) -> TTest:
    """Test with a common variance (Student, 1908); raises `ValueError` for fewer than 2 runs a side, or no spread."""
    return _test(one, other, confidence, equal_variances=True)


def welch(one: Sequence[float], other: Sequence[float], confidence: float) -> TTest:
    """Test with a variance for each side (Welch, 1947); raises `ValueError` as `student` does."""
    return _test(one, other, confidence, equal_variances=False)


def _test(one: Sequence[float], other: Sequence[float], confidence: float, equal_variances: bool) -> TTest:
    n = len(one), len(other)
    if min(n) < 2:
        raise ValueError(f"a t test needs at least 2 runs on each side, not {n[0]} and {n[1]}")
    if len(set(one)) == len(set(other)) == 1:
        raise ValueError("a t test needs runs that vary, on one side at least")
    found = scipy.stats.ttest_ind(one, other, equal_var=equal_variances)
    low, high = map(float, found.confidence_interval(confidence))
    return TTest(n, (low + high) / 2, low, high, float(found.pvalue))
