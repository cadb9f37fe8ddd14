"""What the report answers, and what it draws of levels that belong together: `headline` and `views` of an experiment.

docs/reference/formats.md has the format. A view chooses and orders levels; it has no numbers of its own.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from lab.spec.model import Shape
from lab.spec.problems import Path, Problem, suggestion

MAX_VIEWS = 20
MAX_CONTRASTS = 4
MAX_ALSO = 3

Title = Annotated[str, Field(min_length=1, max_length=120)]
MetricName = Annotated[str, Field(max_length=100)]
Levels = Annotated[Sequence[str], Field(min_length=2, max_length=100)]


class Waterfall(Shape):
    """A ladder: what each level adds to the one before it. All waterfalls of an experiment are drawn side by side."""

    kind: Literal["waterfall"]
    title: Title = Field(description="what is climbed, shown above the ladder")
    levels: Levels = Field(description="the rungs, lowest first")


class Sweep(Shape):
    """One setting at several values, a level each: which measures follow it, and which do not."""

    kind: Literal["sweep"]
    title: Title = Field(description="one line, shown above the figure")
    levels: Levels = Field(description="the levels, in the order of `values`")
    values: Annotated[Sequence[float], Field(min_length=2, max_length=100)] = Field(
        description="the setting's value at each of `levels`"
    )
    axis: Annotated[str, Field(min_length=1, max_length=60)] = Field(description="what the setting is called")
    scale: Literal["linear", "log2", "log10"] = Field(default="linear", description="of the axis")


class Interaction(Shape):
    """Two crossed factors: does one change the other's cost? Further factors stay as in the baseline."""

    kind: Literal["interaction"]
    title: Title = Field(description="one line, shown above the figure")
    factors: Annotated[Sequence[str], Field(min_length=2, max_length=2)] = Field(
        description="two keys of the experiment's `factors`"
    )


class Frontier(Shape):
    """Cost against the share of requests that succeed: which level achieves a share at the least cost."""

    kind: Literal["frontier"]
    title: Title = Field(description="one line, shown above the figure")
    levels: Levels = Field(description="the levels, a point each")


class Contrast(Shape):
    """Two levels that the answer compares."""

    level: str = Field(description="the level that the sentence is about")
    to: str = Field(description="the level that it is compared with")


class HeadlineChoice(Shape):
    """What answers the experiment's question, where that is not the target's metric of each level to the baseline."""

    metric: str | None = Field(
        default=None, max_length=100, description="the metric that answers the question; by default the target's"
    )
    also: Annotated[Sequence[MetricName], Field(max_length=MAX_ALSO)] = Field(
        default_factory=list, description="metrics that the answer states besides"
    )
    compare: Annotated[Sequence[Contrast], Field(max_length=MAX_CONTRASTS)] = Field(
        default_factory=list,
        description="the comparisons that answer the question; by default every level with the baseline",
    )

    @property
    def metrics(self) -> Mapping[Path, str]:
        """The names of metrics, by their place in the file."""
        also: dict[Path, str] = {("headline", "also", index): name for index, name in enumerate(self.also)}
        return also if self.metric is None else {("headline", "metric"): self.metric, **also}


View = Annotated[Waterfall | Sweep | Interaction | Frontier, Field(discriminator="kind")]
Views = Annotated[Sequence[View], Field(max_length=MAX_VIEWS)]


def parse_views(data: object) -> Sequence[View]:
    """Return the views of a manifest's experiment; raises pydantic's `ValidationError`."""
    return TypeAdapter[Sequence[View]](Views).validate_python(data)


def view_problems(views: Sequence[View], levels: Collection[str], factors: Mapping[str, Any]) -> Iterator[Problem]:
    """Yield what is wrong between the views and the experiment's levels and factors."""
    for index, view in enumerate(views):
        if isinstance(view, Interaction):
            yield from _name_problems(view.factors, factors, "factor", ("views", index, "factors"))
        else:
            yield from _name_problems(view.levels, levels, "level", ("views", index, "levels"))
        if isinstance(view, Sweep):
            yield from _sweep_problems(view, index)


def contrast_problems(headline: HeadlineChoice | None, levels: Collection[str]) -> Iterator[Problem]:
    """Yield what is wrong between the answer's comparisons and the experiment's levels."""
    for index, contrast in enumerate(headline.compare if headline else ()):
        place = ("headline", "compare", index)
        yield from unknown_names({(*place, "level"): contrast.level, (*place, "to"): contrast.to}, levels, "level")
        if contrast.level == contrast.to:
            yield Problem(place, f"'{contrast.level}' is compared with itself")


def unknown_names(names: Mapping[Path, str], known: Collection[str], noun: str) -> Iterator[Problem]:
    """Return the names, by their places in the file, that are not `known`."""
    return (
        Problem(place, f"no {noun} is called '{name}'; {suggestion(name, known)}")
        for place, name in names.items()
        if name not in known
    )


def _name_problems(names: Sequence[str], known: Collection[str], noun: str, place: Path) -> Iterator[Problem]:
    yield from unknown_names({(*place, position): name for position, name in enumerate(names)}, known, noun)
    yield from (
        Problem(place, f"'{name}' is there {count} times, expected once")
        for name, count in Counter(names).items()
        if count > 1
    )


def _sweep_problems(view: Sweep, index: int) -> Iterator[Problem]:
    if len(view.values) != len(view.levels):
        yield Problem(
            ("views", index, "values"), f"got {len(view.values)}, expected one for each of {len(view.levels)} levels"
        )
    if view.scale != "linear" and min(view.values) <= 0:
        yield Problem(
            ("views", index, "values"), f"got {min(view.values):g}, expected more than 0 on a {view.scale} scale"
        )
