"""`lab model` and `lab size`: the capacity model of a Collector, fitted to runs, and what a load needs by it."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from lab.analysis.checklist import Row
from lab.analysis.collector.capacity import CapacityModel, Load, Pipeline, fit_pipeline, read_model, size, write_model
from lab.analysis.collector.duration import seconds
from lab.analysis.collector.grid import HINT, Grid, grids
from lab.analysis.collector.required import QUESTION, required
from lab.analysis.runs import Run
from lab.command.commands import console, say
from lab.command.paths import RESULTS, ROOT, new_file, shown
from lab.command.runs import read_run
from lab.errors import UserError
from lab.record import stored
from lab.report.capacity import fit_table, remarks, size_table
from lab.report.checklist import checklist_table
from lab.spec import suggestion

OWN = RESULTS / "capacity-model.json"
KEPT = ROOT / "docs" / "results" / "collector-model" / "capacity-model.json"
FACTS = ("cpu_model", "cores", "memory_bytes", "kernel")
# What has to be equal: a model is about one machine.
SAME = ("cpu_model", "cores")

Found = TypeVar("Found")

app = typer.Typer()


@app.command(epilog="Example: lab model results/collector-model/latest results/collector-model-tail/latest")
def model(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Results folders of collector-model*.")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where the model is written.")] = OWN,
) -> None:
    """Fits the capacity model of a Collector to runs, for `lab size`, and prints how well it predicts."""
    from lab.report.terminal import print_tables  # noqa: PLC0415

    OWN.parent.mkdir(exist_ok=True)
    new_file(out)
    known = [read_run(folder) for folder in runs]
    found, rows = fitted(known), required_rows(known)
    write_model(out, found)
    print_tables([fit_table(found), checklist_table(QUESTION, rows)], console)
    say(f"model: {shown(out)}")


@app.command(
    "size",
    epilog="Examples: lab size --spans-per-s 50000 --span-bytes 800 --spans-per-trace 10 --pipeline basic · "
    "lab size --spans-per-s 50000 --span-bytes 800 --spans-per-trace 10 --pipeline tail-sampling --decision-wait 10s",
)
def size_(
    spans_per_s: Annotated[float, typer.Option(min=1, max=1e8, help="Of all Collectors together.")],
    span_bytes: Annotated[float, typer.Option(min=1, max=1e6, help="Of a span in OTLP, uncompressed.")],
    spans_per_trace: Annotated[float, typer.Option(min=1, max=1e6, help="On average.")],
    pipeline: Annotated[str, typer.Option(help="A file of collector/pipelines/, without .yaml.")],
    decision_wait: Annotated[
        str | None, typer.Option(metavar="DURATION", help="Of tail sampling, e.g. 10s or 500ms.")
    ] = None,
    attributes: Annotated[float, typer.Option(min=0, max=1000, help="Of a span.")] = 10,
    file: Annotated[
        Path | None, typer.Option("--model", metavar="FILE", help="Of `lab model`; the newest if left out.")
    ] = None,
) -> None:
    """Says how many Collectors a load needs, and how much CPU and memory, by a fitted capacity model."""
    from lab.report.terminal import print_lines, print_tables  # noqa: PLC0415

    path = file or _newest()
    known = read_model(path)
    if pipeline not in known.pipelines:
        meant = suggestion(pipeline, known.pipelines)
        raise UserError(f"the model has no pipeline '{pipeline}'; {meant}", f"the model is {shown(path)}")
    wait_s = _wait_s(decision_wait, pipeline, known.pipelines[pipeline])
    load = Load(spans_per_s, span_bytes, attributes, spans_per_trace, wait_s)
    try:
        found = size(known, load, pipeline)
    except ValueError as other:
        raise UserError(f"{shown(path)}: {other}", "fit it again: lab model RUN...") from other
    print_tables([size_table(found, load, pipeline)], console)
    print_lines([*remarks(found, known, pipeline), f"model: {shown(path)}"], console)


def fitted(runs: Sequence[Run]) -> CapacityModel:
    """Fit all pipelines of the runs. Raises `UserError` for runs of two machines, and for too small a grid."""
    machines = [run.manifest["machine"] for run in runs]
    for name in SAME:
        if len({machine[name] for machine in machines}) > 1:
            raise UserError(f"the runs are of different machines: their {name} differs", "name runs of one machine")
    return CapacityModel(
        machine={name: machines[0][name] for name in FACTS},
        runs=[f"{run.manifest['experiment']}/{run.name}" for run in runs],
        pipelines=_of_grids(
            runs, lambda found: {name: fit_pipeline(grid.trials, grid.num_traces) for name, grid in found.items()}
        ),
    )


def required_rows(runs: Sequence[Run]) -> list[Row]:
    """Return the rows of `lab check model`. The seed of the first run draws the points that are held back."""
    return _of_grids(runs, lambda found: list(required(found, int(runs[0].manifest["seed"]))))


def _of_grids(runs: Sequence[Run], compute: Callable[[Mapping[str, Grid]], Found]) -> Found:
    """Compute something of the runs' grids. Raises `UserError` if they are too small for it."""
    try:
        return compute(grids([run.summary for run in runs]))
    except ValueError as few:
        raise UserError(str(few), HINT) from few


def _newest() -> Path:
    """Return this machine's model, or else the kept one."""
    for path in (OWN, KEPT):
        if stored(path):
            return path
    raise UserError("there is no capacity model yet", "fit one: lab model RUN..., or name a file: --model FILE")


def _wait_s(decision_wait: str | None, pipeline: str, fitted: Pipeline) -> float:
    """Return the decision wait in seconds. Raises `UserError` if it is missing, superfluous, or no duration."""
    if fitted.num_traces is None and decision_wait is not None:
        raise UserError(f"pipeline '{pipeline}' passes traces on at once", "leave --decision-wait out")
    if fitted.num_traces is not None and decision_wait is None:
        raise UserError(f"pipeline '{pipeline}' holds traces", "say how long, e.g. --decision-wait 10s")
    try:
        return seconds(decision_wait or "0s")
    except ValueError as wrong:
        raise UserError(f"--decision-wait: {wrong}", "write a number and its unit: ms, s, m or h") from wrong
