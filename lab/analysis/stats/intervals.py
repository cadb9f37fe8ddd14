"""Intervals for the mean of a few blocks, and the test that belongs to them."""

import math
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from lab.analysis.stats.serial import independent

FloatArray = NDArray[np.float64]

RESAMPLES = 10_000
# A run that would need more could not be made.
MOST_BLOCKS = 100_000


@dataclass(frozen=True)
class Interval:
    """A mean over blocks, its confidence interval, and the p value of the test that it is 0.

    A single block has a mean only; the rest is None.
    """

    mean: float
    low: float | None = None
    high: float | None = None
    p_value: float | None = None


def mean_interval(blocks: ArrayLike, confidence: float, seed: int, correlation: float = 0.0) -> Interval:
    """Return the mean of one value per block, with its t interval; raises `ValueError` without any block.

    `correlation`: of neighbouring blocks, as `t_interval` has it.
    """
    values = np.asarray(blocks, dtype=np.float64)
    if values.ndim != 1 or len(values) == 0:
        raise ValueError("a mean needs one value for each of at least 1 block")
    if len(values) == 1:
        return Interval(float(values[0]))
    mean, reach, p_value = (float(part) for part in t_interval(values, confidence, seed, correlation=correlation))
    return Interval(mean, mean - reach, mean + reach, p_value)


def t_interval(
    values: ArrayLike, confidence: float, seed: int, resamples: int = RESAMPLES, correlation: ArrayLike = 0.0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return mean, reach (half of the interval) and p value along the last axis.

    The standard error is the bootstrap's and the quantile Student's (Hesterberg, 2015, "What teachers should know
    about the bootstrap"). So it keeps its level with few blocks, where the percentile bootstrap's 95 % cover 75 %;
    docs/explanation/statistics.md has the simulation. Where neighbouring blocks are correlated (a number, or one for
    each mean), the error is larger and its degrees of freedom are fewer. Raises `ValueError` for fewer than 2 blocks.
    """
    array = np.asarray(values, dtype=np.float64)
    mean = array.mean(axis=-1)
    error = bootstrap_standard_error(array, seed, resamples, correlation)
    _, freedom = independent(array.shape[-1], correlation)
    reach = scipy.special.stdtrit(freedom, (1 + confidence) / 2) * error
    with np.errstate(divide="ignore", invalid="ignore"):
        p_value = 2 * scipy.special.stdtr(freedom, -np.abs(mean) / error)
    # Blocks that are all exactly 0 say nothing against a mean of 0.
    return mean, reach, np.where((mean == 0) & (error == 0), 1.0, p_value)


def blocks_for(sd: float, half_width: float, confidence: float) -> int:
    """Return how many values, which scatter by `sd`, give their mean an interval of at most `half_width`.

    The smallest n with t(n - 1) * sd / sqrt(n) <= half_width, found by iterating, as t depends on n: NIST/SEMATECH
    e-Handbook of Statistical Methods, section 7.2.2.2; Jain, The Art of Computer Systems Performance Analysis, 1991,
    section 13.9.
    """
    quantile = (1 + confidence) / 2
    # The normal distribution's answer is never too large, as t's quantile is the larger one.
    blocks = max(2, math.ceil((float(scipy.special.ndtri(quantile)) * sd / half_width) ** 2))
    while blocks < MOST_BLOCKS and scipy.special.stdtrit(blocks - 1, quantile) * sd / math.sqrt(blocks) > half_width:
        blocks += 1
    return blocks


def bootstrap_standard_error(
    values: ArrayLike, seed: int, resamples: int = RESAMPLES, correlation: ArrayLike = 0.0
) -> FloatArray:
    """Return the standard error of the mean along the last axis, by resampling blocks with replacement.

    Of the hierarchy block - trial - request only the top is resampled. What varies within a trial varies its block's
    value already; drawing requests anew as well would count it twice (Ren et al., 2010, "Nonparametric bootstrapping
    for hierarchical data"). Blocks drawn from a sample of n vary less than those of the population, by the square
    root of (n - 1)/n, which is put back (Hesterberg, 2015). So is what a correlation of neighbouring blocks adds, since
    resamples do not keep the blocks' order. Raises `ValueError` for fewer than 2 blocks.
    """
    array = np.asarray(values, dtype=np.float64)
    n = array.shape[-1]
    if n < 2:
        raise ValueError("a standard error needs at least 2 blocks")
    centred = array - array.mean(axis=-1, keepdims=True)
    replicates = centred @ _resampling_weights(n, seed, resamples)
    return np.asarray(replicates.std(axis=-1) * np.sqrt(n / (n - 1) * independent(n, correlation)[0]))


@cache
def _resampling_weights(n: int, seed: int, resamples: int) -> FloatArray:
    """Return what share of each resample (column) each of n blocks (row) has."""
    return np.ascontiguousarray(np.random.default_rng(seed).multinomial(n, np.full(n, 1 / n), size=resamples).T / n)
