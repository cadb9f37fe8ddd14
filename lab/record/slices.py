"""`slices.json`: what each slice of systems that take turns cost; a kept run may have it in place of raw records."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from lab.record.files import Record, read_json, validated


@dataclass(frozen=True)
class SliceCost:
    """CPU per request of one slice, in ms. `before`: the level that had the slice before it, None where none had."""

    set: int
    level: str
    traced: bool
    round: int
    position: int
    before: str | None
    cpu_ms: float
    start_ns: int


class SliceCosts(Record):
    """`slices.json`, in order of time within each set."""

    format: Literal["tollbooth.slices"] = "tollbooth.slices"
    version: Literal[1] = 1
    slices: Sequence[SliceCost]


def read_slices(path: Path) -> SliceCosts:
    """Read `slices.json`."""
    return validated(SliceCosts, read_json(path, "tollbooth.slices", 1), path)
