"""A number that a publication does not state, and the published value that says which one it was."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Annotated

from pydantic import Field

from lab.spec import Problem, Shape

PLACEHOLDER = "*"
"""What stands for the number in the names of levels."""


class Match(Shape):
    """Levels differ in a number. Claims are judged at the one that gives a published value of a metric."""

    what: str = Field(min_length=1, max_length=80, description="what the number counts, such as requests at once")
    levels: Mapping[str, Annotated[float, Field(gt=0)]] = Field(
        min_length=2, description="what `*` stands for in the names of levels, and its number, in rising order"
    )
    metric: str = Field(description="a metric of the summary")
    at: list[str] = Field(min_length=1, description="levels with `*`, whose mean of the metric is the published value")
    published: float = Field(description="in the metric's unit")
    because: str = Field(min_length=1, max_length=1000, description="why this value says which number it was")


def match_problems(match: Match | None, levels: Iterable[str], metrics: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong with a claims file's match; `levels` are those of its claims."""
    if match is None:
        if any(PLACEHOLDER in level for level in levels):
            yield Problem(("match",), f"missing; it says what {PLACEHOLDER} stands for in the names of levels")
        return
    if match.metric not in metrics:
        yield Problem(("match", "metric"), f"unknown metric '{match.metric}'")
    if list(match.levels.values()) != sorted(match.levels.values()):
        yield Problem(("match", "levels"), "the numbers do not rise")
    for index, level in enumerate(match.at):
        if PLACEHOLDER not in level:
            yield Problem(("match", "at", index), f"'{level}' has no {PLACEHOLDER}, so it is the same at each number")
