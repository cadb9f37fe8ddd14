"""The experiment file (docs/reference/formats.md) as frozen models, which targets and generators extend."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.spec.level import Environment, Level, LevelSettings, Rate, TargetSettings, merged
from lab.spec.load import Load
from lab.spec.model import Shape, Version2
from lab.spec.views import HeadlineChoice, Views

PLACEBO = "placebo"

FileName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
FactorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
# A level's name becomes part of a folder's name.
LevelName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._@-]{0,40}$")]
ClaimsRef = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}(:[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*)?$")]

# What one of a JVM's first requests took when the lab was built, on two cores.
FIRST_GUESS_REQUEST_S = 0.08
# The same side by side, for each system: it has few users, who mostly wait.
FIRST_GUESS_REQUEST_SIDE_BY_SIDE_S = 0.15
# Warm-up and settling with the optimising compiler, for each system: five of them took 1,000 s (steady, two cores).
FIRST_GUESS_SETTLED_S = 200.0

Choice = tuple[str, str, LevelSettings]
"""A factor's name, one of its levels' names, and what the level sets."""


class Protocol(Shape):
    """How a trial is run, and how many there are."""

    warm_up_s: float | None = Field(
        default=None, ge=0, le=3600, description="time under load before the window; or else warm_up_requests"
    )
    warm_up_requests: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="requests before the window, without think time: a JVM compiles by how often code ran",
    )
    window_s: float | None = Field(
        default=None, ge=2, le=3600, description="time that is measured; a counted load has the time of its requests"
    )
    without_restart: list[FactorName] = Field(
        default_factory=list, description="factors whose levels share one start of the containers, in random order"
    )
    repetitions: int = Field(ge=1, le=1000, description="blocks; each runs every level once, in a seeded random order")
    retries: int = Field(default=2, ge=0, le=10, description="further attempts for a rejected trial")
    half_width: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="ends the run once each level's headline ratio is known to ± this after a block (0.02: 2 points)",
    )
    budget_min: float | None = Field(
        default=None, gt=0, le=10_000, description="minutes; no trial starts that would probably end later"
    )
    keep_cpus_awake: bool = Field(
        default=False,
        description="idle CPUs spin at the lowest priority, which keeps a virtual machine's host from removing them",
    )
    side_by_side: bool = Field(
        default=False,
        description="all levels of a block run at the same time: what slows the machine slows all of them",
    )
    placebo: bool = Field(
        default=True,
        description="false: no second baseline, so that a set can have two systems only; the noise floor is not known",
        exclude_if=bool,
    )
    until_settled: bool = Field(
        default=False,
        description="alternating: after warm_up_requests, more of them until the compilers of every system are quiet",
    )
    seed: int = Field(default=1, ge=0, le=2**32 - 1, description="of the order of levels and of every draw in a trial")

    @property
    def expected_warm_up_s(self) -> float:
        """How long the warm-up will probably be, in seconds."""
        if self.until_settled:
            return FIRST_GUESS_SETTLED_S
        request_s = FIRST_GUESS_REQUEST_SIDE_BY_SIDE_S if self.side_by_side else FIRST_GUESS_REQUEST_S
        return self.warm_up_s or request_s * (self.warm_up_requests or 0)


class Observer(Shape):
    """How the counters are read."""

    rate_hz: Rate = Field(
        default=1, description="samples per second of CPU, memory and network; below 1 only side by side"
    )


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
    headline: HeadlineChoice | None = Field(default=None, description="what answers the question")
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
        choices = ([(factor, *level) for level in levels.items()] for factor, levels in self.factors.items())
        return tuple(map(self._level, itertools.product(*choices)))

    def baseline_level(self) -> Level[Any]:
        """Return the level that the others are compared with."""
        return next(level for level in self.levels() if level.name == self.baseline)

    def placebo_level(self) -> Level[Any]:
        """Return the baseline under another name: what it shows is the noise floor."""
        baseline = self.baseline_level()
        return replace(baseline, name=PLACEBO, start=baseline.start if self.at_once else PLACEBO)

    def all_levels(self) -> tuple[Level[Any], ...]:
        """Return the levels that a block runs: the file's, and the placebo unless the protocol leaves it out."""
        return (*self.levels(), *([self.placebo_level()] if self.protocol.placebo else []))

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
