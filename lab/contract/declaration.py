"""What a target declares about itself. Pure: nothing here starts or reads anything that runs."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from lab.record import Headline
from lab.spec import Experiment, Level, LevelSettings, Problem, Shape, TargetSettings


@dataclass(frozen=True)
class Needs:
    """What an experiment needs: Compose services whose ports must be free, images, and memory of one system."""

    services: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    system_bytes: int = 0


class Declaration(Protocol):
    """The names, models and needs of one kind of target."""

    @property
    def kind(self) -> str:
        """Its name in experiment files."""

    @property
    def unit_of_work(self) -> str:
        """What costs are divided by: request, trace, span, operation."""

    @property
    def containers(self) -> bool:
        """Whether it runs in containers of the engine."""

    @property
    def settings(self) -> type[TargetSettings]:
        """What `target` in an experiment file may set."""

    @property
    def level(self) -> type[LevelSettings]:
        """What a level may set. The schema, the level and its record come from this model."""

    @property
    def streams(self) -> Mapping[str, int]:
        """The record streams that a trial leaves, and their versions."""

    @property
    def files(self) -> Mapping[str, type[Shape]]:
        """Further files that users write for it, such as topologies, by name."""

    def headline(self, metrics: Collection[str]) -> Headline:
        """Return the primary metric and the table's columns of a summary that has `metrics`."""

    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        """Yield what is wrong with an experiment of this kind, beyond what its models check."""

    def needs(self, experiment: Experiment) -> Needs:
        """Return what an experiment needs besides the lab's own instruments."""

    def start_group(self, level: Level[Any]) -> str:
        """Return a name for levels that take equally long to start."""

    def manifest(self, experiment: Experiment) -> Mapping[str, Any]:
        """Return what `manifest.json` says about the target, by key."""
