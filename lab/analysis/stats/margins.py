"""When two levels are the same: margins are those of overheads."""

from collections.abc import Mapping

from lab.analysis.stats.compare import Cell, Comparison


def of_overheads(margin: float, one: float | None, other: float | None) -> float:
    """Return how far from 1 `one / other` may be if both overheads are the same: `margin` of the larger of them.

    `one` and `other` are two levels' ratios to the baseline: 5 % of a ratio of 1.33 would be a fifth of the overhead.
    None: the baseline has nothing of it, so that a level's value is its overhead.
    """
    if one is None or other is None:
        return margin
    return margin * max(abs(one - 1), abs(other - 1)) / other


def of_interactions(margin: float, ratios: Mapping[Cell, Comparison], first: str) -> dict[Cell, float]:
    """Return, of each cell, the margin of its ratio over that at the second factor's `first` level."""
    means = {cell: found.ratio.mean if found.ratio else None for cell, found in ratios.items()}
    return {cell: of_overheads(margin, mean, means.get((cell[0], first))) for cell, mean in means.items()}
