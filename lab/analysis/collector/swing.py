"""Whether rates swing with a period of about one minute, and where in a run such a swing is highest (claim C6).

From counts of each second, as they are: a moving average of 60 s removes a swing of 60 s.
Red noise makes peaks too, so a peak is compared with those of an AR(1) process (Allen and Smith, "Monte Carlo SSA",
Journal of Climate 9, 1996; Schulz and Mudelsee, "REDFIT", Computers & Geosciences 28, 2002). The AR(1) process is
fitted to the frequencies outside the band by Whittle's likelihood: a swing must not count as its own noise.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from lab.analysis.stats import FloatArray
from lab.record import NotDerivableError

# Periods in which a peak is looked for.
BAND_S = (45.0, 90.0)
# A p value to a thousandth.
DRAWS = 999
# Frequencies per resolved one, so that a period between two of them is found.
_OVERSAMPLING = 8
_AUTOCORRELATIONS = np.linspace(-0.5, 0.99, 150)
_FEWEST_PERIODS = 5


@dataclass(frozen=True)
class Swing:
    """The highest peak in the band.

    `p_value`: how often an AR(1) process has one as high anywhere in the band. `amplitude`: of the sine, as a share of
    the mean count; the period is taken as known, so a peak of noise has an amplitude too.
    """

    period_s: float
    p_value: float
    amplitude: float


def find_swing(counts: ArrayLike, seed: int, draws: int = DRAWS) -> Swing:
    """Find the swing of the counts of consecutive seconds: (seconds,).

    Raises `NotDerivableError` if they are shorter than five of the longest periods, or all zero.
    """
    values = np.asarray(counts, dtype=np.float64)
    if values.ndim != 1 or len(values) < _FEWEST_PERIODS * BAND_S[1] or values.mean() <= 0:
        raise NotDerivableError(
            f"a swing needs counts of at least {_FEWEST_PERIODS * BAND_S[1]:g} s, not all of them zero"
        )
    n, random = len(values), np.random.default_rng(seed)
    autocorrelation, heights = _heights(values[None, :])
    peak = int(heights[0].argmax())
    highest = float(heights[0, peak])
    as_high = _as_high_by_chance(highest, float(autocorrelation[0]), (draws, n), random)
    period_s = 1 / float(_tables(n).frequencies[peak])
    return Swing(period_s, (1 + as_high) / (1 + draws), float(np.hypot(*sine(values, period_s))))


def sine(counts: ArrayLike, period_s: float, start_s: float = 0.0) -> tuple[float, float]:
    """Return how counts of consecutive seconds swing with a period: the parts of cosine and sine, by the mean count.

    They are fitted beside a straight line. Time is 0 at `start_s` before the first count. By a clock that all runs
    share `period_s` has to be exact: an error of 1 % is a full turn after 100 periods.

    Raises `NotDerivableError` if all counts are zero.
    """
    values = np.asarray(counts, dtype=np.float64)
    if values.mean() <= 0:
        raise NotDerivableError("counts that are all zero do not swing")
    seconds = np.arange(len(values))
    angles = 2 * np.pi * (start_s + seconds) / period_s
    terms = np.column_stack([np.ones(len(values)), seconds / len(values), np.cos(angles), np.sin(angles)])
    *_, cosine, sine = np.linalg.lstsq(terms, values)[0] / values.mean()
    return float(cosine), float(sine)


def _as_high_by_chance(highest: float, found: float, shape: tuple[int, int], random: np.random.Generator) -> int:
    """Return how many of simulated processes have a peak as high, for the least favourable autocorrelation.

    The found one is uncertain, and how high peaks are depends on it: with the found one alone, 600 s of a process of
    0.9 had false findings in 6.9 % of cases, not 5 %. So the ends of its bootstrap interval count too (Berger and Boos,
    "P values maximized over a confidence set for the nuisance parameter", JASA 89, 1994).
    """

    def simulated(autocorrelation: float) -> tuple[int, FloatArray]:
        again, heights = _heights(_red_noise(autocorrelation, shape, random))
        return int(np.sum(heights.max(axis=1) >= highest)), again

    as_high, again = simulated(found)
    ends = np.clip(2 * found - np.quantile(again, [0.975, 0.025]), _AUTOCORRELATIONS[0], _AUTOCORRELATIONS[-1])
    return max(as_high, *(simulated(float(end))[0] for end in ends))


def _band(n: int) -> FloatArray:
    """Return the frequencies of the band in Hz."""
    low, high = 1 / BAND_S[1], 1 / BAND_S[0]
    return np.linspace(low, high, int(np.ceil((high - low) * n * _OVERSAMPLING)) + 1)


def _heights(series: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Fit red noise to each series (series, seconds), and compare the powers in the band with it.

    Returns its autocorrelations (series,), and the powers by what is expected (series, frequencies).
    """
    of = _tables(series.shape[1])
    tapered = scipy.signal.detrend(series, axis=1) * of.taper
    powers = np.abs(np.fft.rfft(tapered, axis=1)[:, of.outside]) ** 2
    variances = powers @ of.inverse_shapes / powers.shape[1]
    best = np.argmin(np.log(variances) + of.mean_log_shapes, axis=1)
    autocorrelations, variance = _AUTOCORRELATIONS[best], variances[np.arange(len(series)), best]
    found = (tapered @ of.cosines) ** 2 + (tapered @ of.sines) ** 2
    expected = variance[:, None] * _shape(of.frequencies, autocorrelations)
    return autocorrelations, found / expected


@dataclass(frozen=True)
class _Tables:
    """What depends on the number of seconds alone.

    `outside`: of the frequencies of a Fourier transform, those outside the band. `inverse_shapes` and
    `mean_log_shapes`: of the powers of AR(1) processes there. `cosines` and `sines`: of the `frequencies` of the band.
    """

    taper: FloatArray
    outside: NDArray[np.bool_]
    inverse_shapes: FloatArray
    mean_log_shapes: FloatArray
    frequencies: FloatArray
    cosines: FloatArray
    sines: FloatArray


@lru_cache(maxsize=2)
def _tables(n: int) -> _Tables:
    """Return the tables of `n` seconds, which each of the four looks at a swing needs."""
    # SciPy's signals take half a second to load, which other commands are not to wait for.
    window = scipy.signal.windows.hann(n, sym=False)
    frequencies, every = _band(n), np.fft.rfftfreq(n)
    # What leaks from the band with this window is within two resolved frequencies.
    outside = (every > 2 / n) & ((every < frequencies[0] - 2 / n) | (every > frequencies[-1] + 2 / n))
    shapes = _shape(every[outside], _AUTOCORRELATIONS)
    angles = 2 * np.pi * np.outer(np.arange(n), frequencies)
    return _Tables(
        taper=window / np.sqrt(np.sum(window**2)),
        outside=outside,
        inverse_shapes=(1 / shapes).T,
        mean_log_shapes=np.log(shapes).mean(axis=1),
        frequencies=frequencies,
        cosines=np.cos(angles),
        sines=np.sin(angles),
    )


def _shape(frequencies: FloatArray, autocorrelations: FloatArray) -> FloatArray:
    """Return the power of AR(1) processes with innovations of variance 1: (processes, frequencies)."""
    of_each = autocorrelations[:, None]
    return np.asarray(1 / (1 - 2 * of_each * np.cos(2 * np.pi * frequencies) + of_each**2))


def _red_noise(autocorrelation: float, shape: tuple[int, int], random: np.random.Generator) -> FloatArray:
    """Return stationary AR(1) processes with innovations of variance 1."""
    innovations = random.standard_normal(shape)
    innovations[:, 0] /= np.sqrt(1 - autocorrelation**2)
    return np.asarray(scipy.signal.lfilter([1.0], [1.0, -autocorrelation], innovations, axis=1))
