"""A level against its baseline, block by block; the costs of two crossed factors; many comparisons at once."""

import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from lab.analysis.stats.intervals import FloatArray, Interval, mean_interval
from lab.record import Censoring, Finding

Key = TypeVar("Key", int, str)
# A level of the one of two factors and a level of the other.
Cell = tuple[str, str]
# A metric's value by block.
Blocks = Mapping[int, float]

FOLLOWS: Mapping[Censoring, Finding] = {"at least": "higher", "at most": "lower"}
"""The only finding that a bound allows: the true mean is further out than the mean of bounds."""


@dataclass(frozen=True)
class Comparison:
    """A level against its baseline over `n` blocks.

    `ratio` is of geometric means, None where a value is not positive; `difference` is of means, in the metric's unit.
    `log_ratio_sd` is the spread of the ratio's logarithm between blocks, which says how many blocks a precision needs.
    `bound`: what the ratio and the difference are a bound of, if they are one.
    """

    n: int
    ratio: Interval | None
    difference: Interval
    log_ratio_sd: float | None = None
    bound: Censoring | None = None

    @property
    def p_value(self) -> float | None:
        """Of the test that level and baseline are the same: the ratio's where there is one."""
        return (self.ratio or self.difference).p_value

    def finding(self, p_adjusted: float | None, alpha: float, margin: float) -> Finding:
        """Say what the comparison shows.

        `same within margin` needs the ratio's complete interval within 1 ± `margin`: two one-sided tests, each at
        alpha / 2 (Schuirmann, 1987). It comes first: a real but tiny difference is the same for every purpose.
        `higher` and `lower` need both the test, corrected for many comparisons, and the interval. A difference
        alone has no natural margin, so it is the same only where it is 0 throughout. Bounds show what they show of
        themselves, if the true values are further out in that direction.
        """
        found = self._finding(p_adjusted, alpha, margin)
        return found if self.bound is None or found == FOLLOWS[self.bound] else "inconclusive"

    def _finding(self, p_adjusted: float | None, alpha: float, margin: float) -> Finding:
        shown, same, reach = (self.difference, 0.0, 0.0) if self.ratio is None else (self.ratio, 1.0, margin)
        if shown.low is None or shown.high is None or p_adjusted is None:
            return "inconclusive"
        if same - reach <= shown.low and shown.high <= same + reach:
            return "same within margin"
        if p_adjusted <= alpha and shown.low > same:
            return "higher"
        if p_adjusted <= alpha and shown.high < same:
            return "lower"
        return "inconclusive"


def paired(level: Mapping[int, float], baseline: Mapping[int, float]) -> list[tuple[float, float]]:
    """Return (level, baseline) of the blocks that have both, in the blocks' order."""
    return [(level[block], baseline[block]) for block in sorted(level.keys() & baseline.keys())]


def mean_of(runs: Sequence[Mapping[Key, float]]) -> dict[Key, float]:
    """Return, by block or by metric, the mean of what several runs of one system gave, of those that have it."""
    return {key: statistics.fmean(run[key] for run in runs if key in run) for key in sorted(set().union(*runs))}


def compare(pairs: Sequence[tuple[float, float]], confidence: float, seed: int, correlation: float = 0.0) -> Comparison:
    """Compare (level, baseline) pairs, one per block; raises `ValueError` without any.

    What the trials of a block share, the machine's state at the time, cancels within a pair (Kalibera and Jones, 2013;
    Abedi and Brecht, 2017). `correlation`: of neighbouring blocks (`serial`).
    """
    level, baseline = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    difference = mean_interval(level - baseline, confidence, seed, correlation)
    if np.any(level <= 0) or np.any(baseline <= 0):
        return Comparison(len(level), None, difference)
    logs = log_ratios(level, baseline)
    found = mean_interval(logs, confidence, seed, correlation)
    low, high = (None if bound is None else float(np.exp(bound)) for bound in (found.low, found.high))
    ratio = Interval(float(np.exp(found.mean)), low, high, found.p_value)
    return Comparison(len(level), ratio, difference, float(logs.std(ddof=1)) if len(logs) > 1 else None)


def log_ratios(level: FloatArray, baseline: FloatArray) -> FloatArray:
    """Return ln(level / baseline) of each pair.

    On this scale costs that multiply add up, and equal noise on both sides is symmetric, whatever its distribution:
    what a t interval needs with few blocks.
    """
    return np.log(level) - np.log(baseline)


def interactions(
    cells: Mapping[Cell, Blocks], reference: Cell, confidence: float, seed: int, correlation: float = 0.0
) -> dict[Cell, Comparison]:
    """Compare the first factor's cost at each level of the second with its cost at the reference level.

    A cell's `ratio` is (a, b) / (a0, b) over (a, b0) / (a0, b0), of geometric means, paired within blocks: 1 where the
    factors' costs multiply and neither changes the other (the multiplicative model of Jain, The Art of Computer
    Systems Performance Analysis, 1991, chapter 18). Cells of a reference level are left out, they are 1 by definition;
    so are those without a block that has all four, or with a value that is not positive.
    """
    a0, b0 = reference
    pairs = {
        (a, b): list(_pairs(*(cells.get(cell, {}) for cell in ((a, b), (a0, b), (a, b0), (a0, b0)))))
        for a, b in cells
        if a != a0 and b != b0
    }
    return {cell: compare(found, confidence, seed, correlation) for cell, found in pairs.items() if found}


def _pairs(both: Blocks, second: Blocks, first: Blocks, neither: Blocks) -> Iterator[tuple[float, float]]:
    """Return the first factor's ratio with the second and without it, of each block that has all four values."""
    return (
        (both[block] / second[block], first[block] / neither[block])
        for block in sorted(both.keys() & second.keys() & first.keys() & neither.keys())
        if min(cell[block] for cell in (both, second, first, neither)) > 0
    )


def holm(p_values: Mapping[str, float]) -> dict[str, float]:
    """Return p values adjusted for their number, so that each may be compared with the level itself.

    The chance of even one false finding among them stays below the level, however they depend on each other (Holm,
    1979, "A simple sequentially rejective multiple test procedure").
    """
    adjusted: dict[str, float] = {}
    largest = 0.0
    for rank, name in enumerate(sorted(p_values, key=lambda key: p_values[key])):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[name]))
        adjusted[name] = largest
    return adjusted
