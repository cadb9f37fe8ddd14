"""The search finds a known rate in simulated time, although trials are noisy."""

from collections.abc import Callable

import numpy as np
import pytest

from lab.errors import UserError
from lab.load.rate_search import MOST_TRIALS_S, search

CAPACITY = 2_345.0
# How much the capacity of a trial of 1 s differs from the mean; that of longer ones differs less.
NOISE = 0.05


def device(seed: int) -> tuple[float, Callable[[float, float], float]]:
    """Return a rate, and a device that loses what exceeds it, a little more or less from trial to trial."""
    random = np.random.default_rng(seed)
    rate_held = random.uniform(1_000, 9_000)

    def measure(duration_s: float, rate: float) -> float:
        capacity = rate_held * (1 + NOISE / np.sqrt(duration_s) * random.standard_normal())
        return float(max(0.0, 1 - capacity / rate))

    return rate_held, measure


@pytest.mark.parametrize("seed", range(10))
def test_a_known_rate_is_found_within_5_percent_and_10_minutes(seed: int) -> None:
    rate_held, measure = device(seed)
    found = search(measure, 10, 100_000)
    assert found.rate == pytest.approx(rate_held, rel=0.05)
    assert found.high is not None and found.low < found.high <= found.low * 1.06
    assert 0 < found.trials_s <= MOST_TRIALS_S


@pytest.mark.parametrize("seed", range(10))
def test_trials_that_only_fail_suffice(seed: int) -> None:
    rate_held, measure = device(seed)
    found = search(lambda duration_s, rate: measure(duration_s, rate) > 0, 10, 100_000)
    assert found.rate == pytest.approx(rate_held, rel=0.05)
    assert found.trials_s <= MOST_TRIALS_S


def test_time_and_number_of_trials_are_those_of_the_device() -> None:
    durations: list[float] = []

    def measure(duration_s: float, rate: float) -> bool:
        durations.append(duration_s)
        return rate > CAPACITY

    found = search(measure, 10, 100_000)
    assert (found.trials, found.trials_s) == (len(durations), sum(durations))
    assert min(durations) < max(durations)


def test_a_device_that_takes_everything_is_at_least_the_highest_rate() -> None:
    found = search(lambda duration_s, rate: False, 10, 5_000)
    assert found.high is None
    assert found.rate == found.low == pytest.approx(5_000)


def test_a_device_that_fails_always_has_no_rate() -> None:
    with pytest.raises(UserError, match="its lowest, 10/s, already fails"):
        search(lambda duration_s, rate: True, 10, 5_000)
