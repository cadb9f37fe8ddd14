"""Comparing JSON values: floats agree within 1e-9 of their size, everything else exactly."""

import math
from collections.abc import Iterator
from typing import Any

TOLERANCE = 1e-9
Json = Any


def differences(golden: Json, current: Json, place: str) -> Iterator[str]:
    """Yield where two values differ, and how."""
    if isinstance(golden, dict) and isinstance(current, dict):
        for key in [*golden, *(key for key in current if key not in golden)]:
            if key not in current:
                yield f"{place}/{key}: was {_shown(golden[key])}, is missing"
            elif key not in golden:
                yield f"{place}/{key}: is new: {_shown(current[key])}"
            else:
                yield from differences(golden[key], current[key], f"{place}/{key}")
    elif isinstance(golden, list) and isinstance(current, list):
        if len(golden) != len(current):
            yield f"{place}: had {len(golden)} items, has {len(current)}: {_shown(golden)}, {_shown(current)}"
        else:
            for index, (one, other) in enumerate(zip(golden, current, strict=True)):
                yield from differences(one, other, f"{place}/{index}")
    elif not _same(golden, current):
        yield f"{place}: was {_shown(golden)}, is {_shown(current)}"


def _same(golden: Json, current: Json) -> bool:
    if type(golden) is float and type(current) is float:
        return math.isclose(golden, current, rel_tol=TOLERANCE, abs_tol=0.0)
    return type(golden) is type(current) and bool(golden == current)


def _shown(value: Json) -> str:
    text = repr(value)
    return text if len(text) <= 300 else f"{text[:300]}..."
