"""Many comparisons at once."""

from collections.abc import Mapping


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
