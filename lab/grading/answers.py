"""A student's answers: a file in the results folder, which is written without answers first."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.grading.exercise import Exercise
from lab.grading.keys import Key
from lab.spec import Shape, SpecError, Version1, dotted, parse_yaml, read_text, user_error, validate

NAME = "answers.yaml"
HINT = "delete it, and `lab check exercise` writes an empty one"


class Answers(Shape):
    """`pseudonym`: what the student wants to be called; None: a name that follows from the records."""

    format: Literal["tollbooth.answers"]
    version: Version1
    exercise: int
    pseudonym: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _-]{0,39}$")] | None = None
    answers: Mapping[str, str | int | float | bool | None]


def read_answers(path: Path) -> Answers:
    """Read a student's answers. Raises `UserError` that says what is wrong."""
    try:
        return validate(Answers, parse_yaml(read_text(path)))
    except SpecError as error:
        raise user_error(str(path), error.problems, dotted, HINT) from None


def template(number: str, exercise: Exercise, keys: Mapping[str, Key | None]) -> str:
    """Return an answers file without answers. `keys`: of the student's run, for the trials that were drawn."""
    lines = [
        f"# Exercise {number}: {exercise.title}. Numbers have three digits, shares are 0.12 and not 12 %.",
        "format: tollbooth.answers",
        "version: 1",
        f"exercise: {number}",
        "pseudonym: null   # a name of your choice, not your own; null: one follows from your records",
        "answers:",
    ]
    for name, question in exercise.questions.items():
        key = keys[name]
        where = f" (trial {key.where})" if key and key.where else ""
        lines += [f"  # {question.asks}{where}", f"  {name}: null"]
    return "\n".join([*lines, ""])
