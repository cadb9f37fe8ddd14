"""`results.json`: values that another program measured, such as a benchmark's.

Several parts of a trial may each leave some, in `results-<part>.json`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field

from lab.record.files import Record, read_json, validated, write_json_atomic

FORMAT, VERSION = "tollbooth.results", 1
Censoring = Literal["at least", "at most"]
"""What a value is a bound of, if the search for it ended without finding it."""


class Results(Record):
    """Values by name, each in the unit that its metric states; `censored` says which of them are only bounds."""

    values: Mapping[str, float]
    censored: Mapping[str, Censoring] = Field(default_factory=dict)


def write_results(folder: Path, part: str, results: Results) -> None:
    """Write a part's values to a trial's folder."""
    write_json_atomic(
        folder / f"results-{part}.json", {"format": FORMAT, "version": VERSION, **results.model_dump(mode="json")}
    )


def read_results(path: Path) -> Results:
    """Read `results.json`."""
    return validated(Results, read_json(path, FORMAT, VERSION), path)
