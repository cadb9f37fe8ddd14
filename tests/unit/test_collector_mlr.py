"""A search finds a simulated device's rate within its goal, in the time that it may take."""

import numpy as np
import pytest

from lab.analysis.collector.mlr import Goal, Measure, OverBudgetError, search

RATE = 2_345.0


def device(rng: np.random.Generator, rate: float = RATE, noise: float = 0.01) -> Measure:
    """A device that carries a rate, which differs from trial to trial, and less from long to long trial."""

    def measure(duration_s: float, asked: float) -> float:
        carried = rate * (1 + rng.normal(0, noise * np.sqrt(5 / duration_s)))
        return max(0.0, 1 - carried / asked)

    return measure


@pytest.mark.parametrize("seed", range(10))
def test_a_known_rate_is_found(seed: int) -> None:
    found = search(device(np.random.default_rng(seed)), Goal(), 100, 20_000)
    assert found.throughput == pytest.approx(RATE, rel=0.05)
    assert found.lower is not None
    assert found.upper is not None
    assert found.lower < found.upper
    assert found.trials_s <= 600


@pytest.mark.parametrize("seed", range(10))
def test_so_it_is_where_a_trial_only_says_that_it_failed(seed: int) -> None:
    measure = device(np.random.default_rng(seed))
    found = search(lambda duration_s, rate: float(measure(duration_s, rate) > 0), Goal(), 100, 20_000)
    assert found.lower == pytest.approx(RATE, rel=0.05)
    assert found.trials_s <= 600


def test_trials_last_as_long_as_the_goal_says() -> None:
    lengths = set()
    measure = device(np.random.default_rng(1))

    def noted(duration_s: float, rate: float) -> float:
        lengths.add(duration_s)
        return measure(duration_s, rate)

    search(noted, Goal(), 100, 20_000)
    assert min(lengths) >= 5
    assert max(lengths) <= 30


def test_a_rate_beyond_the_bounds_is_known_only_as_a_bound() -> None:
    above = search(device(np.random.default_rng(1), 50_000), Goal(), 100, 20_000)
    assert (above.lower, above.upper) == (pytest.approx(20_000), None)
    below = search(device(np.random.default_rng(1), 50), Goal(), 100, 20_000)
    assert (below.throughput, below.lower, below.upper) == (None, None, pytest.approx(100))


def test_a_search_ends_before_it_exceeds_its_time() -> None:
    with pytest.raises(OverBudgetError, match="no result after"):
        search(device(np.random.default_rng(1)), Goal(most_s=30), 100, 20_000)
