"""What a trial's place in the order of starts adds to a measure, and how much of that may be chance."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

# With two, what a level does in both of its places leaves next to nothing to know the noise from.
FEWEST_BLOCKS = 3


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
    of the variance. `by_chance`: the share that is expected where places add nothing. `p_value`: of the F test of that.
    `left`: each row's measure without its place's part.
    """

    effects: NDArray[np.float64]
    explained: float
    by_chance: float
    p_value: float
    left: NDArray[np.float64]


def without_places(rows: Sequence[Row]) -> Places | None:
    """Fit levels, blocks and places to the rows, and remove the places' part: the analysis of a Latin square.

    (Fisher, The Design of Experiments, 1935; the orders of side-by-side blocks are rows of one.) Of places, two numbers
    are fitted: what the first adds, and a straight line over all. One for each place would cost more precision than it
    removes noise. The residuals of the fit are smaller than the true noise, because places were fitted to the same
    rows. With fewer blocks than places, levels are also less precise. The residuals are enlarged to correct for both,
    so intervals computed from the rows keep their coverage. None if places cannot be estimated (fewer than three
    blocks, or places that cannot be separated from levels).
    """
    if len({row.block for row in rows}) < FEWEST_BLOCKS:
        return None
    measure = np.array([row.measure for row in rows], dtype=np.float64)
    levels, blocks = (indicators(found) for found in ([row.level for row in rows], [row.block for row in rows]))
    known, place = np.unique([row.place for row in rows], return_inverse=True)
    shape = np.column_stack((known == 0, known)).astype(np.float64)
    places = (shape - shape.mean(axis=0))[place]
    few, many = np.hstack((levels, blocks)), np.hstack((levels, blocks, places))
    free_few, free = (len(rows) - int(np.linalg.matrix_rank(design)) for design in (few, many))
    # Levels and blocks each sum to the same column of ones.
    if free == 0 or len(rows) - free < many.shape[1] - 1:
        return None
    fitted = np.linalg.lstsq(many, measure, rcond=None)[0]
    effects = (shape - shape.mean(axis=0)) @ fitted[-2:]
    noise = measure - many @ fitted
    before = measure - few @ np.linalg.lstsq(few, measure, rcond=None)[0]
    # Where places explain nothing, rounding may make it more than all; of equal measures, only rounding is left.
    unexplained = min(1.0, float(noise @ noise) / total) if (total := float(before @ before)) > 1e-20 else 1.0
    larger = np.sqrt(free_few / free * _variance(many, levels) / _variance(few, levels))
    return Places(
        effects=effects,
        explained=1 - unexplained,
        by_chance=2 / free_few,
        # The share that is explained has a beta distribution where places add nothing, which is the F test.
        p_value=float(scipy.special.betainc(free / 2, 1, unexplained)),
        left=measure - effects[place] + (larger - 1) * noise,
    )


def indicators(found: Sequence[str | int]) -> NDArray[np.float64]:
    """Return a column for each different value: 1 in the rows that have it, 0 in the others."""
    return np.array([[one == name for name in sorted(set(found))] for one in found], dtype=np.float64)


def _variance(design: NDArray[np.float64], levels: NDArray[np.float64]) -> float:
    """Return the mean variance of the differences between levels, in units of the noise's variance.

    Levels are the design's first columns.
    """
    count = levels.shape[1]
    covariance = np.linalg.pinv(design.T @ design)[:count, :count]
    centred = np.eye(count) - 1 / count
    return float(np.trace(centred @ covariance @ centred))
