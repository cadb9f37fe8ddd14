"""Laying one configuration over another: mappings key by key, anything else is replaced."""

import copy
from collections.abc import Iterator, Mapping
from typing import Any

# Sets that Envoy writes as text with commas: two of them are joined.
SETS = frozenset({"retry_on"})


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """A new mapping: `base` with `over` laid over it."""
    result = copy.deepcopy(dict(base))
    for key, value in over.items():
        below: Any = result.get(key)
        if isinstance(below, dict) and isinstance(value, Mapping):
            result[key] = merged(below, value)
        elif key in SETS and key in result:
            result[key] = ",".join(dict.fromkeys([*below.split(","), *value.split(",")]))
        else:
            result[key] = copy.deepcopy(value)
    return result


def conflicts(one: Mapping[str, Any], other: Mapping[str, Any], above: str = "") -> Iterator[str]:
    """The paths (`cluster.connect_timeout`) that both mappings set, each to something else."""
    for key in (key for key in one if key in other):
        mine, theirs = one[key], other[key]
        if isinstance(mine, Mapping) and isinstance(theirs, Mapping):
            yield from conflicts(mine, theirs, f"{above}{key}.")
        elif key not in SETS and mine != theirs:
            yield above + key
