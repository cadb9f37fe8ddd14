"""What of a measure's ups and downs follows another, seen to go up and down at the same time."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lab.stats.intervals import FloatArray

# With fewer, a slope says more of its own noise than of the measures.
FEWEST_PIECES = 20


# Of logarithms: below this the covariate never moved but for rounding.
SMALLEST_SQUARES = 1e-12


@dataclass(frozen=True)
class Row:
    """One trial: its level and block, and the logarithms of the covariate and of the measure."""

    level: str
    block: int
    covariate: float
    measure: float


@dataclass(frozen=True)
class Slope:
    """By how many percent a measure goes up where the covariate goes up by 1 %, with its standard error.

    `pieces`: how many pieces of windows, or trials, it is from. `explained`: the share of the variance within windows,
    or of what levels and blocks leave.
    """

    exponent: float
    standard_error: float
    pieces: int
    explained: float

    @property
    def clear(self) -> bool:
        """Whether it is told apart from 0 at 95 %: one that is not would add its own noise."""
        return abs(self.exponent) > 2 * self.standard_error


def crossed_slope(rows: Sequence[Row]) -> Slope | None:
    """Fit the slope between trials, each a row, that neither their level nor their block explains.

    Levels and blocks are fitted along with it, so that what a level costs takes no part where the covariate was
    assigned at random, as a place in a random order is: the analysis of covariance of a randomised block design
    (Cochran, 1957). None where there are fewer than `FEWEST_PIECES` trials, or nothing is left to fit it to.
    """
    if len(rows) < FEWEST_PIECES:
        return None
    x, y = np.array([(row.covariate, row.measure) for row in rows], dtype=np.float64).T
    groups = [*_indicators([row.level for row in rows]), *_indicators([str(row.block) for row in rows])]
    design = np.column_stack(groups)
    fitted = np.linalg.lstsq(design, np.column_stack((x, y)), rcond=None)[0]
    x, y = (np.column_stack((x, y)) - design @ fitted).T
    squares, free = float(x @ x), len(rows) - int(np.linalg.matrix_rank(design)) - 1
    if free < 1 or squares < SMALLEST_SQUARES:
        return None
    exponent = float(x @ y) / squares
    left, whole = float(np.sum((y - exponent * x) ** 2)), float(y @ y)
    return Slope(exponent, math.sqrt(left / free / squares), len(rows), 1 - left / whole if whole else 0.0)


def _indicators(names: Sequence[str]) -> list[FloatArray]:
    return [np.array([one == name for one in names], dtype=np.float64) for name in sorted(set(names))]


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
    whole = float(y @ y)
    return Slope(exponent, math.sqrt(left / free / squares), len(x), 1 - left / whole if whole else 0.0)
