"""Crossed factors in the terminal: what a level of the one costs at each level of the other."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.record import Summary
from lab.report.crossings import Crossing
from lab.report.terminal.tables import FINDING_WIDTH, print_note
from lab.report.view_rows import CrossingRows, crossing_rows


def print_crossings(summary: Summary, crossings: Sequence[Crossing], console: Console) -> None:
    """Print a table per pair of factors that was measured; readable from 100 columns on."""
    tables = [crossing for crossing in crossing_rows(summary, crossings) if crossing.rows]
    for crossing in tables:
        console.print(_table(crossing), highlight=False)
    if tables:
        print_note(
            "Last ratio: how many times larger the cost is than at the other factor's first level, paired within "
            "blocks. 1: the factors' costs multiply, and neither changes the other.",
            console,
        )


def _table(crossing: CrossingRows) -> Table:
    first, second = crossing.factors
    reference, at = map(escape, crossing.references)
    title = f"{crossing.title}{f', at {crossing.held}' if crossing.held else ''}"
    table = Table(
        title=escape(title), title_justify="left", padding=(0, 1), pad_edge=False, collapse_padding=True, box=None
    )
    table.add_column("measure")
    table.add_column(escape(first), overflow="fold")
    table.add_column(f"at ({escape(second)})", overflow="fold")
    table.add_column(f"to {reference}", justify="right", no_wrap=True)
    table.add_column(f"than at {at}", justify="right", no_wrap=True)
    table.add_column("finding", min_width=FINDING_WIDTH)
    for number, row in enumerate(crossing.rows):
        repeated = number > 0 and crossing.rows[number - 1].metric == row.metric
        found = row.finding.word if row.finding else ""
        more = row.more.text if row.finding else ""
        measure = "" if repeated else escape(row.metric)
        table.add_row(measure, escape(row.level), escape(row.at), row.cost.text, more, found)
    return table
