"""Intervals of shares against published ones, and their coverage where the truth is known."""

import math

import numpy as np
import pytest

from lab.analysis.stats.proportions import (
    ConfidenceInterval,
    Count,
    Pooled,
    clopper_pearson,
    difference,
    pool,
)


def bounds(interval: ConfidenceInterval) -> tuple[float, float]:
    return interval.low, interval.high


def alone(events: int, total: int) -> Pooled:
    return Pooled(Count(events, total), runs=1)


# Newcombe (1998, "Two-sided confidence intervals for the single proportion"), table I.
@pytest.mark.parametrize(
    ("events", "total", "published"),
    [
        (81, 263, (0.2527, 0.3676)),
        (15, 148, (0.0578, 0.1617)),
        (0, 20, (0, 0.1684)),
        (1, 29, (0.0009, 0.1776)),
    ],
)
def test_a_shares_interval_is_the_published_one(events: int, total: int, published: tuple[float, float]) -> None:
    assert bounds(clopper_pearson(Count(events, total), 0.95)) == pytest.approx(published, abs=6e-5)


def test_what_never_happens_is_covered_to_the_letter() -> None:
    assert clopper_pearson(Count(0, 90_000), 0.95).covers(0)
    assert clopper_pearson(Count(90_000, 90_000), 0.95).covers(1)
    assert difference(alone(0, 10), alone(0, 10), 0.95).covers(0)


def test_what_cannot_be_counted_is_an_error() -> None:
    for events, total in [(1, 0), (0, 0), (-1, 5), (6, 5)]:
        with pytest.raises(ValueError, match="not a share"):
            Count(events, total)


@pytest.mark.parametrize("share", [0.0001049963, 0.005988, 0.058808, 0.488])
def test_the_exact_interval_covers_every_truth_at_least_as_often_as_it_says(share: float) -> None:
    events = np.random.default_rng(1).binomial(10_000, share, 4_000)
    covered = {k: clopper_pearson(Count(k, 10_000), 0.95).covers(share) for k in np.unique(events).tolist()}
    # Three standard errors of the simulation itself.
    assert np.mean([covered[k] for k in events.tolist()]) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 4_000)


@pytest.mark.parametrize(("first", "second"), [(0.02, 0.001), (0.488, 0.138), (0.006, 0.006)])
def test_a_difference_covers_the_truth(first: float, second: float) -> None:
    rng = np.random.default_rng(3)
    studies = zip(rng.binomial(5_000, first, 600).tolist(), rng.binomial(5_000, second, 600).tolist(), strict=True)
    found = [difference(alone(one, 5_000), alone(other, 5_000), 0.95) for one, other in studies]
    covered = np.mean([interval.covers(first - second) for interval in found])
    assert 0.95 - 3 * math.sqrt(0.05 * 0.95 / 600) <= covered <= 0.985


def test_runs_that_agree_are_pooled_and_rarely_called_different() -> None:
    rng = np.random.default_rng(4)
    studies = [pool([Count(k, 10_000) for k in rng.binomial(10_000, 0.0006, 9).tolist()], seed) for seed in range(200)]
    assert np.mean([one.p_value <= 0.05 for one in studies]) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)
    assert np.mean([one.dispersion for one in studies]) == pytest.approx(1, abs=0.1)
    assert np.mean([one.interval(0.95).covers(0.0006) for one in studies]) >= 0.9
    assert all(one.count.total == 90_000 for one in studies)


def test_runs_with_a_share_of_their_own_are_found_and_the_interval_allows_for_it() -> None:
    rng = np.random.default_rng(5)
    shares = rng.beta(0.14 * 200, 0.86 * 200, (200, 9))
    studies = [
        pool([Count(k, 10_000) for k in row.tolist()], seed) for seed, row in enumerate(rng.binomial(10_000, shares))
    ]
    assert all(one.p_value <= 0.05 for one in studies)
    naive = np.mean([clopper_pearson(one.count, 0.95).covers(0.14) for one in studies])
    assert naive < 0.4
    assert np.mean([one.interval(0.95).covers(0.14) for one in studies]) >= 0.95 - 3 * math.sqrt(0.05 * 0.95 / 200)


def test_where_nothing_can_differ_there_is_no_test() -> None:
    for runs in ([Count(3, 10)], [Count(0, 10), Count(0, 20)], [Count(10, 10), Count(20, 20)]):
        pooled = pool(runs, 1)
        assert (pooled.dispersion, pooled.p_value) == (None, None)
        assert pooled.interval(0.95) == clopper_pearson(pooled.count, 0.95)
    with pytest.raises(ValueError, match="no run"):
        pool([], 1)


def test_the_dispersion_is_the_chi_square_by_its_freedom() -> None:
    # Three runs of 100 with 10, 20 and 30 events: expected 20 each, chi-square 100/20 + 0 + 100/20, over 0.8.
    assert pool([Count(10, 100), Count(20, 100), Count(30, 100)], 1).dispersion == pytest.approx(12.5 / 2)
