"""What a run needs before its first trial: the experiment as read, its places, images, ports, disk and memory."""

import os
import shutil
from collections.abc import Sequence

from lab.analysis.claims.spec import Study, load_claims
from lab.analysis.lab import Lab
from lab.analysis.metrics import measures
from lab.command import running
from lab.command.paths import CLAIMS, EXPERIMENTS, JOURNAL, RESULTS, ROOT, SCRATCH
from lab.contract import Needs
from lab.engine import (
    PROJECT,
    AbsentDriver,
    ComposeDriver,
    CpuSplit,
    Driver,
    Place,
    SystemClock,
    engine_cores,
    engine_memory_bytes,
    images,
    ports,
    require_engine,
    split_cpus,
)
from lab.errors import UserError
from lab.fault.journal import Journal, lift_leftovers
from lab.run.plan import make_plan
from lab.run.progress import Progress
from lab.run.start import Context
from lab.spec import MAX_SIDE_BY_SIDE, Experiment, find_named_file, load_experiment

# One trial at 20 Hz with thousands of requests writes some tens of MB.
BYTES_PER_TRIAL = 20 << 20


def read_experiment(lab: Lab, name: str, overrides: Sequence[str], levels: str = "") -> Experiment:
    """The experiment called `name` (or the file at that path) with `overrides`, and some of its `levels`."""
    experiment = load_experiment(find_named_file("experiment", name, EXPERIMENTS), lab.grammar, overrides, levels)
    read_claims(lab, experiment)
    return experiment


def read_claims(lab: Lab, experiment: Experiment) -> list[Study]:
    """The claims that an experiment tests. Raises `UserError` for an unknown one."""
    return load_claims(experiment.claims, CLAIMS, measures(lab.target(experiment).judgement))


def context(lab: Lab, experiment: Experiment) -> Context:
    """Everything that the experiment's trials share, on this machine."""
    target = lab.target(experiment)
    if not target.declaration.containers:
        return Context(experiment, target, _place(AbsentDriver(), split_cpus(os.cpu_count() or 1)))
    cpus = split_cpus(engine_cores(), target.declaration.needs(experiment).own_cpus)
    alone = _place(ComposeDriver(ROOT, SCRATCH), cpus)
    numbers = range(len(experiment.all_levels())) if experiment.at_once else ()
    systems = (_place(_side_by_side_driver(number), cpus, False) for number in numbers)
    return Context(experiment, target, alone, tuple(systems))


def place() -> Place:
    """The place of a system that runs alone."""
    return _place(ComposeDriver(ROOT, SCRATCH), split_cpus(engine_cores()))


def _place(driver: Driver, cpus: CpuSplit, alone: bool = True) -> Place:
    return Place(ROOT, cpus, driver, SystemClock(), JOURNAL, alone)


def remove_all() -> None:
    """Removes all of the lab's containers and networks, also those of a run that was killed."""
    alone = ComposeDriver(ROOT, SCRATCH)
    left = alone.projects()
    for driver in (alone, *map(_side_by_side_driver, range(MAX_SIDE_BY_SIDE))):
        if driver.project in left:
            driver.remove()


def _side_by_side_driver(number: int) -> ComposeDriver:
    return ComposeDriver(ROOT, SCRATCH / f"side-by-side-{number}", f"{PROJECT}-{number}")


def needs(of: Context) -> Needs:
    """What the experiment needs, instruments and load generator included."""
    target = of.target.declaration.needs(of.experiment)
    generator = [of.generator.service] if of.generator else []
    return Needs(target.services, (*target.images, *of.instruments, *generator), target.system_bytes)


def prepare(of: Context, progress: Progress) -> dict[str, str]:
    """Makes images and a clean engine for a run, or raises `UserError`; returns each image's reference by name."""
    reject_full_disk(len(make_plan(of.experiment).trials))
    if not of.target.declaration.containers:
        return {}
    require_engine()
    running.reject_beside()
    lift_leftovers(Journal(JOURNAL), of.place.driver, progress.say)
    wanted = needs(of)
    images.ensure(wanted.images, progress.say)
    references = images.references(wanted.images)
    of.target.prepare(of.experiment, references)
    remove_all()
    ports.require_free(wanted.services)
    if of.places:
        reject_small_memory(len(of.places), wanted.system_bytes, engine_memory_bytes())
    return references


def reject_full_disk(trials: int) -> None:
    """Raises `UserError` where the disk of `results` cannot hold that many trials."""
    RESULTS.mkdir(exist_ok=True)
    free, wanted = shutil.disk_usage(RESULTS).free, trials * BYTES_PER_TRIAL
    if free < wanted:
        raise UserError(
            f"{free >> 20} MiB are free on the disk of results/; {trials} trials may need {wanted >> 20} MiB",
            "free some space: `docker builder prune` empties the build cache; `make clean` removes images and .venv",
        )


def reject_small_memory(levels: int, system_bytes: int, memory_bytes: int | None) -> None:
    """Raises `UserError` where an engine with so much memory (None: unknown) cannot hold that many systems at once."""
    wanted = levels * system_bytes
    if memory_bytes is not None and memory_bytes < wanted:
        raise UserError(
            f"{levels} systems at once may need {wanted / 2**30:.1f} GiB, "
            f"the engine has {memory_bytes / 2**30:.1f} GiB",
            "give Docker more memory, or measure fewer levels: --levels NAME,... "
            "(side by side, also: --set side_by_side=false)",
        )
