"""What a measure owes to a covariate that was measured at the same time, and to a trial's place in its block."""

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


@dataclass(frozen=True)
class Row:
    """One trial: its level, block and place, and the logarithm of the measure."""

    level: str
    block: int
    place: int
    measure: float


@dataclass(frozen=True)
class Places:
    """What places add to a measure, and what is left of it without.

    `effects`: in the order of places, as logarithms with mean 0. `explained`: the share of what levels and blocks leave
    of the variance. `left`: each row's measure without its place's part.
    """

    effects: FloatArray
    explained: float
    left: FloatArray


def without_places(rows: Sequence[Row]) -> Places | None:
    """Fit levels, blocks and places to the rows, and remove the places' part: the analysis of a Latin square.

    (Fisher, The Design of Experiments, 1935; the orders of side-by-side blocks are rows of one.) The
    residuals of the fit are smaller than the true noise, because places were fitted to the same rows. With fewer blocks
    than places, levels are also less precise. The residuals are enlarged to correct for both, so intervals computed
    from the rows keep their coverage. None if places cannot be estimated (fewer than three blocks).
    """
    measure = np.array([row.measure for row in rows], dtype=np.float64)
    levels, blocks, places = (
        _indicators(found)
        for found in ([row.level for row in rows], [row.block for row in rows], [row.place for row in rows])
    )
    few, many = np.hstack((levels, blocks)), np.hstack((levels, blocks, places))
    rank_few, rank_many = (int(np.linalg.matrix_rank(design)) for design in (few, many))
    # Levels, blocks and places each sum to the same column of ones.
    if rank_many == len(rows) or rank_many < many.shape[1] - 2:
        return None
    fitted = np.linalg.lstsq(many, measure, rcond=None)[0]
    of_places = fitted[-places.shape[1] :]
    effects = of_places - of_places.mean()
    noise = measure - many @ fitted
    before = measure - few @ np.linalg.lstsq(few, measure, rcond=None)[0]
    total = float(before @ before)
    fewer_free = (len(rows) - rank_few) / (len(rows) - rank_many)
    larger = np.sqrt(fewer_free * _variance(many, levels) / _variance(few, levels))
    return Places(
        effects=effects,
        explained=1 - float(noise @ noise) / total if total else 0.0,
        left=measure - places @ effects + (larger - 1) * noise,
    )


def _indicators(found: Sequence[str | int]) -> FloatArray:
    return np.array([[one == name for name in sorted(set(found))] for one in found], dtype=np.float64)


def _variance(design: FloatArray, levels: FloatArray) -> float:
    """Return the mean variance of the differences between levels, in units of the noise's variance.

    Levels are the design's first columns.
    """
    count = levels.shape[1]
    covariance = np.linalg.pinv(design.T @ design)[:count, :count]
    centred = np.eye(count) - 1 / count
    return float(np.trace(centred @ covariance @ centred))
