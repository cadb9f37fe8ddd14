"""Swings of rates are found where they are, and red noise is not mistaken for one."""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import signal

from lab.analysis.collector.swing import find_swing, phases, share_left_by_average, synchrony
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


def test_the_interval_has_the_amplitude_as_often_as_it_says() -> None:
    found = [find_swing(swinging(seed), seed, draws=1) for seed in range(SEEDS)]
    covering = sum(one.amplitude_low <= 0.1 <= one.amplitude_high for one in found)
    assert clopper_pearson(Count(covering, SEEDS), 0.95).covers(0.95)


def test_an_average_of_60_s_removes_a_swing_of_60_s() -> None:
    assert share_left_by_average(60, 60) == pytest.approx(0, abs=1e-12)
    assert share_left_by_average(60, 1) == pytest.approx(1)
    swing = np.cos(2 * np.pi * np.arange(600) / 60)
    for window_s in (15, 30, 60):
        averaged = np.convolve(swing, np.ones(window_s) / window_s, "valid")
        assert np.sqrt(2) * averaged[:540].std() == pytest.approx(share_left_by_average(60, window_s), abs=0.002)


def test_short_counts_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 450 s"):
        find_swing(np.ones(100), 1)


def test_phases_are_those_of_the_chosen_clock() -> None:
    runs = [swinging(1, 0.7), swinging(2, 0.7, start_s=1_000), swinging(3, 0.7, start_s=2_345)]
    assert phases(runs, 60, [0, 1_000, 2_345]) == pytest.approx([0.7] * 3, abs=0.1)
    assert phases(runs[:2], 60) == pytest.approx([0.7, (0.7 + 2 * np.pi * 1_000 / 60) % (2 * np.pi)], abs=0.1)


def test_synchronous_runs_are_told_from_independent_ones() -> None:
    together = synchrony(phases([swinging(seed, 1.0) for seed in range(5)], 60), 1)
    assert together.resultant > 0.99
    assert together.p_value < 0.01
    random = np.random.default_rng(1)
    false = sum(synchrony(random.uniform(0, 2 * np.pi, 5), seed).p_value <= 0.05 for seed in range(SEEDS))
    assert clopper_pearson(Count(false, SEEDS), 0.95).covers(0.05)


def test_rayleighs_p_is_the_published_one() -> None:
    """Zar, Biostatistical Analysis, equation 27.4: close also for few."""
    angles = np.array([0.1, 0.5, 0.9, 1.4, 2.0, 5.9])
    n, found = len(angles), synchrony(angles, 1)
    published = np.exp(np.sqrt(1 + 4 * n + 4 * n**2 * (1 - found.resultant**2)) - (1 + 2 * n))
    assert found.p_value == pytest.approx(published, rel=0.1)


def test_one_run_has_no_synchrony() -> None:
    with pytest.raises(ValueError, match="at least 2 runs"):
        synchrony([1.0], 1)
