"""What an exercise requires of a run, and its questions. One file each: `exercises/<number>.yaml`.

No file holds a number that a run could give: keys follow from the student's own records.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.errors import UserError
from lab.spec import (
    Shape,
    SpecError,
    Version1,
    dotted,
    named_files,
    parse_yaml,
    read_text,
    suggestion,
    user_error,
    validate,
)

FOLDER = Path(__file__).parent / "exercises"


class BaseQuestion(Shape):
    """What every question has. `asks`: the question, in words."""

    asks: str


class ValueQuestion(BaseQuestion):
    """A number of the run: a level's mean, or its ratio to the baseline or to another level."""

    kind: Literal["value"]
    metric: str
    level: str
    of: Literal["mean", "ratio"] = "mean"
    to: str | None = None


class FindingQuestion(BaseQuestion):
    """What the run says of a difference: higher, lower, same within margin, or inconclusive."""

    kind: Literal["finding"]
    metric: str
    level: str
    to: str | None = None


class BeyondNoiseQuestion(BaseQuestion):
    """Whether a level's difference is larger than the noise floor: yes or no."""

    kind: Literal["beyond-noise"]
    metric: str
    level: str


class DrawnQuestion(BaseQuestion):
    """Something of the raw records of one trial, which is drawn for each run: a name of `keys.DRAWN`."""

    kind: Literal["drawn"]
    what: str


Question = Annotated[ValueQuestion | FindingQuestion | BeyondNoiseQuestion | DrawnQuestion, Field(discriminator="kind")]


class Precision(Shape):
    """How precise the ratios of `levels` must be for the answers to mean something: ± this share of them."""

    metric: str
    levels: list[str]
    half_width: float = Field(gt=0, lt=1)
    to: str | None = None


class Exercise(Shape):
    """An exercise. `trials`: how many valid ones every level must have."""

    format: Literal["tollbooth.exercise"]
    version: Version1
    title: str
    experiment: str
    trials: int = Field(ge=1)
    precision: Precision | None = None
    questions: Mapping[str, Question] = Field(min_length=1)


def read_exercise(number: str) -> Exercise:
    """Read the exercise with a number. Raises `UserError` where there is none."""
    files = named_files(FOLDER)
    if number not in files:
        raise UserError(
            f"there is no exercise '{number}'; {suggestion(number, files)}", "for example: make check LAB=2"
        )
    try:
        return validate(Exercise, parse_yaml(read_text(files[number])))
    except SpecError as error:
        raise user_error(str(files[number]), error.problems, dotted, "lab/grading/README.md shows the format") from None
