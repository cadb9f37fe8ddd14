"""What each command does, once its words are parsed."""

import json
import signal
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console

from lab.analysis import analyse as analysis
from lab.analysis.claims.judge import judge
from lab.analysis.claims.records import write_verdicts
from lab.analysis.claims.spec import load_claims
from lab.command import overview, play, workshop
from lab.command.sample import write_sample
from lab.command.schema import SCHEMAS, schema_text
from lab.engine import images
from lab.engine.doctor import run as run_doctor
from lab.engine.lock import only_run
from lab.errors import UserError
from lab.run import runner
from lab.run.progress import Progress, minutes

# What is no terminal has no width of its own; the table wants this much.
console = Console(width=None if sys.stdout.isatty() else 100)


class NoValidTrials(UserError):
    """A run ended, but some level has nothing to show."""

    exit_code = 5


def experiment(name: str, overrides: Sequence[str], resume: bool) -> None:
    """Runs, analyses and reports; see `lab experiment --help`."""
    folder = _measure(name, overrides, resume)
    _analyse(folder)
    _report(folder)
    _refuse_empty(folder)


def run(name: str, overrides: Sequence[str], resume: bool) -> None:
    """Only measures."""
    folder = _measure(name, overrides, resume)
    console.print(f"records: {_shown(folder)}", highlight=False, soft_wrap=True)


def plan(name: str, overrides: Sequence[str], half_width: float) -> None:
    """Shows what would be run."""
    overview.print_plan(console, workshop.read_experiment(name, overrides), half_width, workshop.RESULTS)


def analyse(folder: Path | None) -> None:
    """Computes and prints the summary of a results folder."""
    _analyse(workshop.results_folder(folder))


def table(folder: Path | None, metric: str | None) -> None:
    """Prints what a results folder that was analysed says, or all that it says of one measure."""
    _print(workshop.results_folder(folder), metric)


def report(folder: Path | None) -> None:
    """Writes the report of a results folder."""
    _report(workshop.results_folder(folder))


def sample(folder: Path, out: Path) -> None:
    """Writes a small copy of a results folder."""
    write_sample(workshop.results_folder(folder), out)
    console.print(f"sample: {_shown(out)}", highlight=False, soft_wrap=True)


def list_experiments() -> None:
    """Lists experiments."""
    overview.print_experiments(console, workshop.EXPERIMENTS, workshop.RESULTS)


def up(telemetry: str, topology: str, sidecar: str) -> None:
    """Starts the lab to play with."""
    progress = Progress(console)
    with only_run(workshop.LOCK):
        play.up(telemetry, topology, sidecar, progress)


def down() -> None:
    """Removes the lab's containers."""
    with only_run(workshop.LOCK):
        workshop.remove_all()
    console.print("the lab is down")


def doctor() -> int:
    """Examines the machine; returns the exit code."""
    return run_doctor()


def images_for(name: str) -> None:
    """Makes the images of an experiment."""
    progress = Progress(console)
    images.ensure(workshop.needs(workshop.bench(workshop.read_experiment(name, []))).images, progress.say)


def schema(kind: str) -> None:
    """Prints a JSON Schema."""
    if kind not in SCHEMAS:
        raise UserError(f"there is no schema called {kind}", f"choose one of: {', '.join(SCHEMAS)}")
    sys.stdout.write(schema_text(kind))


def clean_up() -> None:
    """After an interruption: leaves nothing running, whatever else fails."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with only_run(workshop.LOCK):
            workshop.remove_all()
    except UserError:
        return


def _measure(name: str, overrides: Sequence[str], resume: bool) -> Path:
    started_s = time.monotonic()
    progress = Progress(console)
    bench = workshop.bench(workshop.read_experiment(name, overrides))
    with only_run(workshop.LOCK):
        references = workshop.prepare(bench, progress)
        command = ["lab", "run", name, *(word for override in overrides for word in ("--set", override))]
        if resume:
            current = runner.unfinished_run(bench, workshop.RESULTS)
        else:
            current = runner.new_run(bench, workshop.RESULTS, command, references)
        current.manifest["durations_s"].setdefault("setup", round(time.monotonic() - started_s, 1))
        progress.say(f"{bench.experiment.title} Records go to {_shown(current.folder)}")
        runner.complete(bench, current, progress)
    progress.say(f"measured in {minutes(time.monotonic() - started_s)}")
    return current.folder


def _analyse(folder: Path) -> None:
    summary = analysis.analyse(folder)
    experiment = analysis.experiment_of(folder)
    if experiment.claims:
        verdicts = judge(summary, load_claims(experiment.claims, workshop.CLAIMS), experiment.protocol.seed)
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

    console.print(f"report: {_shown(build(folder))}", highlight=False, soft_wrap=True)


def _refuse_empty(folder: Path) -> None:
    summary = json.loads((folder / "summary.json").read_text())
    empty = [name for name, level in summary["levels"].items() if not level["trials"]]
    if empty:
        raise NoValidTrials(f"no valid trial of: {', '.join(empty)}", "the report says why each was refused")


def _shown(path: Path) -> str:
    return str(path.relative_to(workshop.ROOT) if path.is_relative_to(workshop.ROOT) else path)
