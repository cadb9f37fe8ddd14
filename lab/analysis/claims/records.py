"""`claims.json`: the verdict on each claim (format: docs/reference/formats.md)."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from lab.analysis.claims.questions import Quantity
from lab.analysis.claims.swept import Swept
from lab.record import Record, read_json, validated, write_json_atomic

Answer = Literal["holds", "does not hold", "inconclusive"]
Verdict = Literal["holds here", "does not hold here", "inconclusive", "not tested here"]


class Part(Record):
    """The answer to one question: a ratio with its interval, and the bounds that it must lie within.

    `low` and `high` are None where there is no interval, `wanted_low` and `wanted_high` where there is no bound.
    `n`: blocks with valid trials of all `levels`. `noise_floor`: as in the summary.
    """

    metric: str
    title: str
    quantity: Quantity
    levels: tuple[str, ...]
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    n: int
    wanted_low: float | None
    wanted_high: float | None
    noise_floor: float | None
    answer: Answer
    reason: str | None = None


class Judged(Record):
    """A claim and its verdict. `reason` says what the run lacks for the rest of its comparisons."""

    study: str
    id: str
    says: str
    published: str | None
    verdict: Verdict
    reason: str | None = None
    parts: tuple[Part, ...] = ()
    swept: Swept | None = None


class Beside(Record):
    """A published number (`by`: whose), and this run's mean of the same metric and level with its interval."""

    study: str
    metric: str
    title: str
    unit: str
    level: str
    by: str | None = Field(default=None, exclude_if=lambda by: by is None)
    published: float
    mean: float
    mean_low: float | None
    mean_high: float | None
    n: int


class Verdicts(Record):
    """`claims.json`."""

    format: Literal["tollbooth.claims-verdicts"] = "tollbooth.claims-verdicts"
    version: Literal[2] = 2
    experiment: str
    confidence: float
    sources: dict[str, str]
    claims: tuple[Judged, ...]
    figures: tuple[Beside, ...] = ()


def write_verdicts(path: Path, verdicts: Verdicts) -> None:
    """Write `claims.json` completely or not at all."""
    write_json_atomic(path, verdicts.model_dump(mode="json"))


def read_verdicts(path: Path) -> Verdicts:
    """Read `claims.json`; raises `UserError` where it is missing, broken, or of another version."""
    return validated(Verdicts, read_json(path, "tollbooth.claims-verdicts", 2), path)
