"""Whether a rate swings with a period of about one minute, and whether several runs swing together.

Claim C6 of `003_101369019085b88c.txt`: sustained rates swing "with a cycle period of about 1 minute", "perfectly
synchronized across all runs". Its figures are moving averages of 60 s and 30 s. This uses raw counts of 1 s instead.

The null hypothesis is red noise, an AR(1) process: slow fluctuations have a peak near 1/60 Hz by chance (Allen & Smith,
Monte Carlo SSA, J. Climate 9, 1996; Schulz & Mudelsee, REDFIT, Computers & Geosciences 28, 2002). The highest peak of
the band is compared with those of simulated red noise that was treated alike: detrended, fitted, searched. So the p
value allows for the search over frequencies and for the fit. No window is applied: all that a window's leakage and its
wider peak would change happens to the simulated series too, and the resolution is needed.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import signal, stats

Floats = NDArray[np.float64]

BAND_S = (45.0, 90.0)
"""What counts as "about one minute"."""
# Frequencies are searched this many times closer than a series resolves them, so that a period lies near one.
FINENESS = 4
SIMULATIONS = 999
DRAWS = 20_000
# Simulated in parts, so that a long series does not need the memory of all of them at once.
PART = 111


@dataclass(frozen=True)
class Swing:
    """The highest peak within the band.

    `share`: amplitude by mean count, half of what lies between crest and trough; `interval`: its 95 % interval, which
    disregards that the highest of several peaks was chosen. `p_value`: the chance of such a peak in red noise.
    """

    period_s: float
    p_value: float
    share: float
    interval: tuple[float, float]
    lag1: float


@dataclass(frozen=True)
class Synchrony:
    """How alike the phases of several runs are: 1 if equal, near 0 if scattered; the chance of that if scattered."""

    resultant: float
    p_value: float


def swing(counts: ArrayLike, seed: int, band_s: tuple[float, float] = BAND_S) -> Swing:
    """Return what swings in `counts` of 1 s each (n,). Raises `ValueError` below three of the band's longest periods."""
    values = np.asarray(counts, dtype=np.float64)
    if len(values) < 3 * band_s[1]:
        raise ValueError(f"{len(values)} s are too short for periods of up to {band_s[1]:g} s")
    series = signal.detrend(values)
    frequencies, power = _relative_power(series[None], band_s)
    best = int(power[0].argmax())
    heights = _null_heights(len(series), float(_lag1(series[None])[0]), band_s, seed)
    amplitude, error = _amplitude(series, frequencies[best])
    mean = values.mean()
    reach = float(stats.norm.ppf(0.975)) * error
    return Swing(
        period_s=float(1 / frequencies[best]),
        p_value=float((1 + np.sum(heights >= power[0, best])) / (1 + len(heights))),
        share=float(amplitude / mean),
        interval=(float(max(0.0, amplitude - reach) / mean), float((amplitude + reach) / mean)),
        lag1=float(_lag1(series[None])[0]),
    )


def moving_average(counts: ArrayLike, width_s: int) -> Floats:
    """Return the means of `width_s` neighbouring counts, (n - width_s + 1,)."""
    sums = np.cumsum(np.concatenate([[0.0], np.asarray(counts, dtype=np.float64)]))
    return np.asarray((sums[width_s:] - sums[:-width_s]) / width_s)


def left_by_average(period_s: float, width_s: int) -> float:
    """Return the share of a swing's amplitude that a moving average leaves: 0 if its width is the period."""
    return abs(float(np.sin(np.pi * width_s / period_s) / (width_s * np.sin(np.pi / period_s))))


def synchrony(runs: Sequence[ArrayLike], period_s: float, seed: int, starts_s: ArrayLike = 0.0) -> Synchrony:
    """Return how alike the phases of `runs` at a common period are.

    `starts_s`: when each started by the wall clock; 0 compares by run start. Between starts that are far apart a small
    error of the period turns phases, so by the wall clock the period has to be one that is claimed, such as 60 s.
    The p value is that of the Rayleigh test, simulated, so exact for few runs (Mardia & Jupp, Directional Statistics).
    """
    turns = np.broadcast_to(np.asarray(starts_s, dtype=np.float64) / period_s, (len(runs),))
    phases = np.array([_phase(run, period_s) for run in runs]) - 2 * np.pi * (turns % 1)
    resultant = float(abs(np.exp(1j * phases).mean()))
    scattered = np.random.default_rng(seed).uniform(0, 2 * np.pi, (DRAWS, len(runs)))
    by_chance = np.abs(np.exp(1j * scattered).mean(axis=1))
    # Equal phases have a resultant of 1 but for rounding.
    return Synchrony(resultant, float((1 + np.sum(by_chance >= resultant - 1e-12)) / (1 + DRAWS)))


def _phase(counts: ArrayLike, period_s: float) -> float:
    """Return the phase at the first count."""
    series = signal.detrend(np.asarray(counts, dtype=np.float64))
    return float(np.angle(series @ np.exp(-2j * np.pi * np.arange(len(series)) / period_s)))


def _relative_power(series: Floats, band_s: tuple[float, float]) -> tuple[Floats, Floats]:
    """Return the band's frequencies in Hz, and the power of `series` (m, n) by that of its own fitted red noise."""
    n = series.shape[-1]
    frequencies = np.fft.rfftfreq(FINENESS * n, 1.0)
    within = (frequencies >= 1 / band_s[1]) & (frequencies <= 1 / band_s[0])
    power = np.abs(np.fft.rfft(series, FINENESS * n)[:, within]) ** 2 / n
    return frequencies[within], power / _red_spectrum(series, frequencies[within])


def _lag1(series: Floats) -> Floats:
    """Return the lag-1 autocorrelation of each of `series` (m, n): the Yule-Walker estimate."""
    return np.asarray((series[:, 1:] * series[:, :-1]).sum(-1) / (series**2).sum(-1))


def _red_spectrum(series: Floats, frequencies: Floats) -> Floats:
    lag1 = _lag1(series)[:, None]
    innovations = series.var(-1)[:, None] * (1 - lag1**2)
    return np.asarray(innovations / np.abs(1 - lag1 * np.exp(-2j * np.pi * frequencies)) ** 2)


def _null_heights(n: int, lag1: float, band_s: tuple[float, float], seed: int) -> Floats:
    """Return the band's highest relative power in each of `SIMULATIONS` series of red noise."""
    rng = np.random.default_rng(seed)
    heights = []
    for _ in range(SIMULATIONS // PART):
        series = signal.detrend(red_noise(rng, (PART, n), lag1))
        heights.append(_relative_power(series, band_s)[1].max(axis=-1))
    return np.concatenate(heights)


def red_noise(rng: np.random.Generator, shape: tuple[int, int], lag1: float) -> Floats:
    """Return stationary AR(1) series of innovations with variance 1, (m, n)."""
    noise = rng.normal(size=shape)
    noise[:, 0] /= np.sqrt(1 - lag1**2)
    return np.asarray(signal.lfilter([1.0], [1.0, -lag1], noise, axis=-1))


def _amplitude(series: Floats, frequency: float) -> tuple[float, float]:
    """Return the amplitude of the swing that fits best, and its standard error in the red noise around it."""
    angles = 2 * np.pi * frequency * np.arange(len(series))
    waves = np.column_stack([np.cos(angles), np.sin(angles)])
    weights = np.linalg.lstsq(waves, series, rcond=None)[0]
    noise = _red_spectrum((series - waves @ weights)[None], np.array([frequency]))
    return float(np.hypot(*weights)), float(np.sqrt(2 * noise[0, 0] / len(series)))
