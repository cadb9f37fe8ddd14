"""The interface of what is measured: a target, in three parts. It imports only models of `spec` and `record`.

The *declaration* says what a target is, the *deployment* starts and stops it, the *judgement* says what its records
are worth. `lab/cli.py` registers the targets; everything else receives one.

Targets inherit the protocols. A member with a body is what targets without anything of the kind have; they leave it
out. Each target defines the members that have only a description.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol, TypeVar

from typing_extensions import override

from lab.record import Censoring, Headline, TrialData, TrialPart
from lab.spec import Example, Experiment, Level, LevelSettings, Problem, Shape, TargetSettings

Place_contra = TypeVar("Place_contra", contravariant=True)


@dataclass(frozen=True)
class Needs:
    """What an experiment needs: Compose services whose ports must be free, images, and memory of one system.

    `own_cpus`: whether what is measured has CPUs of its own wherever there are two.
    """

    services: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    system_bytes: int = 0
    own_cpus: bool = False


class Declaration(Protocol):
    """The names, models and needs of one kind of target."""

    @property
    def kind(self) -> str:
        """Its name in experiment files."""

    @property
    def containers(self) -> bool:
        """Whether it runs in containers of the engine. By default it does."""
        return True

    @property
    def settings(self) -> type[TargetSettings]:
        """What `target` in an experiment file may set."""

    @property
    def level(self) -> type[LevelSettings]:
        """What a level may set. The schema, the level and its record come from this model."""

    @property
    def example(self) -> Example:
        """What `lab up` starts if nothing else is set."""

    @property
    def files(self) -> Mapping[str, type[Shape]]:
        """Further files that users write for it, such as topologies, by name. By default none."""
        return {}

    def headline(self, metrics: Collection[str]) -> Headline:
        """Return the primary metric and the table's columns of a summary that has `metrics`."""

    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        """Yield what is wrong with an experiment of this kind, beyond what its models check."""

    def needs(self, experiment: Experiment) -> Needs:
        """Return what an experiment needs besides the lab's own instruments."""

    def start_group(self, level: Level[Any]) -> str:
        """Return a name for levels that take equally long to start."""

    def manifest(self, experiment: Experiment) -> Mapping[str, Any]:
        """Return what `manifest.json` says about the target, by key. By default nothing."""
        return {}


@dataclass(frozen=True)
class Endpoint:
    """Where load goes: a host and port inside the application's network, and what can be requested there.

    Load may be divided between several hosts, with commas between them.
    """

    host: str
    port: int
    protocol: Literal["http", "grpc", "otlp"]
    routes: tuple[str, ...] = ()


class Measuring(Protocol):
    """What a target adds to the measurement of one trial."""

    def parts(self) -> Sequence[TrialPart]:
        """Return the target's parts of the trial's `trial.json`, after its window has ended."""


class NothingAdded(Measuring):
    """Nothing is added to `trial.json`."""

    @override
    def parts(self) -> Sequence[TrialPart]:
        return ()


class Deployment(Protocol):
    """One start of one system. The methods are called in this order.

    They raise `StartFailed` if a container does not do its part, and the engine's errors.
    """

    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        """Create the containers, and those of the lab's `instruments`; start none."""

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """Start everything but the load and wait until it is ready; return start-up times by part, in seconds."""

    def endpoint(self) -> Endpoint | None:
        """Return where load goes; None if the target takes no load."""

    def request(self, level: Level[Any]) -> Mapping[str, object]:
        """Return what each request of a trial of `level` carries, by the generator's names. By default nothing."""
        return {}

    def settled(self, level: Level[Any]) -> None:
        """Return once a trial of `level` may be measured. By default it may at once."""
        return

    def measuring(self, level: Level[Any], seed: int, lead_s: float) -> AbstractContextManager[Measuring]:
        """Return what is in force while a trial is measured, its window beginning in `lead_s` seconds.

        By default nothing is, and nothing is added to its records.
        """
        return nullcontext(NothingAdded())

    def drain(self) -> TrialPart:
        """Stop what is measured, and return what is known only then, for all trials of the start."""

    def roles(self) -> Mapping[str, str]:
        """Return the role of each measured container."""

    def pages(self) -> Sequence[str]:
        """Return what to do with the running system: commands to type and addresses to open, a line each."""


Values = Mapping[str, float]
"""A trial's metrics by name."""

Check = Callable[[TrialData], Iterator[str]]
"""Yields why a trial is rejected, a sentence each."""


@dataclass(frozen=True)
class Measure:
    """A metric's title, unit and better direction. The unit `fraction` is shown in percent.

    `share_of` names two metrics, the number of events and of all cases: then the metric is the share of the one in
    the other, and all of a level's trials are counted together.
    """

    name: str
    title: str
    unit: str
    better: Literal["lower", "higher"] = "lower"
    share_of: tuple[str, str] | None = None


@dataclass(frozen=True)
class Metric(Measure):
    """A measure of one trial.

    `compute` returns None where the level has nothing of the kind (no backend); it raises `NotDerivableError`
    or, for a counter that was not recorded, `KeyError` where the records do not say.

    `adjusted_as`: what differs between trials besides their levels, and is removed from the value. A `time` follows the
    machine's speed. Where several systems run at once, it follows the place in the order of starts instead, and so does
    `memory`. None: the value stays as measured.

    `bound` returns what the value is a bound of, if what it measures was searched for and not found.
    """

    compute: Callable[[TrialData], float | None] = field(kw_only=True)
    adjusted_as: Literal["time", "memory"] | None = field(kw_only=True, default=None)
    bound: Callable[[TrialData], Censoring | None] | None = field(kw_only=True, default=None)


@dataclass(frozen=True)
class PairedMetric(Measure):
    """A measure of one trial against the baseline's of the same block.

    `compute` takes both trials' values; it returns None or raises `KeyError` where they do not say.
    """

    compute: Callable[[Values, Values], float | None] = field(kw_only=True)


@dataclass(frozen=True)
class Judgement:
    """What is computed from a target's records: checks in stages, and metrics by name.

    The checks of a stage run only if those before it found nothing. `metrics` are what a trial's own records give,
    `paired` what it gives against the baseline's of its block.
    """

    checks: Sequence[Sequence[Check]]
    metrics: Mapping[str, Metric]
    paired: Mapping[str, PairedMetric] = field(default_factory=dict)


class Target(Protocol[Place_contra]):
    """One kind of system that the lab can measure. `Place_contra` is the type of the engine that it runs on."""

    @property
    def declaration(self) -> Declaration:
        """Its names, models and needs."""

    @property
    def judgement(self) -> Judgement:
        """Its checks and metrics."""

    def prepare(self, experiment: Experiment, images: Mapping[str, str]) -> None:
        """Check generated configuration with the programs that will read it; raises `UserError`. By default none is."""
        return

    def deployment(self, level: Level[Any], place: Place_contra, out: Path) -> Deployment:
        """Return one system of `level`, not yet created, whose containers write to `out`."""

    def versions(self, trial: Path) -> Mapping[str, str]:
        """Return the versions that what was measured reported, by name, from the folder of a trial. By default none."""
        return {}

    def profiled(self, level: Level[Any], agent: str) -> Level[Any] | None:
        """Return the level with a JVM agent in what is measured; None, the default, if the target has no JVM."""
        return None


Targets = Mapping[str, Target[Any]]
"""All targets by kind."""
