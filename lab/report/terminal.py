"""What the terminal shows of a run that was analysed: the report's tables, its verdicts, and the answer last."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich import table as rich
from rich.console import Console
from rich.markup import escape

from lab.analysis.claims.records import read_verdicts
from lab.analysis.sets import rejections
from lab.errors import UserError
from lab.record import Summary, read_manifest, read_summary, stored
from lab.report.answers import Answer, answers
from lab.report.claims import claims
from lab.report.compared import compare_views, crossing_table, frontier_table, ladder_tables
from lab.report.endpoints import endpoints_table
from lab.report.facts import shared_machine
from lab.report.findings import remarks
from lab.report.first_error import first_error_table
from lab.report.overhead import machine_used, overhead
from lab.report.resilience import outages, resilience
from lab.report.tables import Cell, Table, main_table, metric_table
from lab.spec import suggestion

MOST_ANSWERS = 4
# Longer names are folded.
LONGEST_NAME = 24
# The longest word of a finding is never cut.
FINDING_WIDTH = len("inconclusive")
COLOURS = {"better": "green", "worse": "yellow", "neutral": "dim"}


def print_results(folder: Path, console: Console) -> None:
    """Print what `summary.json`, `manifest.json` and, where there is one, `claims.json` of a results folder say."""
    summary, manifest = read_summary(folder / "summary.json"), read_manifest(folder)
    print_summary(summary, console)
    print_lines(shared_machine(manifest), console)
    views = compare_views(summary, manifest)
    crossings = [crossing_table(summary, one) for one in views.crossings if one.metrics]
    print_tables([*ladder_tables(views.ladders), *crossings], console)
    if errors := resilience(summary, ()):
        print_tables([errors.errors], console)
        print_lines((f"{level}: {sentence}" for level, sentence in errors.origin), console)
        print_tables([errors.added] if errors.added.rows else [], console)
    frontiers = [frontier_table(summary, view) for view in views.frontiers]
    print_tables(
        [
            one
            for one in (outages(summary), endpoints_table(summary), first_error_table(summary), *frontiers)
            if one and one.rows
        ],
        console,
    )
    if stored(verdicts := folder / "claims.json"):
        found = claims(read_verdicts(verdicts))
        print_tables([*([found.verdicts] if found.verdicts.rows else []), *found.figures], console)
    print_answers(answers(summary, manifest, views.crossings), console)


def print_summary(summary: Summary, console: Console) -> None:
    """Print the headline of every level, and the rejected trials."""
    print_tables([main_table(summary)], console)
    for remark in [*remarks(summary), *machine_used(summary)]:
        console.print(escape(remark), style="dim", highlight=False)
    rejected = (f"rejected {trial.trial}: {'; '.join(trial.reasons)}" for trial in summary.trials if not trial.valid)
    print_lines([*rejected, rejections(summary)], console)
    print_tables(overhead(summary).tables, console)


def print_answers(found: Sequence[Answer], console: Console) -> None:
    """Print the answer: its sentences, or of more than can be read at once the highest and the lowest."""
    shown = [("", answer) for answer in found]
    if len(found) > MOST_ANSWERS:
        ranked = sorted((answer for answer in found if answer.size is not None), key=lambda answer: answer.size or 0)
        extremes = [(f"the highest of {len(found)}, ", ranked[-1]), ("the lowest, ", ranked[0])] if ranked else []
        shown = [*extremes, *(one for one in shown if one[1].size is None)]
    console.print("The answer", style="italic", highlight=False)
    for which, answer in shown:
        console.print(f"[bold]{which}{escape(answer.title)}[/]: {escape(answer.text)}", highlight=False)


def print_metric_of(folder: Path, metric: str, console: Console) -> None:
    """Print all that a results folder's `summary.json` says of one metric; raises `UserError` for one it has not."""
    summary = read_summary(folder / "summary.json")
    if metric not in summary.metrics:
        raise UserError(f"this run has no measure '{metric}'", suggestion(metric, summary.metrics))
    print_tables([metric_table(summary, metric)], console)


def print_lines(lines: Iterable[str], console: Console) -> None:
    """Print sentences as they are."""
    for line in lines:
        console.print(escape(line), highlight=False)


def print_tables(tables: Sequence[Table], console: Console) -> None:
    """Print tables, readable from 100 columns on; what several have to say is said below the last of them."""
    for index, table in enumerate(tables):
        # Rich makes room in columns that may wrap, and then gives them their least width back: digits would be cut. In
        # a table with words there is room enough.
        cut = all(column.kind != "words" for column in table.columns[1:]) and (
            console.measure(_table(table), options=console.options.update(max_width=10_000)).maximum > console.width
        )
        console.print(_table(table, FINDING_WIDTH if cut else None), highlight=False)
        later = {note for other in tables[index + 1 :] for note in other.notes}
        for note in table.notes:
            if note not in later:
                console.print(escape(note), style="dim", highlight=False)


def _table(table: Table, finding_width: int | None = None) -> rich.Table:
    shown = [index for index, column in enumerate(table.columns) if column.narrow is not None]
    made = rich.Table(
        title=escape(table.title), title_justify="left", padding=(0, 1), pad_edge=False, collapse_padding=True, box=None
    )
    for index in shown:
        column = table.columns[index]
        longest = max((len(row[index].value) for row in table.rows), default=0)
        made.add_column(
            escape(column.heading),
            justify="left" if column.kind in {"words", "finding"} else "right",
            overflow="fold",
            no_wrap=column.firm or (index == 0 and longest <= LONGEST_NAME),
            width=finding_width if column.kind == "finding" else None,
            min_width=FINDING_WIDTH if column.kind == "finding" else None,
        )
    above = ""
    for row in table.rows:
        first = Cell() if row[0].value == above else row[0]
        made.add_row(*(_text(row[index] if index else first) for index in shown))
        above = row[0].value
    if table.last:
        made.add_section()
        made.add_row(*(f"[bold]{_text(table.last[index])}[/]" for index in shown))
    return made


def _text(cell: Cell) -> str:
    found = cell.finding and f"[{COLOURS[cell.finding.tone]}]{escape(cell.finding.word)}[/]"
    detail = cell.detail and f"[dim]{escape(cell.detail)}[/]"
    return "\n".join(part for part in (escape(cell.text), found, detail) if part)
