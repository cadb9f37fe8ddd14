"""Two crossed factors: whether the cost of one depends on the other."""

from collections.abc import Iterator, Mapping

from lab.analysis.stats.compare import Comparison, compare

# A level of the one factor and a level of the other.
Cell = tuple[str, str]
# A metric's value by block.
Blocks = Mapping[int, float]


def interactions(cells: Mapping[Cell, Blocks], reference: Cell, confidence: float, seed: int) -> dict[Cell, Comparison]:
    """Compare the first factor's cost at each level of the second with its cost at the reference level.

    A cell's `ratio` is (a, b) / (a0, b) over (a, b0) / (a0, b0), of geometric means, paired within blocks: 1 where the
    factors' costs multiply and neither changes the other (the multiplicative model of Jain, The Art of Computer
    Systems Performance Analysis, 1991, chapter 18). Cells of a reference level are left out, they are 1 by definition;
    so are those without a block that has all four, or with a value that is not positive.
    """
    a0, b0 = reference
    found = {}
    for a, b in cells:
        if a == a0 or b == b0:
            continue
        pairs = list(_pairs(*(cells.get(cell, {}) for cell in ((a, b), (a0, b), (a, b0), (a0, b0)))))
        if pairs:
            found[a, b] = compare(pairs, confidence, seed)
    return found


def _pairs(both: Blocks, second: Blocks, first: Blocks, neither: Blocks) -> Iterator[tuple[float, float]]:
    """Yield the first factor's ratio with the second and without it, of each block that has all four values."""
    for block in sorted(both.keys() & second.keys() & first.keys() & neither.keys()):
        values = both[block], second[block], first[block], neither[block]
        if min(values) > 0:
            yield values[0] / values[1], values[2] / values[3]
