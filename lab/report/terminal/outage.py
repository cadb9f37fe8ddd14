"""Faults in the terminal: what each level lost, and how soon its requests were served as before."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.report.outages import Outages
from lab.report.terminal.tables import by_level, print_note


def print_outages(found: Outages, console: Console) -> None:
    """Print a row per level that had faults; readable from 100 columns on."""
    console.print(_table(found), highlight=False)
    print_note(
        f"( ) are {found.confidence} intervals. Lost: requests that failed between the fault's start and the recovery, "
        "above the usual share. Others may have waited; slowest: the longest wait. More: than the same level without "
        "sidecars, paired within blocks. Recovered: after how many faults requests were served as before, and how long "
        "after the fault's end.",
        console,
    )


def _table(found: Outages) -> Table:
    table = by_level("What the faults did", [row.level for row in found.rows])
    for title in ("lost", "more", "slowest, s", "recovered", "after, s"):
        table.add_column(title, justify="right")
    for row in found.rows:
        table.add_row(
            escape(row.level), row.lost.text, row.more.text, row.slowest_s.text, row.recovered, row.after_s.text
        )
    return table
