"""Puts together what a command works with: paths, the experiment as read, the bench, and what a run needs."""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.analysis.claims.spec import load_claims
from lab.engine import images, ports
from lab.engine.clock import SystemClock
from lab.engine.compose import PROJECT, ComposeDriver, engine_answers
from lab.engine.driver import EngineGone
from lab.engine.machine import engine_cores, engine_memory_bytes, split_cpus
from lab.errors import UserError
from lab.fault.journal import Journal, lift_leftovers
from lab.fault.rules import unknown_targets, without_sidecar
from lab.run.plan import make_plan
from lab.run.progress import Progress
from lab.run.stand import Bench
from lab.spec.experiment import (
    MAX_SIDE_BY_SIDE,
    Experiment,
    Level,
    check_names,
    fault_place,
    find_experiment,
    load_experiment,
)
from lab.spec.problems import Fault, FaultsError, dotted, user_error
from lab.target.mesh import sidecars
from lab.target.mesh.deployment import OBSERVER, SPINNER
from lab.target.mesh.system import System
from lab.target.mesh.topology import Topology, find_topology, load_topology
from lab.target.mesh.variants import load_variants

ROOT = ports.ROOT
RESULTS = ROOT / "results"
SCRATCH = ROOT / ".lab"
EXPERIMENTS = ROOT / "experiments"
TOPOLOGIES = EXPERIMENTS / "topologies"
CLAIMS = EXPERIMENTS / "claims"
VARIANTS = ROOT / "services" / "telemetry"
ENVOY_FOLDER = ROOT / "envoy"
# Of the machine, not of this checkout: every checkout's containers have the same names.
LOCK = Path(tempfile.gettempdir()) / "tollbooth.lock"
ENVOY = "envoy"
JOURNAL = SCRATCH / "faults.json"
# One trial at 20 Hz with thousands of requests writes some tens of MB.
BYTES_PER_TRIAL = 20 << 20
# The mesh under the Java agent with a backend takes 1 GiB.
BYTES_PER_SYSTEM = 1 << 30


@dataclass(frozen=True)
class Needs:
    """What an experiment has to have: Compose services whose ports must be free, and images."""

    services: tuple[str, ...]
    images: tuple[str, ...]


def read_experiment(name: str, overrides: Sequence[str]) -> Experiment:
    """The experiment called `name` (or the file at that path) with `overrides`."""
    experiment = load_experiment(find_experiment(name, EXPERIMENTS), overrides)
    check_names(experiment, load_variants(VARIANTS), [path.stem for path in TOPOLOGIES.glob("*.yaml")])
    load_claims(experiment.claims, CLAIMS)
    return experiment


def system(topology: str) -> System:
    """The system with the topology of that name, on this machine's engine."""
    topology_path = find_topology(topology, TOPOLOGIES)
    return System(
        root=ROOT,
        topology=load_topology(topology_path),
        topology_path=topology_path,
        variants=load_variants(VARIANTS),
        envoy=sidecars.load(ENVOY_FOLDER),
        cpus=split_cpus(engine_cores()),
        driver=ComposeDriver(ROOT, SCRATCH),
        clock=SystemClock(),
        journal=JOURNAL,
    )


def bench(experiment: Experiment) -> Bench:
    """Everything that the experiment's trials share, on this machine.

    Raises `UserError` where a level's sidecars or faults are not ones that its topology can have.
    """
    names = dict.fromkeys((experiment.topology, *experiment.topologies()))
    of = Bench(experiment, {name: system(name) for name in names}, _drivers(experiment))
    if faults := [fault for level in experiment.levels() for fault in _level_faults(of.systems[level.topology], level)]:
        raise user_error(f"experiment {experiment.name}", faults, dotted, "docs/formats.md describes levels")
    return of


def remove_all() -> None:
    """Takes away all of the lab's containers, those of a run that was killed too."""
    alone = ComposeDriver(ROOT, SCRATCH)
    left = alone.projects()
    for driver in (alone, *map(_side_by_side_driver, range(MAX_SIDE_BY_SIDE))):
        if driver.project in left:
            driver.remove()


def _drivers(experiment: Experiment) -> tuple[ComposeDriver, ...]:
    """One for each level of a block, where levels stand side by side."""
    if not experiment.protocol.side_by_side:
        return ()
    return tuple(map(_side_by_side_driver, range(len(experiment.levels()) + 1)))


def _side_by_side_driver(place: int) -> ComposeDriver:
    return ComposeDriver(ROOT, SCRATCH / f"side-by-side-{place}", f"{PROJECT}-{place}")


def _level_faults(system: System, level: Level) -> Iterator[Fault]:
    try:
        proxied = system.mode(level).proxied
    except FaultsError as wrong:
        yield from (Fault(("factors", level.name, "sidecar"), fault.text) for fault in wrong.faults)
        return
    yield from unknown_targets(level.faults, system.topology.nodes, fault_place(level))
    if not proxied:
        yield from without_sidecar(level.faults, fault_place(level))
        if level.envoy_runtime:
            yield Fault(("factors", level.name, "envoy_runtime"), "this level has no sidecar that could take it")


def needs(of: Bench) -> Needs:
    """What the bench's experiment has to have."""
    levels = of.experiment.levels()
    backends = [of.system.backend(level) for level in levels]
    nodes = sorted({kind for system in of.systems.values() for kind in kinds(system.topology)})
    return Needs(
        services=(*nodes, *sorted({name for backend in backends for name in backend.services})),
        images=(
            *("services", OBSERVER, of.generator.service),
            *([SPINNER] if SPINNER in of.instruments else []),
            *sorted({image for level in levels for fault in level.faults for image in fault.images}),
            *([ENVOY] if any(of.system.mode(level).proxied for level in levels) else []),
            *sorted({name for backend in backends for name in backend.images}),
        ),
    )


def kinds(topology: Topology) -> list[str]:
    """The Compose services whose kind some node has."""
    return sorted({node.kind for node in topology.nodes.values()})


def prepare(of: Bench, progress: Progress) -> dict[str, str]:
    """Makes images and a clean engine for a run, or raises `UserError`; returns each image's reference by name."""
    if not engine_answers():
        raise EngineGone("no Docker engine answers", "run `make doctor`")
    lift_leftovers(Journal(JOURNAL), of.system.driver, progress.say)
    wanted = needs(of)
    images.ensure(wanted.images, progress.say)
    references = images.references(wanted.images)
    if ENVOY in references:
        sidecars.refuse_wrong(_proxy_files(of), references[ENVOY])
    remove_all()
    ports.refuse_busy(wanted.services)
    refuse_full_disk(len(make_plan(of.experiment).trials))
    if of.drivers:
        refuse_small_memory(len(of.drivers), engine_memory_bytes())
    return references


def _proxy_files(of: Bench) -> dict[str, str]:
    """Each configuration that some sidecar gets, once, by the level and the path where it comes up first."""
    named = {
        text: f"{level.name}/{path}"
        for level in reversed(of.experiment.levels())
        for path, text in of.systems[level.topology].proxy_files(level).items()
    }
    return {name: text for text, name in named.items()}


def refuse_full_disk(trials: int) -> None:
    """Raises `UserError` where the disk of `results` cannot hold that many trials."""
    RESULTS.mkdir(exist_ok=True)
    free, wanted = shutil.disk_usage(RESULTS).free, trials * BYTES_PER_TRIAL
    if free < wanted:
        raise UserError(
            f"{free >> 20} MiB are free where results/ is, {trials} trials may need {wanted >> 20} MiB",
            "make room (`make clean` removes the lab's own caches)",
        )


def refuse_small_memory(levels: int, memory_bytes: int | None) -> None:
    """Raises `UserError` where an engine with so much memory (None: unknown) cannot hold that many systems at once."""
    wanted = levels * BYTES_PER_SYSTEM
    if memory_bytes is not None and memory_bytes < wanted:
        raise UserError(
            f"{levels} systems side by side may need {wanted >> 30} GiB, the engine has {memory_bytes >> 30} GiB",
            "compare fewer levels at once, or one after the other: --set side_by_side=false",
        )


def results_folder(named: Path | None) -> Path:
    """The results folder to look at: the one named, else the newest of any experiment."""
    if named is not None:
        if not (named / "manifest.json").exists():
            raise UserError(f"{named} is no results folder (it has no manifest.json)", f"choose one: {_some(_runs())}")
        return named
    runs = _runs()
    if not runs:
        raise UserError("there are no results yet", "run `make experiment`")
    return max(runs, key=lambda folder: folder.name)


def _runs() -> list[Path]:
    return sorted(path.parent for path in RESULTS.glob("*/2*Z/manifest.json"))


def _some(paths: Iterable[Path]) -> str:
    return ", ".join(str(path.relative_to(ROOT)) for path in list(paths)[-3:]) or "none yet"
