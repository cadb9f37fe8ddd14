"""Ladders in the terminal: what each level adds to the one before it."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.report.ladders import Ladder
from lab.report.terminal.tables import print_note
from lab.report.view_rows import Added, LadderRows, ladder_rows


def print_ladders(ladders: Sequence[Ladder], console: Console) -> None:
    """Print a table per ladder; readable from 100 columns on."""
    for ladder in ladder_rows(ladders):
        console.print(_table(ladder), highlight=False)
    if ladders:
        print_note(
            "What each level adds to the one above it, paired within blocks, with its interval. In %: as a share of "
            "the first level's value in the same block, so that the machine's speed cancels. Within noise: the "
            "placebo's own difference may be as large.",
            console,
        )


def _table(ladder: LadderRows) -> Table:
    table = Table(title=escape(ladder.title), title_justify="left", padding=(0, 1), box=None)
    table.add_column(f"beginning with {escape(ladder.foot)}")
    for measure in ladder.measures:
        table.add_column(escape(measure), justify="right")
    for level, cells in ladder.rows:
        table.add_row(escape(level), *_cells(cells))
    table.add_section()
    table.add_row("together", *_cells(ladder.total))
    return table


def _cells(cells: Sequence[Added]) -> list[str]:
    return [f"{cell.shown.text}\n{cell.finding.word}" for cell in cells]
