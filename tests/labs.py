"""The lab as the command line registers it, and experiments and levels of it, for tests."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lab.analysis.analyse import analyse as analyse_run
from lab.analysis.metrics import measures
from lab.cli import LAB
from lab.record.summary import Summary
from lab.spec.experiment import Experiment
from lab.spec.level import Level
from lab.spec.parse import parse_experiment
from lab.target.mesh.settings import MeshLevel, MeshLevelSettings
from lab.target.mesh.target import Mesh

ROOT = Path(__file__).resolve().parents[1]
MESH: Mesh = LAB.targets["mesh"]  # type: ignore[assignment]
METRICS = measures(MESH.judgement)


def parse(text: str, name: str = "test", overrides: Sequence[str] = ()) -> Experiment:
    """Return the experiment that a text describes."""
    return parse_experiment(text, name, LAB.grammar, overrides)


def level(name: str, telemetry: str = "baseline", topology: str = "mesh", **settings: Any) -> MeshLevel:
    """Return a level of a mesh."""
    return Level(name, MeshLevelSettings(telemetry=telemetry, topology=topology, **settings), name)


def analyse(folder: Path) -> Summary:
    """Analyse a results folder by what its manifest says."""
    return analyse_run(folder, *LAB.recorded(folder))
