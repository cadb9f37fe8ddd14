"""`results.json`: values that another program measured, such as a benchmark's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from lab.record.files import Record, read_json, validated

FORMAT, VERSION = "tollbooth.results", 1
Censoring = Literal["at least", "at most"]
"""What a value is a bound of, if the search for it ended without finding it."""


class Results(Record):
    """Values by name, each in the unit that its metric states; `censored` says which of them are only bounds."""

    values: Mapping[str, float]
    censored: Mapping[str, Censoring] = Field(default_factory=dict)


def read_results(path: Path) -> Results:
    """Read `results.json`."""
    return validated(Results, read_json(path, FORMAT, VERSION), path)
