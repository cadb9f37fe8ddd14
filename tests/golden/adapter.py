"""All that the golden tests use of the lab. Where modules move or formats change, only this file changes.

Every function returns plain JSON values. The recorded runs and `f411f24/experiments` are of format
version 1: `run_folder` and `load_experiment` are the places to convert them.
"""

import json
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from lab.analysis.analyse import analyse
from lab.analysis.checks import reasons
from lab.analysis.claims.judge import judge
from lab.analysis.claims.spec import load_claims
from lab.analysis.metrics import measures
from lab.analysis.metrics import values as metric_values
from lab.command.migrate import migrate
from lab.engine.compose import PROJECT, ComposeDriver
from lab.engine.driver import Container, Stack
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.record.data import TrialData, read_trial
from lab.record.summary import read_summary
from lab.run.measure import run_start
from lab.run.plan import make_plan
from lab.run.side_by_side import run_side_by_side
from lab.run.start import Context
from lab.spec.experiment import Experiment
from lab.spec.parse import load_experiment, parse_experiment
from lab.target.mesh import version1
from tests.composing import BRIEF, COMPOSE
from tests.fake import FakeClock
from tests.labs import LAB, MESH

Json = Any

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "experiments"
RETIRED = ROOT / "tests" / "golden" / "retired"
KEPT = ROOT / "docs" / "results"
# Separate ones, so that a file shows who was given which.
CPUS = CpuSplit(services=(0, 1, 2), generator=(3,))
# What a calibration would have found; enough for twelve systems at half the users.
USERS = 48
SEED = 4711
COMPOSE_TIMEOUT_S = 60
# In place of the trial's folder; Compose takes nothing but a path there.
TRIAL = "/trial"


# --- plans ------------------------------------------------------------------------------------------------------------
def experiments() -> dict[str, Path]:
    """Return the experiments that measure a mesh, by name: f411f24 knew no other target.

    `retired/` has those that are another study by now, as they were.
    """
    paths = {path.stem: path for folder in (EXPERIMENTS, RETIRED) for path in sorted(folder.glob("*.yaml"))}
    return {name: path for name, path in paths.items() if LAB.target(_experiment(path)) is MESH}


def plan_of(path: Path, overrides: Sequence[str] = ()) -> Json:
    """Return the order of an experiment's trials, their seeds, and which trials share a start."""
    plan = make_plan(_experiment(path, overrides))
    return {
        "trials": [asdict(trial) for trial in plan.trials],
        "starts": [[trial.number for trial in start] for start in plan.starts()],
    }


def _experiment(path: Path, overrides: Sequence[str] = ()) -> Experiment:
    """Return an experiment; a file of version 1 is converted first."""
    return _read(path, tuple(overrides))


@cache
def _read(path: Path, overrides: tuple[str, ...]) -> Experiment:
    text = path.read_text()
    if "\nversion: 1\n" not in text:
        return load_experiment(path, LAB.grammar, overrides)
    return parse_experiment(version1.experiment_text(text), path.stem, LAB.grammar, overrides)


# --- Compose ----------------------------------------------------------------------------------------------------------
WAYS: Mapping[str, Sequence[str]] = {
    "as its file says": (),
    "one after the other": ("protocol.side_by_side=false", "observer.rate_hz=1"),
    "side by side": ("protocol.side_by_side=true", "protocol.retries=0"),
}


# Between them they have every backend and every generator of users.
BOTH_WAYS = frozenset({"ladder", "quick", "side-by-side", "telemetry-overhead", "today", "in-turn"})


def ways(path: Path) -> list[str]:
    """Return the ways in which an experiment's levels are deployed here."""
    own = ["as its file says"]
    if path.stem not in BOTH_WAYS:
        return own
    together = _experiment(path).protocol.side_by_side
    return [*own, "one after the other" if together else "side by side"]


def deployments_of(path: Path, way: str) -> dict[str, Json]:
    """Return what the driver gets for each start of an experiment's first block, by the start's levels.

    The folders of the repository and of the trial are `<root>` and `/trial`. `files` are those that
    the lab writes to the trial's folder before a container starts.
    """
    experiment = _experiment(path, WAYS[way])
    plan = make_plan(experiment)
    block = [start for start in plan.starts() if start[0].block == 0]
    found: dict[str, Json] = {}
    with tempfile.TemporaryDirectory() as folder:
        if experiment.protocol.side_by_side:
            (start,) = block
            levels = [plan.level(trial) for trial in start]
            drivers = [_RecordingDriver(f"{PROJECT}-{place}") for place in range(len(levels))]
            context = _context(experiment, drivers[0], tuple(drivers))
            found_users = {"users": USERS}
            _until_created(
                lambda out: run_side_by_side(context, levels, found_users, SEED, out, lambda _: None), folder
            )
            found |= {level.name: driver.created for level, driver in zip(levels, drivers, strict=True)}
        else:
            for start in block:
                levels = [plan.level(trial) for trial in start]
                driver = _RecordingDriver(PROJECT)
                context = _context(experiment, driver)
                _until_created(
                    lambda out, c=context, ls=levels: run_start(c, ls, _found(experiment), SEED, out), folder
                )
                found[" and ".join(sorted(level.name for level in levels))] = driver.created
    return found


def resolved(deployment: Mapping[str, Json]) -> Json:
    """Return the Compose configuration of a deployment's services, as `docker compose` resolves it.

    Needs the command, no engine.
    """
    with tempfile.TemporaryDirectory() as folder:
        driver = _ResolvingDriver(ROOT, Path(folder), deployment["project"])
        project = driver.resolved(
            json.loads(json.dumps(deployment["overlay"]).replace("<root>", str(ROOT))),
            {name: value.replace("<root>", str(ROOT)) for name, value in deployment["environment"].items()},
        )
    wanted = {name: project["services"][name] for name in deployment["services"]}
    return {
        "name": project["name"],
        "services": wanted,
        "networks": project.get("networks", {}),
        "volumes": project.get("volumes", {}),
    }


def compose_version() -> str:
    """Return the version of the `docker compose` here."""
    command = ["docker", "compose", "version", "--short"]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=COMPOSE_TIMEOUT_S).stdout.strip()


class _Created(Exception):
    """All that is wanted was recorded: nothing is started."""


class _RecordingDriver:
    """A `Driver` that takes down what it is to create, and starts nothing."""

    def __init__(self, project: str) -> None:
        self.project = project
        self.created: Json = None
        self._deployment: Stack | None = None

    def create(self, deployment: Stack) -> None:
        self._deployment = deployment

    def start(self, services: Sequence[str]) -> None:
        raise _Created

    def containers(self) -> dict[str, Container]:
        assert self._deployment is not None
        return {
            name: Container(f"id-of-{name}", name, "sha256:0", False, 0, 0, False) for name in self._deployment.services
        }

    def networks(self) -> dict[str, str]:
        return {"app": "172.18.0.0/16", "telemetry": "172.19.0.0/16"}

    def published_port(self, service: str, port: int) -> int:
        return port

    def remove(self) -> None:
        """Takes down what it was to create, with the files that are there by now."""
        if self._deployment is None:
            return
        out = Path(self._deployment.environment["TRIAL_DIR"])
        files = {str(path.relative_to(out)): path.read_text() for path in sorted(out.rglob("*")) if path.is_file()}
        written = {
            "project": self.project,
            "services": list(self._deployment.services),
            "overlay": self._deployment.overlay,
            "environment": self._deployment.environment,
            "files": files,
        }
        text = json.dumps(written).replace(str(out), TRIAL).replace(str(ROOT), "<root>")
        self.created = json.loads(text)


class _ResolvingDriver(ComposeDriver):
    """Asks Compose what it would make of an overlay, as `ComposeDriver` calls it."""

    def resolved(self, overlay: Mapping[str, Json], environment: Mapping[str, str]) -> Json:
        self.environment = dict(environment)
        self.overlay_path.write_text(json.dumps(overlay))
        text = self._compose("--profile", "*", "config", "--format", "json")
        return json.loads(text.replace(str(self.root), "<root>"))

    def _docker(self, *arguments: str, **_: Any) -> str:
        compose, *words = arguments
        assert compose == "compose"
        variables = {**{name: os.environ[name] for name in ("PATH", "HOME")}, **self.environment}
        done = subprocess.run(
            [*COMPOSE, *words], capture_output=True, text=True, check=False, timeout=COMPOSE_TIMEOUT_S,
            env={**BRIEF, **variables, "COMPOSE_PROJECT_NAME": self.project},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout


def _until_created(run: Any, folder: str) -> None:
    out = Path(folder) / "trial"
    try:
        run(out)
    except _Created:
        shutil.rmtree(out)


def _found(experiment: Experiment) -> Mapping[str, float]:
    """Return what the load's schedule finds; a start shares it out."""
    return experiment.load.schedule.fixed() or {"users": USERS}


def _context(experiment: Experiment, driver: _RecordingDriver, drivers: tuple[_RecordingDriver, ...] = ()) -> Context:
    return Context(experiment, MESH, _place(driver, True), tuple(_place(one, False) for one in drivers))


def _place(driver: _RecordingDriver, alone: bool) -> Place:
    return Place(ROOT, CPUS, driver, FakeClock(), ROOT / ".lab" / "faults.json", alone)


# --- records ----------------------------------------------------------------------------------------------------------
@contextmanager
def run_folder(recorded: Path) -> Iterator[Path]:
    """Give a copy of a recorded results folder in the format version that the lab reads."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / recorded.name
        shutil.copytree(recorded, copy)
        if (copy / "manifest.json").exists():
            migrate(copy, version1, lambda _: None)
        yield copy


def trials(folder: Path) -> list[Path]:
    """Return the folders of a run's trials."""
    return sorted(path.parent for path in folder.glob("trials/*/trial.json"))


@lru_cache(maxsize=1)
def _trial(folder: Path) -> TrialData:
    """Read a trial, which is judged and then measured."""
    return read_trial(folder)


def judge_trial(folder: Path) -> list[str]:
    """Return why a trial does not count; nothing for a valid one."""
    return reasons(_trial(folder), MESH.judgement.checks)


def values(folder: Path) -> dict[str, float]:
    """Return what a trial's records measure."""
    return metric_values(_trial(folder), MESH.judgement.metrics)


def analyse_run(folder: Path) -> Json:
    """Return the summary of a results folder, computed anew from its raw records."""
    analyse(folder, *LAB.recorded(folder))
    return json.loads((folder / "summary.json").read_text())


def kept_results() -> dict[str, Path]:
    """Return the results folders that the documents show, by name.

    `retired/` has those that were shortened or measured anew since, as they were, with the metrics of their claims.
    """
    paths = (path for folder in (KEPT, RETIRED) for path in sorted(folder.glob("*/summary.json*")))
    return {path.parent.name: path.parent for path in paths}


def judge_claims(folder: Path) -> Json:
    """Return the verdicts on a run's claims, from its summary; None where its experiment has no claims."""
    experiment, target = LAB.recorded(folder)
    if not experiment.claims:
        return None
    studies = load_claims(experiment.claims, EXPERIMENTS / "claims", measures(target.judgement))
    return judge(read_summary(folder / "summary.json"), studies, experiment.protocol.seed).model_dump(mode="json")
