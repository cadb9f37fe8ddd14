"""Least squares on relative errors: a sum of costs, fitted to a grid of trials, with prediction intervals.

Costs span orders of magnitude over a grid, and are judged by relative error. So each trial's row is divided by its
value (weighted least squares; Draper and Smith, "Applied Regression Analysis", 3rd edition, 1998, chapter 9).

No coefficient is negative, because nothing pays for being done (non-negative least squares; Lawson and Hanson, "Solving
Least Squares Problems", 1995, chapter 23). With a negative one, a cost could have a limit that no load exceeds.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from lab.spec.model import Shape


class Fit(Shape):
    """Coefficients of the named terms, their covariance, and the standard deviation of relative errors.

    `covariance`: as if coefficients could be negative. Where one is 0, intervals are too wide rather than too narrow.
    `freedom`: the number of trials less that of terms, also of those that are 0.
    """

    terms: Sequence[str]
    coefficients: Sequence[float]
    covariance: Sequence[Sequence[float]]
    residual_sd: float
    freedom: int


@dataclass(frozen=True)
class Predicted:
    """What a trial would show, with the interval for one trial; nothing costs less than 0."""

    value: float
    low: float
    high: float

    def times(self, factor: float) -> "Predicted":
        """Return it in another unit."""
        return Predicted(self.value * factor, self.low * factor, self.high * factor)


def fit(terms: Sequence[str], rows: ArrayLike, values: ArrayLike) -> Fit:
    """Fit `values` (trials,), all positive, as a sum of terms; `rows` (trials, terms) are the terms' factors.

    Raises `ValueError` if the trials do not determine every term.
    """
    found = np.asarray(values, dtype=np.float64)
    relative = np.asarray(rows, dtype=np.float64) / found[:, None]
    # Terms have different units: scaled, so that the rank does not depend on them.
    scales = np.linalg.norm(relative, axis=0)
    freedom = len(found) - len(terms)
    if freedom < 1 or np.any(scales == 0) or np.linalg.matrix_rank(relative / scales) < len(terms):
        raise ValueError(f"{len(found)} trials do not determine {', '.join(terms)}: vary more, or add trials")
    scaled = scipy.optimize.nnls(relative / scales, np.ones(len(found)))[0]
    errors = 1 - relative / scales @ scaled
    variance = float(errors @ errors) / freedom
    inverse = np.linalg.inv((relative / scales).T @ (relative / scales)) / np.outer(scales, scales)
    return Fit(
        terms=list(terms),
        coefficients=(scaled / scales).tolist(),
        covariance=(variance * inverse).tolist(),
        residual_sd=variance**0.5,
        freedom=freedom,
    )


def predict(fitted: Fit, row: ArrayLike, confidence: float = 0.95) -> Predicted:
    """Predict one trial from its terms' factors (terms,)."""
    factors = np.asarray(row, dtype=np.float64)
    value = max(0.0, float(factors @ fitted.coefficients))
    variance = float(factors @ np.asarray(fitted.covariance) @ factors) + (fitted.residual_sd * value) ** 2
    reach = float(scipy.special.stdtrit(fitted.freedom, (1 + confidence) / 2)) * variance**0.5
    return Predicted(value, max(0.0, value - reach), value + reach)
