"""`lab combine` and `lab compare`: several runs, read, checked and printed."""

from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Annotated

import typer

from lab.analysis.designs import of_designs, of_manifests
from lab.analysis.runs import Run, combine
from lab.analysis.two_runs import compare_runs
from lab.command.commands import console, say
from lab.command.paths import new_file, results_folder, shown
from lab.errors import UserError
from lab.record import read_manifest, read_summary, stored, write_combined

app = typer.Typer()


@app.command(
    "combine",
    epilog="Examples: lab combine results/steady/2026-11-2*Z · lab combine RUN RUN RUN --json combined.json",
)
def combine_(
    runs: Annotated[list[Path], typer.Argument(metavar="RUN...", help="Results folders of one design.")],
    json: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Also writes all numbers.")] = None,
) -> None:
    """Combines runs of one design: their mean and, from six runs on, the interval for the next run."""
    from lab.report.runs import combined_tables, remarks  # noqa: PLC0415
    from lab.report.terminal import print_lines, print_tables  # noqa: PLC0415

    json = json and new_file(json)
    known = [read_run(folder) for folder in runs]
    reject_other_designs(known, runs)
    try:
        combined = combine(known)
    except ValueError as few:
        raise UserError(str(few), "name at least two runs of one design") from few
    print_tables(combined_tables(combined), console)
    print_lines(remarks(combined), console)
    if json:
        write_combined(json, combined)
        say(f"all numbers: {shown(json)}")


@app.command(
    "compare",
    epilog="Examples: lab compare docs/results/quick results/quick/latest · lab compare RUN ANOTHER-RUN",
)
def compare_(
    one: Annotated[Path, typer.Argument(metavar="RUN", help="A results folder.")],
    other: Annotated[Path, typer.Argument(metavar="RUN", help="Another one, also of another design.")],
) -> None:
    """Lists in what two runs differ: first their manifests, then their numbers."""
    from lab.report.runs import contrast_table, differences_table  # noqa: PLC0415
    from lab.report.terminal import print_lines, print_tables  # noqa: PLC0415

    first, second = read_run(one), read_run(other)
    names = ("first", "second")
    print_lines((f"{name}: {shown(folder)}" for name, folder in zip(names, (one, other), strict=True)), console)
    print_tables([differences_table(of_manifests(first.manifest, second.manifest), names)], console)
    headline = first.summary.headline
    metrics = dict.fromkeys([headline.primary, *(column.metric for column in headline.columns)])
    found = {metric: compare_runs(first.summary, second.summary, metric) for metric in metrics}
    tables = [contrast_table(first.summary, metric, rows, names) for metric, rows in found.items() if rows]
    print_tables(tables, console)
    print_lines(_missing(first, second), console)


def read_run(folder: Path) -> Run:
    """Read a run that is finished and analysed. Raises `UserError` where it is not."""
    named = results_folder(folder)
    manifest = read_manifest(named)
    if manifest.get("finished") is None:
        raise UserError(
            f"{shown(named)} is not finished", f"finish it first: lab run {manifest['experiment']} --resume"
        )
    summary = named / "summary.json"
    if not stored(summary):
        raise UserError(f"{shown(named)} was not analysed", f"analyse it first: lab analyse {shown(named)}")
    return Run(named.resolve().name, manifest, read_summary(summary))


def reject_other_designs(runs: Sequence[Run], folders: Sequence[Path]) -> None:
    """Raise `UserError` where two runs have different designs, or are one."""
    for (one, first), (other, second) in combinations(zip(runs, folders, strict=True), 2):
        if (one.started, one.manifest["seed"]) == (other.started, other.manifest["seed"]):
            raise UserError(f"{shown(first)} and {shown(second)} are the same run", "name each run once")
        for difference in of_designs(one.manifest, other.manifest):
            raise UserError(
                f"{shown(first)} and {shown(second)} have different designs: "
                f"{difference.path} is {difference.one!r} and {difference.other!r}",
                f"compare them instead: lab compare {shown(first)} {shown(second)}",
            )


def _missing(one: Run, other: Run) -> list[str]:
    """Say which levels and metrics of the headline only one of the runs has."""
    lines = []
    for name, run, without in (("first", one, other), ("second", other, one)):
        if levels := [level for level in run.summary.levels if level not in without.summary.levels]:
            lines.append(f"Levels that only the {name} run has: {', '.join(levels)}.")
        headline = run.summary.headline
        names = dict.fromkeys([headline.primary, *(column.metric for column in headline.columns)])
        titles = [
            run.summary.metrics[metric].title
            for metric in names
            if metric in run.summary.metrics and metric not in without.summary.metrics
        ]
        if titles:
            lines.append(f"Measures that only the {name} run has: {', '.join(titles)}.")
    return lines
