"""A target: what is measured, in three parts. `lab/cli.py` registers the targets; everything else receives one."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

from lab.contract.declaration import Declaration
from lab.contract.deployment import Deployment
from lab.contract.judgement import Judgement
from lab.spec import Experiment, Level

Place_contra = TypeVar("Place_contra", contravariant=True)


class Target(Protocol[Place_contra]):
    """One kind of system that the lab can measure. `Place_contra` is the type of the engine that it runs on."""

    @property
    def declaration(self) -> Declaration:
        """Its names, models and needs."""

    @property
    def judgement(self) -> Judgement:
        """Its checks and metrics."""

    def prepare(self, experiment: Experiment, images: Mapping[str, str]) -> None:
        """Check generated configuration with the programs that will read it; raises `UserError`."""

    def deployment(self, level: Level[Any], place: Place_contra, out: Path) -> Deployment:
        """Return one system of `level`, not yet created, whose containers write to `out`."""

    def profiled(self, level: Level[Any], agent: str) -> Level[Any] | None:
        """Return the level with a JVM agent in what is measured; None if the target has no JVM."""


Targets = Mapping[str, Target[Any]]
"""All targets by kind."""
