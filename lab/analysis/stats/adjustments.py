"""What a measure owes to a covariate that was measured at the same time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.analysis.stats.intervals import FloatArray

# With fewer, a slope says more of its own noise than of the measures.
FEWEST_PIECES = 20


@dataclass(frozen=True)
class Slope:
    """By how many percent a measure goes up where the covariate goes up by 1 %, with its standard error.

    `pieces`: how many pieces of windows it is from. `explained`: the share of the variance within windows.
    """

    exponent: float
    standard_error: float
    pieces: int
    explained: float

    @property
    def clear(self) -> bool:
        """Whether it differs from 0 at 95 %. Another slope would only add noise."""
        return abs(self.exponent) > 2 * self.standard_error


def within_slope(windows: Sequence[FloatArray]) -> Slope | None:
    """Fit the slope within windows: each a row per piece, with the logarithms of the covariate and of the measure.

    Each window's means are taken away first, so that nothing that differs *between* trials, such as their levels, takes
    part: the within-group slope of the analysis of covariance (Cochran, Analysis of covariance: its nature and uses,
    Biometrics 13, 1957). Noise in the covariate makes it too small, never too large. None where there are fewer than
    `FEWEST_PIECES`, or the covariate never moves.
    """
    centred = [window - window.mean(axis=0) for window in windows if len(window) > 1]
    if not centred:
        return None
    x, y = np.concatenate(centred).T
    squares = float(x @ x)
    free = len(x) - len(centred) - 1
    if len(x) < FEWEST_PIECES or squares == 0 or free < 1:
        return None
    exponent = float(x @ y) / squares
    left = float(np.sum((y - exponent * x) ** 2))
    total = float(y @ y)
    return Slope(exponent, math.sqrt(left / free / squares), len(x), 1 - left / total if total else 0.0)
