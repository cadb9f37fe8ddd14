"""Whether a covariate's slope from within windows also holds between trials."""

from collections.abc import Sequence

import numpy as np

from lab.analysis.stats.intervals import FloatArray
from lab.analysis.stats.places import indicators


def lessens_scatter(levels: Sequence[str], blocks: Sequence[int], values: FloatArray, exponent: float) -> bool:
    """Say whether trials differ less without the slope's part, levels and blocks apart. True where they cannot differ.

    `values`: a row per trial, with the logarithms of the covariate and of the measure. Within windows both may follow
    a third thing that does not differ between trials, such as bursts of load. That slope adds noise between trials.
    """
    design = np.hstack((indicators(levels), indicators(blocks)))
    x, y = (values - design @ np.linalg.lstsq(design, values, rcond=None)[0]).T
    none_left = len(values) <= np.linalg.matrix_rank(design)
    return bool(none_left or np.sum((y - exponent * x) ** 2) < y @ y)
