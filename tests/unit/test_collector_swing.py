"""A swing of about a minute is found where there is one, and rarely where there is only red noise."""

import numpy as np
import pytest
from scipy import stats

from lab.analysis.collector.swing import left_by_average, moving_average, red_noise, swing, synchrony

SECONDS = np.arange(1_800)


def rates(seed: int, share: float = 0.0, period_s: float = 60.0, phase: float = 0.0, lag1: float = 0.6) -> np.ndarray:
    """Counts around 2,400/s with red noise of 3 % of innovations, and a swing."""
    noise = red_noise(np.random.default_rng(seed), (1, len(SECONDS)), lag1)[0]
    return 2_400 * (1 + share * np.cos(2 * np.pi * SECONDS / period_s + phase) + 0.03 * noise)


@pytest.mark.parametrize("lag1", [0.0, 0.6, 0.95])
def test_red_noise_alone_is_rarely_called_a_swing(lag1: float) -> None:
    found = sum(swing(rates(seed, lag1=lag1), seed).p_value <= 0.05 for seed in range(100))
    # With a true rate of 5 %, more are found in 1 of 200 tests.
    assert found <= stats.binom.ppf(0.995, 100, 0.05)


@pytest.mark.parametrize("period_s", [50.0, 60.0, 75.0])
def test_a_swing_of_a_tenth_is_found(period_s: float) -> None:
    found = swing(rates(1, 0.10, period_s), 2)
    assert found.p_value == 0.001
    assert found.period_s == pytest.approx(period_s, rel=0.05)
    assert found.share == pytest.approx(0.10, abs=0.01)


def test_its_interval_contains_the_true_amplitude_as_often_as_it_says() -> None:
    intervals = [swing(rates(seed, 0.10), seed).interval for seed in range(100)]
    covered = sum(low <= 0.10 <= high for low, high in intervals)
    assert stats.binom.ppf(0.005, 100, 0.95) <= covered


def test_a_moving_average_of_a_minute_removes_a_swing_of_a_minute() -> None:
    counts = 2_400 * (1 + 0.1 * np.cos(2 * np.pi * SECONDS / 60))
    assert np.ptp(moving_average(counts, 60)) == pytest.approx(0, abs=1e-6)
    assert np.ptp(moving_average(counts, 30)) / np.ptp(counts) == pytest.approx(left_by_average(60, 30), abs=0.002)
    assert left_by_average(60, 60) == pytest.approx(0, abs=1e-12)
    assert left_by_average(60, 30) == pytest.approx(2 / np.pi, abs=0.001)


def test_runs_that_swing_together_are_found_and_others_are_not() -> None:
    together = [rates(seed, 0.1) for seed in range(4)]
    found = synchrony(together, 60, 1)
    assert found.resultant > 0.98
    assert found.p_value < 0.01
    scattered = [rates(phase, 0.1, phase=phase * np.pi / 2) for phase in range(4)]
    found = synchrony(scattered, 60, 1)
    assert found.resultant < 0.1
    assert found.p_value > 0.9


def test_synchrony_by_the_wall_clock_is_another_than_by_run_start() -> None:
    starts_s = [1_000.0, 3_015.0, 5_030.0, 7_045.0]
    by_clock = [rates(n, 0.1, phase=2 * np.pi * start / 60) for n, start in enumerate(starts_s)]
    assert synchrony(by_clock, 60, 1, starts_s).resultant > 0.98
    assert synchrony(by_clock, 60, 1).resultant < 0.1


def test_two_runs_prove_nothing() -> None:
    assert synchrony([rates(1, 0.1), rates(1, 0.1)], 60, 1).resultant == pytest.approx(1)
    # Two random phases lie within 18 degrees of each other with a chance of 1 in 10.
    found = synchrony([rates(1, 0.1), rates(1, 0.1, phase=np.pi / 10)], 60, 1)
    assert found.p_value == pytest.approx(0.1, abs=0.02)


def test_a_short_series_says_nothing() -> None:
    with pytest.raises(ValueError, match="200 s are too short"):
        swing(rates(1)[:200], 1)
