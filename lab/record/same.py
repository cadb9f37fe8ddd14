"""Where the contents of two records differ by more than rounding."""

import math
from collections.abc import Iterator, Mapping
from typing import Any

SAME = 1e-9
"""By how much a number may differ, as a share. Sums of other parts round so."""


def different(one: Any, other: Any, path: str = "") -> Iterator[str]:
    """Yield the places where the contents of two records differ by more than rounding."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        for name in {**one, **other}:
            yield from different(one.get(name), other.get(name), f"{path}.{name}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for index, (first, second) in enumerate(zip(one, other, strict=True)):
            yield from different(first, second, f"{path}[{index}]")
    elif isinstance(one, float) and isinstance(other, float):
        if not math.isclose(one, other, rel_tol=SAME):
            yield path
    elif one != other:
        yield path
