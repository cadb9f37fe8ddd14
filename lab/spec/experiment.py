"""The experiment file (docs/formats.md) as frozen models. Targets and generators extend them with their fields."""

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.spec.level import Environment, Level, LevelSettings, TargetSettings, merged
from lab.spec.load import Load
from lab.spec.model import Shape, Version2
from lab.spec.protocol import FactorName, Observer, Protocol
from lab.spec.views import Views

PLACEBO = "placebo"

FileName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
# A level's name becomes part of a folder's name.
LevelName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._@-]{0,40}$")]
ClaimsRef = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}(:[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*)?$")]

Choice = tuple[str, str, LevelSettings]
"""A factor's name, one of its levels' names, and what the level sets."""


class ExperimentFile(Shape):
    """An experiment, as its file says it."""

    format: Literal["tollbooth.experiment"]
    version: Version2
    title: str = Field(min_length=1, max_length=120, description="one line, shown in lists and on the report")
    question: str = Field(min_length=1, max_length=4000, description="a short paragraph for the report")
    target: TargetSettings = Field(description="what is measured")
    load: Load = Field(description="what sends the load, and how much when")
    environment: Environment = Field(
        default_factory=dict, description="variables of every measured container; a level's own take precedence"
    )
    factors: Mapping[FactorName, Annotated[Mapping[LevelName, LevelSettings], Field(min_length=1)]] = Field(
        min_length=1,
        description="levels are the cross product of the factors; their names are joined with '/'",
    )
    baseline: str = Field(max_length=200, description="the level that ratios are against; `placebo` repeats it")
    protocol: Protocol
    observer: Observer = Observer()
    headline: str | None = Field(
        default=None, max_length=100, description="the metric that answers the question; by default the target's"
    )
    claims: list[ClaimsRef] = Field(
        default_factory=list, description="files of experiments/claims/: `study`, or some of its claims: `study:O1,O2`"
    )
    views: Views = Field(default_factory=list, description="levels that the report draws together")
    profile: bool = Field(
        default=False, description="one more trial per level, after the others, with a profiler in the services"
    )


class Experiment(ExperimentFile):
    """An experiment with its name, which is the file's."""

    name: FileName

    def levels(self) -> tuple[Level[Any], ...]:
        """Return the cross product of the factors, in the file's order, without the placebo."""
        return tuple(self._level(choice) for choice in itertools.product(*map(_named, self.factors.items())))

    def baseline_level(self) -> Level[Any]:
        """Return the level that the others are compared with."""
        return next(level for level in self.levels() if level.name == self.baseline)

    def placebo_level(self) -> Level[Any]:
        """Return the baseline under another name: what it shows is the noise floor."""
        baseline = self.baseline_level()
        return replace(baseline, name=PLACEBO, start=baseline.start if self.at_once else PLACEBO)

    def recorded(self) -> dict[str, Any]:
        """Return what `manifest.json` records: every default, but of a factor's levels only what they set."""
        factors = {
            factor: {name: patch.model_dump(mode="json", exclude_unset=True) for name, patch in levels.items()}
            for factor, levels in self.factors.items()
        }
        return {**self.model_dump(mode="json"), "factors": factors}

    @property
    def at_once(self) -> bool:
        """Whether all systems of a block run at the same time, side by side or alternating."""
        return self.protocol.side_by_side or self.load.schedule.alternates

    def expected_window_s(self) -> float:
        """Return how long a trial's window will probably be, in seconds."""
        return self.protocol.window_s or self.load.schedule.expected_s()

    def _level(self, choice: Sequence[Choice]) -> Level[Any]:
        """Return one combination; where two factors set the same thing, the later one takes precedence."""
        settings = [patch for _, _, patch in choice]
        defaults = type(settings[0]).model_validate({**self.target.level_defaults(), "environment": self.environment})
        shared = list(self.factors) if self.at_once else self.protocol.without_restart
        level = Level(
            name="/".join(name for _, name, _ in choice),
            settings=merged([defaults, *settings]),
            start="/".join(name for factor, name, _ in choice if factor not in shared),
        )
        return replace(level, start=level.name) if level.settings.needs_own_start else level


def _named(factor: tuple[str, Mapping[str, LevelSettings]]) -> Iterator[Choice]:
    """Yield a factor's levels, each with the factor's name and its own."""
    name, levels = factor
    yield from ((name, level, patch) for level, patch in levels.items())
