"""Errors and sidecars in the terminal: what failed at each level, where that came from, and what sidecars add."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.report.resilience import Resilience
from lab.report.terminal.tables import by_level, print_note

# Of what sidecars add, the columns that the terminal has room for.
ADDED = {0: "CPU, µs per request", 2: "p50, ms", 3: "p99, ms"}


def print_resilience(found: Resilience, console: Console) -> None:
    """Print both tables and the counters' word on what failed; readable from 100 columns on."""
    console.print(_errors(found), highlight=False)
    print_note(
        f"{found.confidence} intervals, all valid trials of a level together; drawn: what the drawn errors alone would "
        "fail. Attempts and refused retries: of all sidecars, for each request.",
        console,
    )
    if found.covered:
        print_note(
            f"Without patterns, the interval covers what was drawn at {found.covered} levels; that of a single trial "
            f"in {found.covered_trials}.",
            console,
        )
    for level, sentence in found.origin:
        console.print(f"[bold]{escape(level)}[/]: {escape(sentence)}", highlight=False)
    if found.added:
        console.print(_added(found), highlight=False)
        print_note("To the same level without them, paired within blocks.", console)


def _errors(found: Resilience) -> Table:
    table = by_level("What failed", [row.level for row in found.errors])
    for title in ("failed", "%", "", "drawn %", "covered", "attempts", "refused"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in found.errors:
        share, interval, drawn = (text.replace(" %", "") for text in (row.share, f"({row.interval})", row.expected))
        table.add_row(escape(row.level), row.failed, share, interval, drawn, row.covered, row.attempts, row.refused)
    return table


def _added(found: Resilience) -> Table:
    table = by_level("What sidecars add", [row.level for row in found.added])
    table.add_column("blocks", justify="right")
    for title in ADDED.values():
        table.add_column(title, justify="right")
    for row in found.added:
        table.add_row(escape(row.level), row.n, *(row.added[number].text for number in ADDED))
    return table
