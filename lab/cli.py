"""The lab's command line: parses, calls, and is the one place that prints an error or chooses an exit code."""

import errno
import sys
import traceback
from pathlib import Path
from typing import Annotated, NoReturn
from urllib.error import URLError

import typer
from rich.console import Console
from rich.markup import escape
from typer.exceptions import TyperException

from lab.analysis.lab import Lab
from lab.analysis.sets import check_rejected
from lab.command import bundle, check, commands, grading, model, overview, runs
from lab.command import migrate as migration
from lab.command import up as system
from lab.command.paths import EXPERIMENTS, RESULTS, ROOT, SCRATCH, results_folder
from lab.command.prepare import read_experiment
from lab.command.schema import print_schema
from lab.engine.doctor import run as run_doctor
from lab.errors import UserError
from lab.load import LOADS
from lab.page import processes
from lab.run.progress import Progress
from lab.run.uninterrupted import interrupt_by_signals
from lab.target.collector.target import Collector
from lab.target.jmh.target import Jmh
from lab.target.mesh import version1
from lab.target.mesh.target import Mesh
from lab.target.proxy.target import Proxy
from lab.target.store.target import Store

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measures what tracing, metrics and Envoy sidecars cost. Start with: lab experiment quick",
)
app.add_typer(check.app, name="check")

Name = Annotated[str, typer.Argument(help="A name from `lab list`, or a path to an experiment file.")]
Overrides = Annotated[
    list[str] | None, typer.Option("--set", metavar="KEY=VALUE", help="Sets a field, e.g. --set repetitions=2.")
]
Levels = Annotated[
    str, typer.Option("--levels", metavar="NAME,...", help="Only these levels of the factors, and the baseline.")
]
Resume = Annotated[
    bool, typer.Option("--resume", help="Continues the newest interrupted run, or one that now may take longer.")
]
Folder = Annotated[Path | None, typer.Argument(help="A results folder; the newest one if left out.")]

INTERRUPTED = 130

LAB = Lab(
    {target.declaration.kind: target for target in (Mesh(ROOT), Collector(ROOT), Proxy(ROOT), Store(), Jmh(ROOT))},
    LOADS,
)
"""What is registered: a target is a row here, a generator in `lab/load`."""


@app.command(
    epilog="Examples: lab experiment quick --set repetitions=8 --set budget_min=16 · "
    "lab experiment collector-capacity --levels basic,sample"
)
def experiment(name: Name = "quick", set_: Overrides = None, levels: Levels = "", resume: Resume = False) -> None:
    """Runs an experiment, analyses it, prints its table and writes its report."""
    commands.experiment(LAB, name, set_ or [], levels, resume)


@app.command(epilog="Example: lab plan quick --half-width 0.02")
def plan(
    name: Name = "quick",
    set_: Overrides = None,
    levels: Levels = "",
    half_width: Annotated[
        float, typer.Option(help="Target half-width of the ratios' intervals, relative to the ratio.")
    ] = 0.02,
) -> None:
    """Shows the order of trials, how long they will take here, and how many blocks a precision needs."""
    overview.print_plan(commands.console, read_experiment(LAB, name, set_ or [], levels), LAB, half_width, RESULTS)


@app.command(epilog="Example: lab run quick --resume")
def run(name: Name = "quick", set_: Overrides = None, levels: Levels = "", resume: Resume = False) -> None:
    """Only measures: writes raw records, no table and no report."""
    commands.run(LAB, name, set_ or [], levels, resume)


@app.command(epilog="Example: lab analyse results/quick/latest")
def analyse(folder: Folder = None) -> None:
    """Computes summary.json from raw records and prints the table."""
    check_rejected(commands.analyse(LAB, results_folder(folder)))


@app.command(epilog="Example: lab table docs/results/quick --metric latency_p95_ms")
def table(
    folder: Folder = None,
    metric: Annotated[
        str | None, typer.Option(help="Only this measure of summary.json, with all of its numbers.")
    ] = None,
) -> None:
    """Prints the tables and verdicts of a run that was analysed; needs no raw records."""
    commands.table(results_folder(folder), metric)


@app.command(epilog="Example: lab report results/quick/latest")
def report(folder: Folder = None) -> None:
    """Writes report.html from a results folder."""
    commands.report(results_folder(folder))


@app.command(epilog="Example: lab keep results/quick/latest docs/results/quick")
def keep(
    folder: Annotated[Path, typer.Argument(help="A results folder that was analysed.")],
    out: Annotated[Path, typer.Argument(help="A folder that is not there yet.")],
    records: Annotated[
        bool,
        typer.Option("--records/--no-records", help="With what is needed to analyse it again, or kilobytes only."),
    ] = True,
) -> None:
    """Stores a run small, with all that is needed to analyse it again, or without."""
    commands.keep(LAB, results_folder(folder), out, records)


for part in (runs.app, model.app, bundle.app):
    app.add_typer(part)
grading.add(app, check.app, LAB)


@app.command(name="list")
def list_() -> None:
    """Lists the experiments, and how long each takes here."""
    overview.print_experiments(commands.console, LAB, EXPERIMENTS, RESULTS)


@app.command(
    epilog="Examples: lab up · lab up --set telemetry=zipkin · lab up --set topology=duo --set sidecar=retries "
    "--fault envoy-delay · lab up proxy"
)
def up(
    kind: Annotated[str, typer.Argument(help=f"A kind of target: {', '.join(LAB.targets)}.")] = next(iter(LAB.targets)),
    set_: Overrides = None,
    fault: Annotated[
        str | None, typer.Option(help="A kind of fault. It begins when the system is ready, and ends after 10 minutes.")
    ] = None,
) -> None:
    """Starts a system with a light load, or changes the one that runs, and prints addresses.

    --set changes what an experiment file may say of it.
    """
    system.up(LAB, kind, set_ or [], fault, commands.console)


@app.command()
def down() -> None:
    """Stops and removes everything that the lab started."""
    system.down(Progress(commands.console))


app.add_typer(processes.app_of(LAB))


@app.command()
def doctor() -> None:
    """Checks whether this machine is fit for measuring, and prints how to fix what is not."""
    raise typer.Exit(run_doctor())


@app.command()
def images(name: Name = "quick") -> None:
    """Pulls or builds the images that an experiment needs."""
    commands.images_for(LAB, name)


@app.command()
def schema(kind: Annotated[str, typer.Argument(help="experiment, topology or claims")] = "experiment") -> None:
    """Prints the JSON Schema of a file format."""
    print_schema(LAB, kind)


@app.command(epilog="Example: lab migrate results/quick/2026-01-01T000000Z")
def migrate(path: Annotated[Path, typer.Argument(help="An experiment file, or a results folder.")]) -> None:
    """Converts files and results of version 1 to version 2, in place."""
    migration.migrate(path, version1, commands.say)


def main() -> NoReturn:
    """Runs the command line; every way out of the program passes here."""
    interrupt_by_signals()
    errors = Console(stderr=True)
    try:
        code = app(standalone_mode=False)
        if code == INTERRUPTED:  # what Typer makes of Ctrl-C
            raise KeyboardInterrupt
    except UserError as wrong:
        _say(errors, wrong.message, wrong.hint)
        code = wrong.exit_code
    except KeyboardInterrupt:
        stopped = "everything was stopped" if commands.clean_up() else "containers may still run (stop them: lab down)"
        _say(errors, "interrupted", f"{stopped} and finished trials are kept: continue with --resume")
        code = INTERRUPTED
    except TyperException as usage:
        _say(errors, usage.format_message(), "see `lab --help`")
        code = UserError.exit_code
    except OSError as failed:
        code = _failed_by_system(errors, failed)
    except Exception:
        code = _failed_by_us(errors)
    sys.exit(code or 0)


def _say(console: Console, message: str, hint: str) -> None:
    console.print(f"[bold red]error:[/] {escape(message)}", highlight=False, soft_wrap=True)
    if hint:
        console.print(escape(hint), highlight=False, soft_wrap=True)


def _failed_by_system(console: Console, failed: OSError) -> int:
    if failed.errno in (errno.ENOSPC, errno.EDQUOT):
        what, fix = f"the disk is full ({failed.filename or 'while writing'})", "make room"
    elif failed.errno in (errno.EACCES, errno.EROFS, errno.EPERM):
        what, fix = f"not allowed: {failed.strerror} ({failed.filename})", "fix the permissions"
    elif isinstance(failed, ConnectionError | TimeoutError | URLError):
        what, fix = f"a container did not answer: {failed}", "if it ran out of memory, give it more"
    else:
        return _failed_by_us(console)
    _say(console, what, f"{fix}, then continue with --resume")
    return 3


def _failed_by_us(console: Console) -> int:
    log = SCRATCH / "error.log"
    log.parent.mkdir(exist_ok=True)
    log.write_text(traceback.format_exc())
    _say(
        console,
        f"an internal error: {traceback.format_exc().splitlines()[-1]}",
        f"please report it with {log}; finished trials are kept",
    )
    return 70
