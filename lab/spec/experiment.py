"""What an experiment is: the file of `experiments/`, as frozen models (format: docs/formats.md)."""

import itertools
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from lab.fault.fault import DeclaredFault
from lab.fault.kinds import Faults
from lab.fault.rules import contradictions
from lab.spec.load import GhzLoad, Load
from lab.spec.model import Shape, Version1, field_paths, validate
from lab.spec.nearest import suggestion
from lab.spec.overrides import override
from lab.spec.problems import Fault, FaultsError, dotted, show, user_error
from lab.spec.views import Views, view_faults
from lab.spec.yamlfile import find_named_file, parse_yaml, read_text
from lab.target.mesh.sidecars.modes import NONE as NO_SIDECAR
from lab.target.mesh.variants import NO_BACKEND, BackendName, Environment, Traces, Variant
from lab.target.mesh.variants import Name as VariantName

PLACEBO = "placebo"
MAX_LEVELS = 100
# With the placebo. Each has two networks, and an engine has addresses for 31 by itself.
MAX_SIDE_BY_SIDE = 12

FileName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}$")]
# A level's name becomes part of a folder's name.
LevelName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._@-]{0,40}$")]
FactorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
Rate = Annotated[float, Field(ge=0.1, le=20)]

RuntimeKey = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,99}$")]
ClaimsRef = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9-]{0,62}(:[A-Za-z0-9-]+(,[A-Za-z0-9-]+)*)?$")]

_HINT = "docs/formats.md describes the format; experiments/README.md has an example"


class LevelPatch(Shape):
    """What a level of one factor sets."""

    topology: FileName | None = Field(default=None, description="a file of experiments/topologies/, if another")

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
    sidecar: str | None = Field(
        default=None,
        max_length=200,
        description="`none`, `passthrough`, patterns of envoy/patterns/ joined with `+`, or `all`",
    )
    sidecar_side: Literal["front", "both"] | None = Field(
        default=None, description="where sidecars stand: before their service, or on its way out too"
    )
    envoy_runtime: dict[RuntimeKey, int | str] = Field(
        default_factory=dict, description="runtime values of every sidecar while the level is measured"
    )
    error_probability: float | None = Field(
        default=None, ge=0, le=1, description="of every service, asked for by each request; over the topology's own"
    )
    faults: Faults = Field(default_factory=list, description="of the system, beside the load; of several factors all")
    observer_rate_hz: Rate | None = Field(
        default=None, description="samples per second, where it is the measuring that is measured"
    )
    environment: Environment = Field(
        default_factory=dict, description="variables given to every service, over the variant's own"
    )


# What one of a JVM's first requests took when the lab was built, on two cores.
FIRST_GUESS_REQUEST_S = 0.08
# The same side by side, of each system: there it has few users, who think for most of the time.
FIRST_GUESS_REQUEST_SIDE_BY_SIDE_S = 0.15


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
    window_s: float | None = Field(
        default=None, ge=2, le=3600, description="time that is measured; of ghz it is that of its requests"
    )
    without_restart: list[FactorName] = Field(
        default_factory=list, description="factors whose levels share one start of the containers, in random order"
    )
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
    side_by_side: bool = Field(
        default=False,
        description="all levels of a block stand and are asked at once: what slows the machine slows all alike",
    )
    seed: int = Field(default=1, ge=0, le=2**32 - 1, description="of the order of levels and of every draw in a trial")

    @property
    def expected_warm_up_s(self) -> float:
        """How long the warm-up will probably be."""
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
    """One thing to compare: what the services are run with. None: as the telemetry variant, or the topology, has it.

    Levels of the same `start` may share one start of the containers.
    """

    name: str
    telemetry: str
    environment: Mapping[str, str] = field(default_factory=dict)
    topology: str = ""
    start: str = ""
    backend: str | None = None
    traces: Traces | None = None
    users_fraction: float = 1.0
    sidecar: str = NO_SIDECAR
    sidecar_side: Literal["front", "both"] = "front"
    envoy_runtime: Mapping[str, int | str] = field(default_factory=dict)
    error_probability: float | None = None
    faults: tuple[DeclaredFault, ...] = ()
    observer_rate_hz: float | None = None

    def settings(self) -> dict[str, object]:
        """Return what `trial.json` records of the level."""
        return {
            "telemetry": self.telemetry,
            "environment": dict(self.environment),
            "backend": self.backend,
            "traces": self.traces,
            "topology": self.topology,
            "users_fraction": self.users_fraction,
            "sidecar": self.sidecar,
            "sidecar_side": self.sidecar_side,
            "envoy_runtime": dict(self.envoy_runtime),
            "error_probability": self.error_probability,
            "faults": [fault.model_dump(mode="json") for fault in self.faults],
            "observer_rate_hz": self.observer_rate_hz,
        }


class Experiment(ExperimentFile):
    """An experiment with its name, which is the file's."""

    name: FileName

    def levels(self) -> tuple[Level, ...]:
        """Return the cross product of the factors, in the file's order, without the placebo."""
        return tuple(self._level(choice) for choice in itertools.product(*map(_named, self.factors.items())))

    def baseline_level(self) -> Level:
        """Return the level that the others are compared with."""
        return next(level for level in self.levels() if level.name == self.baseline)

    def placebo_level(self) -> Level:
        """Return the baseline under another name: what it shows is the noise floor."""
        baseline = self.baseline_level()
        return replace(baseline, name=PLACEBO, start=baseline.start if self.protocol.side_by_side else PLACEBO)

    def expected_window_s(self) -> float:
        """Return how long a trial's window will probably be."""
        return self.protocol.window_s or self.load.expected_s()

    def topologies(self) -> tuple[str, ...]:
        """Return the names of the topologies that its levels have."""
        return tuple(dict.fromkeys(level.topology for level in self.levels()))

    def _level(self, choice: Sequence[tuple[str, str, LevelPatch]]) -> Level:
        """Return one combination; where two factors set the same thing, the later one holds."""
        shared = list(self.factors) if self.protocol.side_by_side else self.protocol.without_restart
        level = Level(
            name="/".join(name for _, name, _ in choice),
            telemetry="baseline",
            environment=self.environment,
            topology=self.topology,
            start="/".join(name for factor, name, _ in choice if factor not in shared),
        )
        for _, _, patch in choice:
            given = patch.model_dump(exclude_none=True)
            sums = {
                "environment": {**level.environment, **patch.environment},
                "envoy_runtime": {**level.envoy_runtime, **patch.envoy_runtime},
                "faults": (*level.faults, *patch.faults),
            }
            level = replace(level, **given | sums)
        # What a fault leaves, such as a cold JVM, is none of the next trial's.
        return replace(level, start=level.name) if level.faults else level


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
    for topology in experiment.topologies():
        if topology not in topologies:
            faults.append(Fault(("topology",), f"unknown topology '{topology}'; {suggestion(topology, topologies)}"))
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


def _named(factor: tuple[str, Mapping[str, LevelPatch]]) -> Iterator[tuple[str, str, LevelPatch]]:
    """Yield a factor's levels, each with the factor's name and its own."""
    name, levels = factor
    yield from ((name, level, patch) for level, patch in levels.items())


def _contradictions(experiment: Experiment) -> Iterator[Fault]:
    """Yield what is wrong between fields that are each right by themselves."""
    if "\n" in experiment.title:
        yield Fault(("title",), "wanted one line")
    yield from (Fault(("load", *fault.path), fault.text) for fault in experiment.load.faults())
    yield from _warm_up_faults(experiment.protocol)
    yield from _window_faults(experiment)
    yield from _start_faults(experiment)
    yield from _side_by_side_faults(experiment)
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
        yield from _fault_faults(experiment)


def fault_place(level: Level) -> tuple[str, ...]:
    """Return where messages say that a level's faults stand: several factors may have brought them."""
    return ("factors", level.name, "faults")


def _window_faults(experiment: Experiment) -> Iterator[Fault]:
    """Yield a window where the load's own requests are one, and none where they are not."""
    counted = isinstance(experiment.load, GhzLoad)
    if counted and experiment.protocol.window_s is not None:
        yield Fault(("protocol", "window_s"), "a window is as long as ghz's requests take; leave it out")
    if not counted and experiment.protocol.window_s is None:
        yield Fault(("protocol", "window_s"), "missing; wanted a number from 2 to 3600")


# What a request carries to the services itself, and what a running Envoy takes over.
WITHOUT_RESTART = {"error_probability", "envoy_runtime"}


def _start_faults(experiment: Experiment) -> Iterator[Fault]:
    """Yield the factors that cannot go without a restart."""
    for index, factor in enumerate(experiment.protocol.without_restart):
        place = ("protocol", "without_restart", index)
        if factor not in experiment.factors:
            yield Fault(place, f"no factor is called '{factor}'; {suggestion(factor, experiment.factors)}")
        elif not isinstance(experiment.load, GhzLoad):
            yield Fault(place, f"{experiment.load.generator} loads a start once: only ghz can go on")
        else:
            for level, patch in experiment.factors[factor].items():
                for field in sorted(patch.model_fields_set - WITHOUT_RESTART):
                    yield Fault(place, f"its level '{level}' sets {field}, which needs a restart")


def _rate_faults(experiment: Experiment) -> Iterator[Fault]:
    """Yield rates at which a load that ends by itself would be gone before the observer sees its end."""
    rates = {("observer", "rate_hz"): experiment.observer.rate_hz} | {
        ("factors", factor, name, "observer_rate_hz"): patch.observer_rate_hz
        for factor, patches in experiment.factors.items()
        for name, patch in patches.items()
        if patch.observer_rate_hz is not None
    }
    for place, rate_hz in rates.items():
        if rate_hz < 1:
            yield Fault(place, f"saw {rate_hz:g}, and less than 1 goes side by side only")


def _side_by_side_faults(experiment: Experiment) -> Iterator[Fault]:
    """Yield what does not go where all levels stand at once, or only there."""
    protocol, place = experiment.protocol, ("protocol", "side_by_side")
    if not protocol.side_by_side:
        yield from _rate_faults(experiment)
        return
    if isinstance(experiment.load, GhzLoad):
        yield Fault(place, "needs users, who go on asking until every level was measured")
    if protocol.warm_up_requests is None:
        yield Fault(("protocol", "warm_up_requests"), "missing; side by side, levels are warm at different times")
    if protocol.retries:
        yield Fault(("protocol", "retries"), "side by side, a trial cannot be repeated by itself; wanted 0")
    if any(level.sidecar != NO_SIDECAR for level in experiment.levels()):
        yield Fault(place, "what sidecars count is read around one trial; give levels with sidecars a start each")
    if any(level.faults for level in experiment.levels()):
        yield Fault(place, "a fault would reach all levels; give levels with faults a restart each")
    if (count := len(experiment.levels()) + 1) > MAX_SIDE_BY_SIDE:
        yield Fault(place, f"{count} levels with the placebo; at most {MAX_SIDE_BY_SIDE} can stand at once")


def _fault_faults(experiment: Experiment) -> Iterator[Fault]:
    """Yield what is wrong with the levels' faults, beside each other and in the protocol."""
    levels = [level for level in experiment.levels() if level.faults]
    for level in levels:
        yield from contradictions(level.faults, experiment.protocol.window_s, fault_place(level))
    if levels and experiment.protocol.warm_up_s is None and not isinstance(experiment.load, GhzLoad):
        yield Fault(("protocol", "warm_up_s"), "missing; faults begin at a time, so the warm-up has to end at one")


def _warm_up_faults(protocol: Protocol) -> Iterator[Fault]:
    if protocol.warm_up_s is None and protocol.warm_up_requests is None:
        yield Fault(("protocol", "warm_up_s"), "missing; wanted a number from 0 to 3600, or else warm_up_requests")
    if protocol.warm_up_s is not None and protocol.warm_up_requests is not None:
        yield Fault(("protocol", "warm_up_requests"), "a warm-up has an end by time or by requests: leave one out")
