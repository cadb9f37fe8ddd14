"""What two runs of one experiment must share, so that they repeat each other."""

from collections.abc import Mapping
from typing import Any

ENDS = ("budget_min", "half_width", "repetitions")
"""The fields of the protocol that end a run, and change nothing in its trials."""


def without_ends(spec: Mapping[str, Any], *also: str) -> dict[str, Any]:
    """Return a recorded experiment without what ends a run, and without `also`, further fields of its protocol."""
    left_out = {*ENDS, *also}
    return {**spec, "protocol": {name: value for name, value in spec["protocol"].items() if name not in left_out}}
