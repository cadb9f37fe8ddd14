"""Whether neighbouring blocks resemble each other, and what an interval over such blocks owes to it."""

from collections.abc import Collection, Mapping
from functools import cache, lru_cache

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

# With fewer free residuals, (levels - 1) x (blocks - 1), correlation and chance look alike, and false alarms widen
# intervals by more than 8 % on average. These are eight systems in six blocks.
FEWEST_FREE = 35
# A level with a smaller share of the blocks would leave all others with few.
MOST_BLOCKS = 0.75
# One-sided. A smaller chance of a false alarm leaves a correlation of 0.3 unseen too often: see
# docs/explanation/statistics.md.
ALARM = 0.15
# Few blocks cannot distinguish larger ones, and the factor on an interval grows without limit towards 1.
LARGEST = 0.8


def correlation_of(levels: Collection[Mapping[int, float]]) -> float:
    """Return the correlation of neighbouring blocks of a metric, from each level's values by block; 0 for none seen.

    Only blocks that every level has count, of the levels that have most of them. A value that is not positive has no
    logarithm: nothing is seen then.
    """
    full = [level for level in levels if len(level) >= MOST_BLOCKS * len(set().union(*levels))]
    blocks = sorted(set.intersection(*(set(level) for level in full))) if full else []
    values = np.array([[level[block] for block in blocks] for level in full], dtype=np.float64)
    if not blocks or np.any(values <= 0):
        return 0.0
    return float(serial_correlation(np.log(values)))


def serial_correlation(values: ArrayLike) -> NDArray[np.float64]:
    """Return the lag-1 autocorrelation φ of blocks, by run, from `values` (..., levels, blocks); 0 for none seen.

    All levels of a run are assumed to share φ, so their residuals without level and block effects are used together.
    Seen: the mean of the levels' lag-1 coefficients is larger than chance allows. In n uncorrelated blocks such a
    coefficient has mean -1/n and variance (n-2)²/(n²(n-1)) (Moran, Some theorems on time series II, Biometrika 35,
    1948). A mean over levels depends little on a noisy one. φ is then the one whose expected sums of squares have the
    ratio of the pooled ones, which corrects the bias of few blocks, and at most `LARGEST`.
    """
    array = np.asarray(values, dtype=np.float64)
    levels, n = array.shape[-2:]
    if (levels - 1) * (n - 1) < FEWEST_FREE:
        return np.zeros(array.shape[:-2])
    left = array - array.mean(-1, keepdims=True) - array.mean(-2, keepdims=True) + array.mean((-2, -1), keepdims=True)
    products, squares = (left[..., 1:] * left[..., :-1]).sum(-1), (left**2).sum(-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        each, pooled = (products / squares).mean(-1), products.sum(-1) / squares.sum(-1)
    # The level means sum to 0 in every block: one level of them is not free.
    usual = -1 / n + scipy.special.ndtri(1 - ALARM) * (n - 2) / n / np.sqrt((n - 1) * (levels - 1))
    return np.where(each > usual, np.interp(pooled, *_expected(n)), 0.0)


def independent(blocks: int, correlation: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what correlated blocks are worth: a factor on the variance of their mean, and degrees of freedom.

    The factor corrects s²/n for what the correlation adds to the mean's variance and takes from s². The degrees of
    freedom are those of the χ² whose mean and variance s² has (Satterthwaite, 1946). 1 and n - 1 for a correlation
    of 0.
    """
    return _of_one(blocks, correlation) if isinstance(correlation, float) else _of_each(blocks, correlation)


@lru_cache(maxsize=1024)
def _of_one(blocks: int, correlation: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Remember one correlation: a run has thousands of means, most with a correlation of 0."""
    return _of_each(blocks, correlation)


def _of_each(blocks: int, correlation: ArrayLike) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    covariance = _covariance(blocks, correlation)
    left = _centred(covariance)
    trace = np.trace(left, axis1=-2, axis2=-1)
    factor = covariance.sum((-2, -1)) / blocks * (blocks - 1) / trace
    return factor, trace**2 / (left**2).sum((-2, -1))


def _covariance(blocks: int, correlation: ArrayLike) -> NDArray[np.float64]:
    lags = np.abs(np.subtract.outer(np.arange(blocks), np.arange(blocks)))
    return np.asarray(np.asarray(correlation, dtype=np.float64)[..., None, None] ** lags)


def _centred(covariance: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the covariance of values without their mean."""
    rows = covariance - covariance.mean(-1, keepdims=True)
    return np.asarray(rows - rows.mean(-2, keepdims=True))


@cache
def _expected(blocks: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ratio of the expected lag-1 products and squares of residuals, in rising order, and its φ."""
    correlations = np.linspace(0, LARGEST, 81)
    left = _centred(_covariance(blocks, correlations))
    ratios = np.trace(left, offset=1, axis1=-2, axis2=-1) / np.trace(left, axis1=-2, axis2=-1)
    return ratios, correlations
