"""Swings of rates are found where they are, and red noise is not mistaken for one."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from lab.analysis.collector.swing import find_swing, sine
from lab.analysis.stats.proportions import Count, clopper_pearson

SECONDS, MEAN = 600, 2_400.0
SEEDS = 200
Counts = NDArray[np.float64]


def noisy(seed: int, autocorrelation: float, seconds: int = SECONDS) -> Counts:
    """Counts around the mean, with innovations of 2 %."""
    random = np.random.default_rng(seed)
    # The first 500 s are let go: the process is then stationary.
    red = signal.lfilter([1.0], [1.0, -autocorrelation], random.standard_normal(seconds + 500))[500:]
    return np.asarray(MEAN * (1 + 0.02 * red))


def swinging(seed: int, phase: float = 0.0, period_s: float = 60.0, start_s: float = 0.0) -> Counts:
    """Counts that also swing by 10 %."""
    seconds = start_s + np.arange(SECONDS)
    return noisy(seed, 0.6) + 0.1 * MEAN * np.cos(2 * np.pi * seconds / period_s + phase)


@pytest.mark.parametrize("autocorrelation", [0.0, 0.6, 0.9])
def test_red_noise_is_found_at_most_at_the_nominal_rate(autocorrelation: float) -> None:
    found = sum(find_swing(noisy(seed, autocorrelation), seed, draws=99).p_value <= 0.05 for seed in range(SEEDS))
    assert clopper_pearson(Count(found, SEEDS), 0.95).low <= 0.05


@pytest.mark.parametrize("period_s", [50.0, 60.0, 77.0])
def test_a_swing_is_found_with_its_period_and_amplitude(period_s: float) -> None:
    for seed in range(10):
        found = find_swing(swinging(seed, period_s=period_s), seed, draws=199)
        assert found.p_value == 1 / 200
        assert found.period_s == pytest.approx(period_s, rel=0.05)
        assert found.amplitude == pytest.approx(0.1, rel=0.1)


def test_short_counts_are_rejected() -> None:
    with pytest.raises(ValueError, match="at least 450 s"):
        find_swing(np.ones(100), 1)


def test_a_swings_parts_are_those_of_the_chosen_clock() -> None:
    for start_s in (0, 1_000, 2_345):
        cosine, sine_part = sine(swinging(1, 0.7, start_s=start_s), 60, start_s)
        assert (cosine, sine_part) == pytest.approx((0.1 * np.cos(0.7), -0.1 * np.sin(0.7)), abs=0.01)
    # By its own start, a run that began half a period later swings the other way.
    assert sine(swinging(2, start_s=30), 60)[0] == pytest.approx(-0.1, abs=0.01)


def test_counts_of_nothing_do_not_swing() -> None:
    with pytest.raises(ValueError, match="all zero"):
        sine(np.zeros(600), 60)
