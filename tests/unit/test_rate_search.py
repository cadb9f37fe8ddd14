"""The search finds a known rate in simulated time, although trials are noisy."""

import math

import numpy as np
import pytest

from lab.errors import UserError
from lab.load.rate_search import MOST_TRIALS_S, Found, search

# How much the capacity of a trial of 1 s differs from the mean; that of longer ones differs less.
NOISE = 0.05


class Device:
    """A device that loses what exceeds a rate, a little more or less from trial to trial.

    `only_fails`: its trials do not say how much too high their rates were.
    """

    def __init__(self, seed: int, only_fails: bool = False) -> None:
        self.random = np.random.default_rng(seed)
        self.rate_held = self.random.uniform(1_000, 9_000)
        self.only_fails = only_fails
        self.durations_s: list[float] = []

    def measure(self, duration_s: float, rate: float) -> float:
        self.durations_s.append(duration_s)
        capacity = self.rate_held * (1 + NOISE / np.sqrt(duration_s) * self.random.standard_normal())
        loss = float(max(0.0, 1 - capacity / rate))
        return 0.5 if loss and self.only_fails else loss


def middle(found: Found) -> float:
    """Return the geometric middle of the bounds."""
    assert found.high is not None
    return math.sqrt(found.low * found.high)


@pytest.mark.parametrize("seed", range(10))
def test_a_known_rate_is_found_within_5_percent_and_10_minutes(seed: int) -> None:
    device = Device(seed)
    found = search(device.measure, 10, 100_000)
    assert middle(found) == pytest.approx(device.rate_held, rel=0.05)
    assert found.high is not None and found.low < found.high <= found.low * 1.06
    assert 0 < sum(device.durations_s) <= MOST_TRIALS_S


@pytest.mark.parametrize("seed", range(10))
def test_trials_that_only_fail_suffice(seed: int) -> None:
    device = Device(seed, only_fails=True)
    found = search(device.measure, 10, 100_000)
    assert middle(found) == pytest.approx(device.rate_held, rel=0.05)
    assert sum(device.durations_s) <= MOST_TRIALS_S


def test_trials_near_the_rate_are_longer() -> None:
    device = Device(0)
    search(device.measure, 10, 100_000)
    assert min(device.durations_s) < max(device.durations_s)


def test_a_search_ends_before_its_trials_take_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.load.rate_search.MOST_TRIALS_S", 5.0)
    device = Device(0)
    with pytest.raises(UserError, match="did not end within 5 s of trials"):
        search(device.measure, 10, 100_000)
    assert 0 < sum(device.durations_s) <= 5


def test_a_device_that_takes_everything_is_at_least_the_highest_rate() -> None:
    found = search(lambda duration_s, rate: 0.0, 10, 5_000)
    assert found.high is None
    assert found.low == pytest.approx(5_000)


def test_a_device_that_fails_always_has_no_rate() -> None:
    with pytest.raises(UserError, match="its lowest, 10/s, already fails"):
        search(lambda duration_s, rate: 0.5, 10, 5_000)
