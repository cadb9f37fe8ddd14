"""The two-sample t tests, as the sidecar study used one: with the assumptions of each.

The lab itself compares pairs within blocks (`compare`). These let a report show the study's own test
as well.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import scipy

Kind = Literal["student", "welch"]

BOTH = (
    "each value is a run, and runs do not influence each other",
    "what the runs of one side share, such as the state of the machine at the time, does not differ between the sides",
    "the means of the runs are normally distributed, which a latency's tail can spoil where runs are few",
    "a large p value says that these runs are inconclusive, not that there is no difference: "
    "the interval says how large it may be",
)
ASSUMPTIONS: dict[Kind, tuple[str, ...]] = {
    "student": (*BOTH, "the runs of both sides vary alike"),
    "welch": BOTH,
}


@dataclass(frozen=True)
class TTest:
    """A t test that two sides have the same mean.

    `difference` (of `one`'s mean less `other`'s) and its interval are in the values' unit; `freedom` is Student's
    degrees of freedom. `assumptions` are sentences for a report.
    """

    kind: Kind
    n: tuple[int, int]
    difference: float
    low: float
    high: float
    t: float
    freedom: float
    p_value: float
    assumptions: tuple[str, ...]


def student(one: Sequence[float], other: Sequence[float], confidence: float) -> TTest:
    """Test with a common variance (Student, 1908); raises `ValueError` for fewer than 2 runs a side, or no spread."""
    return _test("student", one, other, confidence)


def welch(one: Sequence[float], other: Sequence[float], confidence: float) -> TTest:
    """Test with a variance for each side (Welch, 1947); raises `ValueError` as `student` does."""
    return _test("welch", one, other, confidence)


def _test(kind: Kind, one: Sequence[float], other: Sequence[float], confidence: float) -> TTest:
    n = len(one), len(other)
    if min(n) < 2:
        raise ValueError(f"a t test needs at least 2 runs on each side, not {n[0]} and {n[1]}")
    if len(set(one)) == len(set(other)) == 1:
        raise ValueError("a t test needs runs that vary, on one side at least")
    found = scipy.stats.ttest_ind(one, other, equal_var=kind == "student")
    interval = found.confidence_interval(confidence)
    low, high = float(interval.low), float(interval.high)
    t, freedom, p_value = float(found.statistic), float(found.df), float(found.pvalue)
    return TTest(kind, n, (low + high) / 2, low, high, t, freedom, p_value, ASSUMPTIONS[kind])
