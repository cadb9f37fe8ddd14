"""The statistics' building blocks, against values known from elsewhere."""

import numpy as np
import pytest
from scipy import stats

from lab.analysis.stats.compare import Comparison, compare, holm, paired
from lab.analysis.stats.intervals import Interval, bootstrap_standard_error, mean_interval

VALUES = [4.1, 3.7, 5.2, 4.4, 4.9]


def test_holm_adjusts_as_in_a_worked_example() -> None:
    adjusted = holm({"a": 0.01, "b": 0.04, "c": 0.03, "d": 0.005})
    assert adjusted == pytest.approx({"d": 0.02, "a": 0.03, "c": 0.06, "b": 0.06})


def test_holm_never_exceeds_one_and_takes_nothing() -> None:
    assert holm({"a": 0.9, "b": 0.8}) == {"a": 1.0, "b": 1.0}
    assert holm({}) == {}


def test_the_bootstraps_standard_error_is_that_of_the_mean() -> None:
    assert bootstrap_standard_error(VALUES, seed=1) == pytest.approx(stats.sem(VALUES), rel=0.03)


def test_the_interval_is_close_to_students() -> None:
    interval = mean_interval(VALUES, 0.95, seed=1)
    low, high = stats.t.interval(0.95, len(VALUES) - 1, np.mean(VALUES), stats.sem(VALUES))
    assert (interval.low, interval.high) == pytest.approx((low, high), rel=0.01)


def test_the_p_value_is_under_alpha_exactly_where_the_interval_leaves_out_zero() -> None:
    rng = np.random.default_rng(5)
    seen = set()
    for values in rng.normal(1, 1, (200, 4)):
        interval = mean_interval(values, 0.95, seed=1)
        assert interval.low is not None and interval.high is not None and interval.p_value is not None
        different = interval.low > 0 or interval.high < 0
        assert different == (interval.p_value < 0.05)
        seen.add(different)
    assert seen == {True, False}


def test_the_same_seed_gives_the_same_interval_and_another_a_slightly_different_one() -> None:
    assert mean_interval(VALUES, 0.95, seed=7) == mean_interval(VALUES, 0.95, seed=7)
    assert mean_interval(VALUES, 0.95, seed=7) != mean_interval(VALUES, 0.95, seed=8)


def test_one_block_has_a_mean_and_no_interval() -> None:
    assert mean_interval([3.0], 0.95, seed=1) == Interval(3.0, None, None, None)


def test_no_block_is_an_error() -> None:
    with pytest.raises(ValueError, match="at least 1 block"):
        mean_interval([], 0.95, seed=1)


def test_blocks_without_any_spread_are_certain() -> None:
    assert mean_interval([0.0, 0.0, 0.0], 0.95, seed=1) == Interval(0.0, 0.0, 0.0, 1.0)
    assert mean_interval([2.0, 2.0, 2.0], 0.95, seed=1) == Interval(2.0, 2.0, 2.0, 0.0)


def test_only_blocks_with_both_trials_make_a_pair() -> None:
    assert paired({0: 1.0, 1: 2.0, 3: 4.0}, {1: 20.0, 2: 30.0, 3: 40.0}) == [(2.0, 20.0), (4.0, 40.0)]


def test_what_a_block_shares_cancels() -> None:
    compared = compare([(13.0, 10.0), (130.0, 100.0), (1.3, 1.0)], 0.95, seed=1)
    assert compared.ratio is not None
    assert (compared.ratio.mean, compared.ratio.low, compared.ratio.high) == pytest.approx((1.3, 1.3, 1.3))


def test_a_baseline_of_zero_has_a_difference_and_no_ratio() -> None:
    compared = compare([(100.0, 0.0), (101.0, 0.0), (99.0, 0.0)], 0.95, seed=1)
    assert compared.ratio is None
    assert compared.difference.mean == pytest.approx(100)
    assert compared.finding(compared.p_value, 0.05, 0.05) == "higher"


def comparison(low: float | None, high: float | None) -> Comparison:
    return Comparison(5, Interval(1.0, low, high, 0.01), Interval(0.0))


@pytest.mark.parametrize(
    ("low", "high", "p_adjusted", "expected"),
    [
        (1.02, 1.10, 0.01, "higher"),
        (0.90, 0.98, 0.01, "lower"),
        (1.02, 1.10, 0.20, "inconclusive"),  # the interval says so, the corrected test does not
        (0.99, 1.10, 0.01, "inconclusive"),  # the other way round
        (0.96, 1.04, 0.90, "same within margin"),
        (0.94, 1.04, 0.90, "inconclusive"),
        (1.01, 1.04, 0.01, "same within margin"),  # real, and small
        (None, None, None, "inconclusive"),
    ],
)
def test_findings(low: float | None, high: float | None, p_adjusted: float | None, expected: str) -> None:
    assert comparison(low, high).finding(p_adjusted, alpha=0.05, margin=0.05) == expected
