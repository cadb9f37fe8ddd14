"""What an experiment is: the file of `experiments/`, as frozen models (format: docs/formats.md)."""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.faults import Fault, FaultsError, dotted, show, user_error
from lab.nearest import suggestion
from lab.overrides import override
from lab.shape import Shape, Version1, field_paths, validate
from lab.variants import NO_BACKEND, BackendName, Environment, Traces, Variant
from lab.variants import Name as VariantName
from lab.views import Views, view_faults
from lab.yamlfile import find_named_file, parse_yaml, read_text

PLACEBO = "placebo"
MAX_LEVELS = 100

FileName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
# A level's name becomes part of a folder's name.
LevelName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._@-]{0,40}$")]
FactorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
ThinkTime = Annotated[float, Field(ge=0, le=60)]
Rate = Annotated[float, Field(ge=1, le=20)]

ClaimsRef = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}(:[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*)?$")]

_HINT = "docs/formats.md describes the format; experiments/README.md has an example"


class Load(Shape):
    """The load that every trial is put under."""

    generator: Literal["locust"]
    users: Literal["calibrated"] | Annotated[int, Field(ge=1, le=10_000)] = Field(
        description="simulated users; `calibrated` finds how many reach baseline_cpu_fraction on this machine"
    )
    baseline_cpu_fraction: float = Field(
        default=0.4,
        ge=0.05,
        le=0.95,
        description="share of the services' CPUs that calibrated users make the baseline use",
    )
    think_time_s: Annotated[tuple[ThinkTime, ThinkTime], Field(strict=False)] = Field(
        description="shortest and longest pause of a user between two requests, drawn evenly"
    )


class LevelPatch(Shape):
    """What a level of one factor sets."""

    telemetry: VariantName | None = Field(
        default=None, description="a folder of services/telemetry/; `baseline` where no factor says another"
    )
    backend: BackendName | None = Field(default=None, description="where telemetry goes, if not to the variant's own")
    traces: Traces | None = Field(
        default=None, description="which requests make spans, where the level's environment changes that"
    )
    users_fraction: float | None = Field(
        default=None, gt=0, le=1, description="share of the load's users; all of them where no factor says another"
    )
    observer_rate_hz: Rate | None = Field(
        default=None, description="samples per second, where it is the measuring that is measured"
    )
    environment: Environment = Field(
        default_factory=dict, description="variables given to every service, over the variant's own"
    )


# What one of a JVM's first requests took when the lab was built, on two cores.
FIRST_GUESS_REQUEST_S = 0.08


class Protocol(Shape):
    """How a trial goes, and how many there are."""

    warm_up_s: float | None = Field(
        default=None, ge=0, le=3600, description="time under load before the window; or else warm_up_requests"
    )
    warm_up_requests: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="requests before the window, without thinking: a JVM compiles by how often code ran, not by time",
    )
    window_s: float = Field(ge=2, le=3600, description="time that is measured")
    repetitions: int = Field(ge=1, le=1000, description="blocks; each runs every level once, in a seeded random order")
    retries: int = Field(default=2, ge=0, le=10, description="further attempts for a refused trial")
    half_width: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="ends the run after the block that brings every level's CPU ratio to within this much (0.02: 2 %)",
    )
    budget_min: float | None = Field(
        default=None, gt=0, le=10_000, description="minutes; no trial is begun that would probably end after them"
    )
    keep_cpus_awake: bool = Field(
        default=False,
        description="idle CPUs spin at the lowest priority, so that a virtual machine's host takes none of them away",
    )
    seed: int = Field(default=1, ge=0, le=2**32 - 1, description="of the order of levels and of every draw in a trial")

    @property
    def expected_warm_up_s(self) -> float:
        """How long the warm-up will probably be."""
        return self.warm_up_s or FIRST_GUESS_REQUEST_S * (self.warm_up_requests or 0)


class Observer(Shape):
    """How the counters are read."""

    rate_hz: Rate = Field(default=1, description="samples per second of CPU, memory and network")


class ExperimentFile(Shape):
    """An experiment, as its file says it."""

    format: Literal["tollbooth.experiment"]
    version: Version1
    title: str = Field(min_length=1, max_length=120, description="one line, shown in lists and on the report")
    question: str = Field(min_length=1, max_length=4000, description="a short paragraph for the report")
    topology: FileName = Field(description="a file of experiments/topologies/")
    load: Load
    environment: Environment = Field(
        default_factory=dict,
        description="variables given to every service at every level; a level's own hold over these",
    )
    factors: Mapping[FactorName, Annotated[Mapping[LevelName, LevelPatch], Field(min_length=1)]] = Field(
        min_length=1,
        description="levels are the cross product of the factors; their names are joined with '/'",
    )
    baseline: str = Field(max_length=200, description="the level that ratios are against; `placebo` repeats it")
    protocol: Protocol
    observer: Observer = Observer()
    claims: list[ClaimsRef] = Field(
        default_factory=list, description="files of experiments/claims/: `study`, or some of its claims: `study:O1,O2`"
    )
    views: Views = Field(default_factory=list, description="levels that the report draws together")
    profile: bool = Field(
        default=False, description="one more trial per level, after the others, with a profiler in the services"
    )


@dataclass(frozen=True)
class Level:
    """One thing to compare: what the services are run with. None: as the telemetry variant has it."""

    name: str
    telemetry: str
    environment: Mapping[str, str] = field(default_factory=dict)
    backend: str | None = None
    traces: Traces | None = None
    users_fraction: float = 1.0
    observer_rate_hz: float | None = None

    def settings(self) -> dict[str, object]:
        """Return what `trial.json` records of the level."""
        return {
            "telemetry": self.telemetry,
            "environment": dict(self.environment),
            "backend": self.backend,
            "traces": self.traces,
            "users_fraction": self.users_fraction,
            "observer_rate_hz": self.observer_rate_hz,
        }


class Experiment(ExperimentFile):
    """An experiment with its name, which is the file's."""

    name: FileName

    def levels(self) -> tuple[Level, ...]:
        """Return the cross product of the factors, in the file's order, without the placebo."""
        return tuple(
            _level(choice, self.environment)
            for choice in itertools.product(*(levels.items() for levels in self.factors.values()))
        )

    def baseline_level(self) -> Level:
        """Return the level that the others are compared with."""
        return next(level for level in self.levels() if level.name == self.baseline)

    def placebo_level(self) -> Level:
        """Return the baseline under another name: what it shows is the noise floor."""
        return replace(self.baseline_level(), name=PLACEBO)


def find_experiment(name: str, folder: Path) -> Path:
    """Return the file of the experiment called `name` in `folder`; a path to a file works as well."""
    return find_named_file("experiment", name, folder)


def load_experiment(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment in a file, with `key.path=value` overrides put in; its name is the file's.

    Raises `UserError`, with a line for each of the first few faults. Whether its topology and its variants
    exist is for `check_names` to say.
    """
    source = f"{path} with {show(' '.join(overrides))}" if overrides else str(path)
    try:
        return parse_experiment(read_text(path), path.stem, overrides)
    except FaultsError as error:
        raise user_error(source, error.faults, dotted, _HINT) from None


def parse_experiment(text: str, name: str, overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment that a YAML text describes.

    Raises `FaultsError` for the text, and `UserError` for an override.
    """
    data = parse_yaml(text)
    if isinstance(data, dict):
        data = override(data, overrides, field_paths(ExperimentFile.model_json_schema()))
    fields = dict(validate(ExperimentFile, data))
    experiment = validate(Experiment, {**fields, "name": name})
    if faults := list(_contradictions(experiment)):
        raise FaultsError(faults)
    return experiment


def check_names(experiment: Experiment, variants: Mapping[str, Variant], topologies: Collection[str]) -> None:
    """Raise `UserError` if the experiment names a variant, a backend of one, or a topology that there is not."""
    faults = [
        Fault(
            ("factors", factor, level, "telemetry"),
            f"unknown variant '{patch.telemetry}'; {suggestion(patch.telemetry, variants)}",
        )
        for factor, levels in experiment.factors.items()
        for level, patch in levels.items()
        if patch.telemetry is not None and patch.telemetry not in variants
    ]
    if experiment.topology not in topologies:
        others = suggestion(experiment.topology, topologies)
        faults.append(Fault(("topology",), f"unknown topology '{experiment.topology}'; {others}"))
    if faults := faults or list(_unreachable_backends(experiment, variants)):
        raise user_error(f"experiment {experiment.name}", faults, dotted, _HINT)


def _unreachable_backends(experiment: Experiment, variants: Mapping[str, Variant]) -> Iterator[Fault]:
    """Yield the levels that send their telemetry where their variant cannot send it."""
    for level in experiment.levels():
        known = {NO_BACKEND: {}, **variants[level.telemetry].backends}
        if level.backend is not None and level.backend not in known:
            yield Fault(
                ("factors",),
                f"level '{level.name}': variant '{level.telemetry}' cannot send to backend '{level.backend}'; "
                f"{suggestion(level.backend, known)}",
            )


def _level(choice: Sequence[tuple[str, LevelPatch]], common: Mapping[str, str]) -> Level:
    """Return one combination; where two factors set the same thing, the later one holds."""
    level = Level("/".join(name for name, _ in choice), "baseline", common)
    for _, patch in choice:
        given = patch.model_dump(exclude_none=True)
        level = replace(level, **given | {"environment": {**level.environment, **patch.environment}})
    return level


def _contradictions(experiment: Experiment) -> Iterator[Fault]:
    """Yield what is wrong between fields that are each right by themselves."""
    if "\n" in experiment.title:
        yield Fault(("title",), "wanted one line")
    shortest_s, longest_s = experiment.load.think_time_s
    if shortest_s > longest_s:
        yield Fault(
            ("load", "think_time_s"),
            f"the shortest, {shortest_s:g}, is longer than the longest, {longest_s:g}",
        )
    yield from _warm_up_faults(experiment.protocol)
    for factor, levels in experiment.factors.items():
        if PLACEBO in levels:
            yield Fault(
                ("factors", factor, PLACEBO),
                "every experiment has a placebo by itself: give the level another name",
            )
    count = math.prod(len(levels) for levels in experiment.factors.values())
    if count > MAX_LEVELS:
        yield Fault(("factors",), f"make {count} levels, at most {MAX_LEVELS} are possible")
    elif experiment.baseline not in (names := [level.name for level in experiment.levels()]):
        yield Fault(
            ("baseline",),
            f"no level is called {show(experiment.baseline)}; {suggestion(experiment.baseline, names)}",
        )
    else:
        yield from view_faults(experiment.views, [*names, PLACEBO], experiment.factors)


def _warm_up_faults(protocol: Protocol) -> Iterator[Fault]:
    if protocol.warm_up_s is None and protocol.warm_up_requests is None:
        yield Fault(("protocol", "warm_up_s"), "missing; wanted a number from 0 to 3600, or else warm_up_requests")
    if protocol.warm_up_s is not None and protocol.warm_up_requests is not None:
        yield Fault(("protocol", "warm_up_requests"), "a warm-up has an end by time or by requests: leave one out")
