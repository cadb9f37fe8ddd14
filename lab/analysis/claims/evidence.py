"""What the blocks say about a ratio or a value: an estimate, an interval, and whether it is above or below a bound."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
import scipy

from lab.analysis.claims.questions import Bounds, Quantity
from lab.analysis.stats import FloatArray, Pooled, bootstrap_standard_error, independent, log_ratios


@dataclass(frozen=True)
class Evidence:
    """What blocks say about a ratio; `freedom`: the degrees of freedom of the standard error.

    `excess` returns, for a bound, the mean and the standard error of something whose true mean is positive exactly
    where the ratio is above the bound. `limits` returns the ratio's interval for a quantile of Student's distribution:
    all bounds that a t test of the excess does not reject, None where they have no end.
    """

    freedom: float
    estimate: float | None
    excess: Callable[[float], tuple[float, float]]
    limits: Callable[[float], tuple[float, float] | None]

    def interval(self, confidence: float) -> tuple[float, float] | None:
        """Return the ratio's interval; None where the blocks do not bound it."""
        return self.limits(_quantile(confidence, self.freedom))

    def within(self, bounds: Bounds, confidence: float) -> bool:
        """Whether all ratios that the data allow lie within the bounds."""
        return (bounds.low == 0 or self._is(1, bounds.low, confidence)) and (
            bounds.high == np.inf or self._is(-1, bounds.high, confidence)
        )

    def misses(self, bounds: Bounds, confidence: float) -> bool:
        """Whether all ratios that the data allow lie outside of the bounds, on the same side."""
        return (bounds.low > 0 and self._is(-1, bounds.low, confidence)) or (
            bounds.high < np.inf and self._is(1, bounds.high, confidence)
        )

    def _is(self, side: int, bound: float, confidence: float) -> bool:
        """Whether the ratio is above (side 1) or below (side -1) a bound, at half of what confidence leaves."""
        mean, error = self.excess(bound)
        return side * mean > _quantile(confidence, self.freedom) * error


@dataclass(frozen=True)
class ShareEvidence:
    """What the counts of a level's blocks, all together, say about a share.

    A share of rare events has blocks that are mostly 0, for which a t test is no test.
    """

    pooled: Pooled

    @property
    def estimate(self) -> float:
        """The share."""
        return self.pooled.count.rate

    def interval(self, confidence: float) -> tuple[float, float]:
        """Return the share's interval."""
        bounds = self.pooled.interval(confidence)
        return bounds.low, bounds.high

    def within(self, bounds: Bounds, confidence: float) -> bool:
        """Whether all shares that the data allow lie within the bounds."""
        low, high = self.interval(confidence)
        return bounds.low <= low and high <= bounds.high

    def misses(self, bounds: Bounds, confidence: float) -> bool:
        """Whether all shares that the data allow lie outside of the bounds, on the same side."""
        low, high = self.interval(confidence)
        return high < bounds.low or bounds.high < low


def evidence(quantity: Quantity, blocks: FloatArray, seed: int, correlation: float = 0.0) -> Evidence:
    """Return what `blocks` (a row per block, a column per level of the question) say; at least 2 rows.

    Of ratios all are positive. `correlation`: of neighbouring blocks (`serial`).
    """
    match quantity:
        case "value":
            return _of_mean(blocks[:, 0], seed, correlation)
        case "ratio":
            return _of_mean(log_ratios(blocks[:, 0], blocks[:, 1]), seed, correlation, logarithms=True)
        case "change":
            return _of_mean(_fitted_changes(np.log(blocks)), seed, correlation, logarithms=True)
        case "overhead ratio":
            return _of_overheads(blocks, seed, correlation)


def _fitted_changes(logs: FloatArray) -> FloatArray:
    """Return by how much each block's least-squares line rises from the first level to the last."""
    steps = logs.shape[1] - 1
    position = np.arange(steps + 1) - steps / 2
    return np.asarray(logs @ position / (position @ position) * steps)


def _of_mean(values: FloatArray, seed: int, correlation: float, logarithms: bool = False) -> Evidence:
    """Compare the mean of `values` itself, or what they are the logarithms of."""
    mean, error = float(values.mean()), float(bootstrap_standard_error(values, seed, correlation=correlation))
    scale, back = (np.log, np.exp) if logarithms else (np.float64, np.float64)

    def excess(bound: float) -> tuple[float, float]:
        return mean - float(scale(bound)), error

    def limits(quantile: float) -> tuple[float, float]:
        return float(back(mean - quantile * error)), float(back(mean + quantile * error))

    return Evidence(_freedom(values, correlation), float(back(mean)), excess, limits)


def _of_overheads(blocks: FloatArray, seed: int, correlation: float) -> Evidence:
    """Compare overheads: the ratio of (first - baseline) to (second - baseline), with Fieller's interval.

    That ratio is r where (first - baseline) - r (second - baseline) is 0 on average, which a t test can say of every r;
    those that it does not reject are the interval (Fieller, 1954, "Some problems in interval estimation"). They have no
    end where the second overhead may be 0. Each block is divided by its mean, so that a machine that slows down
    cancels, as it does in a ratio; dividing by the baseline alone would let the baseline's noise in twice.
    """
    levels = blocks / blocks.mean(axis=1, keepdims=True)
    overheads = (levels[:, :2] - levels[:, 2:]).T
    first, second = (float(mean) for mean in overheads.mean(axis=1))
    three = np.vstack([overheads, overheads[0] - overheads[1]])
    errors = bootstrap_standard_error(three, seed, correlation=correlation)
    variance, second_variance, of_difference = (float(error) ** 2 for error in errors)
    # Of a metric that falls below the baseline's, both overheads are negative. Their ratio has the signs changed.
    quantile = _quantile(0.95, _freedom(levels, correlation))
    if max(first + quantile * variance**0.5, second + quantile * second_variance**0.5) < 0:
        first, second = -first, -second
    covariance = (variance + second_variance - of_difference) / 2

    def excess(bound: float) -> tuple[float, float]:
        squared = max(0.0, variance - 2 * bound * covariance + bound**2 * second_variance)
        return first - bound * second, float(np.sqrt(squared))

    def limits(quantile: float) -> tuple[float, float] | None:
        square = second**2 - quantile**2 * second_variance
        if square <= 0 or second <= 0:
            return None
        middle = first * second - quantile**2 * covariance
        root = float(np.sqrt(max(0.0, middle**2 - square * (first**2 - quantile**2 * variance))))
        return (middle - root) / square, (middle + root) / square

    return Evidence(_freedom(levels, correlation), first / second if second > 0 else None, excess, limits)


def _freedom(blocks: FloatArray, correlation: float) -> float:
    return float(independent(len(blocks), correlation)[1])


@cache
def _quantile(confidence: float, freedom: float) -> float:
    return float(scipy.special.stdtrit(freedom, (1 + confidence) / 2))
