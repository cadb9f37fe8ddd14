"""The start of a system to explore: a trial's, but what runs and is as wanted stays, and its load goes on."""

from dataclasses import replace

from lab.analysis.lab import Lab
from lab.command import prepare
from lab.command.paths import ROOT, SCRATCH
from lab.engine.keeping import KeepingDriver
from lab.run.start import Context, Start
from lab.spec import Experiment

FOLDER = SCRATCH / "play"
# Then a generator with a time ends.
LASTS_S = 7 * 24 * 3600.0


def driver() -> KeepingDriver:
    """The engine, with the containers that are there."""
    found = KeepingDriver(ROOT, SCRATCH)
    found.attach()
    return found


def pages(start: Start) -> list[str]:
    """Return what to do with the running system: commands to type and addresses to open, a line each."""
    return [*start.deployment.pages(), *driver().guarded_pages()]


def start_of(lab: Lab, experiment: Experiment, on: KeepingDriver) -> Start:
    """Return the start of an experiment's one level, with the observer, which the page reads."""
    place = replace(prepare.place(), driver=on, keeps=True)
    context = Context(experiment, lab.target(experiment), place)
    schedule, seed = experiment.load.schedule, experiment.protocol.seed
    found = schedule.fixed() or schedule.guess(len(place.cpus.services))
    protocol = experiment.protocol.model_copy(update={"window_s": LASTS_S})
    return Start(context, place, experiment.baseline_level(), found, seed, FOLDER, context.instruments, protocol)
