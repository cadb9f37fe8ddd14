"""What each command does, once its words are parsed."""

import json
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from rich.console import Console

from lab.analysis import analyse as analysis
from lab.analysis.claims.judge import judge
from lab.analysis.claims.records import write_verdicts
from lab.analysis.lab import Lab
from lab.command import migrate as migration
from lab.command import overview, play, prepare
from lab.command.migrate import Version1
from lab.command.paths import EXPERIMENTS, LOCK, RESULTS, results_folder, shown
from lab.command.sample import write_sample
from lab.command.schema import schema_text, schemas
from lab.engine import images
from lab.engine.doctor import run as run_doctor
from lab.engine.lock import only_run
from lab.errors import UserError
from lab.report.numbers import duration
from lab.run import runner
from lab.run.progress import Progress

# What is no terminal has no width of its own; the table wants this much.
console = Console(width=None if sys.stdout.isatty() else 100)


class NoValidTrials(UserError):
    """A run ended, but some level has nothing to show."""

    exit_code = 5


def experiment(lab: Lab, name: str, overrides: Sequence[str], resume: bool) -> None:
    """Runs, analyses and reports; see `lab experiment --help`."""
    folder = _measure(lab, name, overrides, resume)
    _analyse(lab, folder)
    _report(folder)
    _refuse_empty(folder)


def run(lab: Lab, name: str, overrides: Sequence[str], resume: bool) -> None:
    """Only measures."""
    folder = _measure(lab, name, overrides, resume)
    console.print(f"records: {shown(folder)}", highlight=False, soft_wrap=True)


def plan(lab: Lab, name: str, overrides: Sequence[str], half_width: float) -> None:
    """Shows what would be run."""
    overview.print_plan(console, prepare.read_experiment(lab, name, overrides), lab, half_width, RESULTS)


def analyse(lab: Lab, folder: Path | None) -> None:
    """Computes and prints the summary of a results folder."""
    _analyse(lab, results_folder(folder))


def table(folder: Path | None, metric: str | None) -> None:
    """Prints what a results folder that was analysed says, or all that it says of one measure."""
    _print(results_folder(folder), metric)


def report(folder: Path | None) -> None:
    """Writes the report of a results folder."""
    _report(results_folder(folder))


def sample(folder: Path, out: Path) -> None:
    """Writes a small copy of a results folder."""
    write_sample(results_folder(folder), out)
    console.print(f"sample: {shown(out)}", highlight=False, soft_wrap=True)


def list_experiments(lab: Lab) -> None:
    """Lists experiments."""
    overview.print_experiments(console, lab, EXPERIMENTS, RESULTS)


def up(lab: Lab, target: Mapping[str, object], level: Mapping[str, object]) -> None:
    """Starts a system to explore."""
    progress = Progress(console)
    with only_run(LOCK):
        play.up(lab, target, level, progress)


def down() -> None:
    """Removes the lab's containers."""
    with only_run(LOCK):
        prepare.remove_all()
    console.print("the lab is down")


def doctor() -> int:
    """Examines the machine; returns the exit code."""
    return run_doctor()


def images_for(lab: Lab, name: str) -> None:
    """Makes the images of an experiment."""
    progress = Progress(console)
    images.ensure(prepare.needs(prepare.context(lab, prepare.read_experiment(lab, name, []))).images, progress.say)


def migrate(path: Path, version1: Version1) -> None:
    """Converts files of version 1."""
    migration.migrate(path, version1, lambda text: console.print(text, highlight=False, soft_wrap=True))


def schema(lab: Lab, kind: str) -> None:
    """Prints a JSON Schema."""
    known = schemas(lab)
    if kind not in known:
        raise UserError(f"there is no schema called {kind}", f"choose one of: {', '.join(known)}")
    sys.stdout.write(schema_text(known[kind]))


def clean_up() -> None:
    """After an interruption: leaves nothing running, whatever else fails."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with only_run(LOCK):
            prepare.remove_all()
    except UserError:
        return


def _measure(lab: Lab, name: str, overrides: Sequence[str], resume: bool) -> Path:
    started_s = time.monotonic()
    progress = Progress(console)
    context = prepare.context(lab, prepare.read_experiment(lab, name, overrides))
    with only_run(LOCK):
        references = prepare.prepare(context, progress)
        command = ["lab", "run", name, *(word for override in overrides for word in ("--set", override))]
        if resume:
            current = runner.unfinished_run(context, RESULTS)
        else:
            current = runner.new_run(context, RESULTS, command, references)
        setup_s = time.monotonic() - started_s
        current.manifest["durations_s"].setdefault("setup", round(setup_s, 1))
        progress.say(f"{context.experiment.title} Records go to {shown(current.folder)}")
        runner.complete(context, current, progress)
    measured_s = time.monotonic() - started_s - setup_s
    progress.say(f"set up in {duration(setup_s)}, measured in {duration(measured_s)}")
    return current.folder


def _analyse(lab: Lab, folder: Path) -> None:
    experiment, target = lab.recorded(folder)
    summary = analysis.analyse(folder, experiment, target)
    if experiment.claims:
        verdicts = judge(summary, prepare.read_claims(lab, experiment), experiment.protocol.seed)
        write_verdicts(folder / "claims.json", verdicts)
    _print(folder)


# Matplotlib takes a second to load, which a mistake in a command's words is not to wait for.
def _print(folder: Path, metric: str | None = None) -> None:
    from lab.report.terminal.results import print_metric_of, print_results  # noqa: PLC0415

    if metric is None:
        print_results(folder, console)
    else:
        print_metric_of(folder, metric, console)


def _report(folder: Path) -> None:
    from lab.report.build import build  # noqa: PLC0415

    console.print(f"report: {shown(build(folder))}", highlight=False, soft_wrap=True)


def _refuse_empty(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    empty = [name for name, level in summary["levels"].items() if not level["trials"]]
    if empty:
        raise NoValidTrials(f"no valid trial of: {', '.join(empty)}", "the report says why each was rejected")
