"""What commands do, once their words are parsed."""

import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from lab.analysis import analyse as analysis
from lab.analysis.claims.judge import judge
from lab.analysis.claims.records import write_verdicts
from lab.analysis.lab import Lab
from lab.analysis.sets import check_rejected
from lab.command import keep as keeping
from lab.command import prepare, running
from lab.command.paths import LOCK, RESULTS, shown
from lab.engine import EngineGone, EngineRejected, images, only_run, require_engine
from lab.errors import UserError
from lab.record import Summary, read_manifest, stored, trial_folders, write_json_atomic
from lab.report.numbers import duration
from lab.run import runner
from lab.run.progress import Progress
from lab.run.uninterrupted import ignore_signals

# What is no terminal has no width of its own; the table wants this much.
console = Console(width=None if sys.stdout.isatty() else 100)


class NoValidTrials(UserError):
    """A run ended, but some level has nothing to show."""

    exit_code = 5


def experiment(lab: Lab, name: str, overrides: Sequence[str], levels: str, resume: bool) -> None:
    """Runs, analyses and reports; see `lab experiment --help`."""
    folder = _measure(lab, name, overrides, levels, resume)
    started_s = time.monotonic()
    summary = analyse(lab, folder)
    report(folder)
    manifest = read_manifest(folder)
    manifest["durations_s"]["report"] = round(time.monotonic() - started_s, 1)
    write_json_atomic(folder / "manifest.json", manifest)
    if empty := [name for name, level in summary.levels.items() if not level.trials]:
        raise NoValidTrials(f"no trial of {', '.join(empty)} counts", "the report says why")
    check_rejected(summary)


def run(lab: Lab, name: str, overrides: Sequence[str], levels: str, resume: bool) -> None:
    """Only measures."""
    say(f"records: {shown(_measure(lab, name, overrides, levels, resume))}")


def analyse(lab: Lab, folder: Path) -> Summary:
    """Computes, prints and returns the summary of a results folder."""
    if not trial_folders(folder) and stored(folder / "summary.json"):
        raise UserError(f"{shown(folder)} has no raw records", f"show what it has: lab table {shown(folder)}")
    experiment, target = lab.recorded(folder)
    summary = analysis.analyse(folder, experiment, target)
    if experiment.claims:
        write_verdicts(
            folder / "claims.json", judge(summary, prepare.read_claims(lab, experiment), experiment.protocol.seed)
        )
    table(folder, None)
    return summary


# Matplotlib takes a second to load, which a mistake in a command's words is not to wait for.
def table(folder: Path, metric: str | None) -> None:
    """Prints what a results folder that was analysed says, or all that it says of one measure."""
    from lab.report.terminal import print_metric_of, print_results  # noqa: PLC0415

    if metric is None:
        print_results(folder, console)
    else:
        print_metric_of(folder, metric, console)


def report(folder: Path) -> None:
    """Writes the report of a results folder."""
    from lab.report.build import build  # noqa: PLC0415

    say(f"report: {shown(build(folder))}")


def keep(lab: Lab, folder: Path, out: Path, records: bool) -> None:
    """Stores a results folder small."""
    keeping.keep(folder, out, lab, records=records)
    say(f"kept: {shown(out)}")


def images_for(lab: Lab, name: str) -> None:
    """Makes the images of an experiment."""
    context = prepare.context(lab, prepare.read_experiment(lab, name, []))
    require_engine()
    images.ensure(prepare.needs(context).images, Progress(console).say)


def say(text: str) -> None:
    """Prints a line, however long."""
    console.print(text, highlight=False, soft_wrap=True)


def clean_up() -> bool:
    """After an interruption: leaves nothing running, and returns whether the engine did its part.

    What `lab up` started is left alone, and so are the containers of another process.
    """
    ignore_signals()
    try:
        with only_run(LOCK):
            if not running.has_containers():
                prepare.remove_all()
    except (UserError, OSError) as failed:
        return not isinstance(failed, EngineGone | EngineRejected)
    return True


def _measure(lab: Lab, name: str, overrides: Sequence[str], levels: str, resume: bool) -> Path:
    started_s = time.monotonic()
    progress = Progress(console)
    context = prepare.context(lab, prepare.read_experiment(lab, name, overrides, levels))
    with only_run(LOCK):
        references = prepare.prepare(context, progress)
        command = [
            *("lab", "run", name),
            *(word for override in overrides for word in ("--set", override)),
            *(("--levels", levels) if levels else ()),
        ]
        current = (
            runner.unfinished_run(context, RESULTS, references)
            if resume
            else runner.new_run(context, RESULTS, command, references)
        )
        setup_s = time.monotonic() - started_s
        current.manifest["durations_s"].setdefault("setup", round(setup_s, 1))
        progress.say(f"{context.experiment.title} Records go to {shown(current.folder)}")
        runner.complete(context, current, progress)
    measured_s = time.monotonic() - started_s - setup_s
    progress.say(f"set up in {duration(setup_s)}, measured in {duration(measured_s)}")
    return current.folder
