"""Errors and sidecars in the terminal: what failed at each level and why, and what sidecars add."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.report.resilience import Resilience
from lab.report.terminal.tables import by_level, print_note

# Of what sidecars add, the columns that the terminal has room for.
ADDED = {0: "CPU, µs per request", 2: "p50, ms", 3: "p99, ms"}


def print_resilience(found: Resilience, console: Console) -> None:
    """Print both tables and what the counters show about failures; readable from 100 columns on."""
    console.print(_errors(found), highlight=False)
    print_note(
        f"{found.confidence} intervals, all valid trials of a level together; drawn: the share expected from "
        "the drawn errors alone. Attempts and rejected retries: of all sidecars, per request.",
        console,
    )
    if found.covered:
        print_note(
            f"Without patterns, the interval contains the drawn share at {found.covered} levels, and in "
            f"{found.covered_trials} single trials.",
            console,
        )
    for level, sentence in found.origin:
        console.print(f"[bold]{escape(level)}[/]: {escape(sentence)}", highlight=False)
    if found.added:
        console.print(_added(found), highlight=False)
        print_note("Compared with the same level without sidecars, paired within blocks.", console)


def _errors(found: Resilience) -> Table:
    table = by_level("What failed", [row.level for row in found.errors])
    for title in ("failed", "%", "", "drawn %", "covered", "attempts", "rejected"):
        table.add_column(title, justify="right", no_wrap=True)
    for row in found.errors:
        share, interval, drawn = (text.replace(" %", "") for text in (row.share, f"({row.interval})", row.expected))
        table.add_row(escape(row.level), row.failed, share, interval, drawn, row.covered, row.attempts, row.rejected)
    return table


def _added(found: Resilience) -> Table:
    table = by_level("What sidecars add", [row.level for row in found.added])
    table.add_column("blocks", justify="right")
    for title in ADDED.values():
        table.add_column(title, justify="right")
    for row in found.added:
        table.add_row(escape(row.level), row.n, *(row.added[number].text for number in ADDED))
    return table
