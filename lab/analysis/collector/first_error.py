"""What the first error of a ramp follows: the rate, the workers, the connections, or the queue (claim C8).

If errors start at one value of a quantity, that value is the same on all levels, whatever else they change. So the
first error follows the quantity whose logarithm differs least between levels. Two spreads of the same levels are
compared by the test of Pitman ("A note on normal correlation", Biometrika 31, 1939) and Morgan (same volume), which
allows for their correlation. The source asserts the trace rate, with one level.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from lab.analysis.stats import FloatArray

INCONCLUSIVE = "inconclusive"
_FEWEST_LEVELS = 3


@dataclass(frozen=True)
class Ramp:
    """A ramp of one level: the candidates' values at its first error; `failed` is False: their highest, without one.

    A candidate is something that the load drives, such as the length of a queue. A setting that all levels share is
    none: it is the same everywhere, and says nothing.
    """

    values: Mapping[str, float]
    failed: bool = True


@dataclass(frozen=True)
class Spread:
    """How much a candidate's value at the first error differs between levels, as a standard deviation of logarithms.

    `value`: the geometric mean. `at_least`: no ramp had an error, so there is no spread, and the value is the highest
    that was reached. `low`, `high`: the spread's interval; None with a single error.
    """

    value: float
    at_least: bool
    sd: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class FirstError:
    """What the first error follows, or `inconclusive`; `p_value`: of the best two having the same spread."""

    follows: str
    p_value: float | None
    spreads: Mapping[str, Spread]


def first_error(ramps: Sequence[Ramp], confidence: float = 0.95) -> FirstError:
    """Say which candidate the first errors of the ramps follow.

    A ramp without an error counts where it reached a higher value than the others' mean: it should have failed there.
    Raises `ValueError` without a ramp, if ramps have different candidates, and for values that are not positive.
    """
    names = _candidates(ramps)
    if not any(ramp.failed for ramp in ramps):
        highest = {name: max(ramp.values[name] for ramp in ramps) for name in names}
        return FirstError(INCONCLUSIVE, None, {name: Spread(value, at_least=True) for name, value in highest.items()})
    logs = {name: _logs(ramps, name) for name in names}
    errors = sum(ramp.failed for ramp in ramps)
    spreads = {name: _spread(values, errors, confidence) for name, values in logs.items()}
    p_value = None
    ranked = sorted(names, key=lambda name: spreads[name].sd or 0.0)
    if len(ranked) > 1 and errors >= _FEWEST_LEVELS:
        p_value = _same_spread(logs[ranked[0]], logs[ranked[1]], errors)
    decided = p_value is not None and p_value < 1 - confidence
    return FirstError(ranked[0] if decided else INCONCLUSIVE, p_value, spreads)


def _candidates(ramps: Sequence[Ramp]) -> list[str]:
    names = [sorted(ramp.values) for ramp in ramps]
    if not names or any(of_ramp != names[0] for of_ramp in names):
        raise ValueError("ramps with the same candidates are needed")
    if any(value <= 0 for ramp in ramps for value in ramp.values.values()):
        raise ValueError("a candidate's value has a logarithm only if it is positive")
    return names[0]


def _logs(ramps: Sequence[Ramp], name: str) -> FloatArray:
    """Return a candidate's logarithms (ramps,); those of ramps without an error are at least the others' mean."""
    logs = np.log([ramp.values[name] for ramp in ramps])
    failed = np.array([ramp.failed for ramp in ramps])
    return np.where(failed, logs, np.maximum(logs, logs[failed].mean()))


def _spread(logs: FloatArray, errors: int, confidence: float) -> Spread:
    """Return the spread with its chi-square interval; only ramps with an error are degrees of freedom."""
    value = float(np.exp(logs.mean()))
    if errors < 2:
        return Spread(value, at_least=False)
    freedom, squares = errors - 1, float(np.sum((logs - logs.mean()) ** 2))
    tail = (1 - confidence) / 2
    # `chdtri` is the inverse of the upper tail.
    least, most = (squares / float(scipy.special.chdtri(freedom, share)) for share in (tail, 1 - tail))
    return Spread(value, False, (squares / freedom) ** 0.5, least**0.5, most**0.5)


def _same_spread(one: FloatArray, other: FloatArray, errors: int) -> float | None:
    """Return the p value that two candidates of the same ramps have one spread; None where they differ by a factor.

    Only ramps with an error are degrees of freedom.
    """
    total, gap = one + other, one - other
    total, gap = total - total.mean(), gap - gap.mean()
    lengths = float(np.linalg.norm(total) * np.linalg.norm(gap))
    # Rounding alone is no difference.
    if lengths <= 1e-12:
        return None
    correlation = min(abs(float(total @ gap)) / lengths, 1.0)
    freedom = errors - 2
    if correlation > 1 - 1e-12:
        return 0.0
    return float(2 * scipy.special.stdtr(freedom, -correlation * (freedom / (1 - correlation**2)) ** 0.5))
