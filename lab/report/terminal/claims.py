"""The verdicts in the terminal: a row per claim with what was published and what decided it."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.analysis.claims.records import Judged, Verdicts
from lab.report.claims import FigureCell, FigureTable, claims
from lab.report.numbers import percent
from lab.report.terminal.tables import print_note
from lab.report.wording import headline

COLOURS = {"holds here": "green", "does not hold here": "yellow", "inconclusive": "dim", "not tested here": "dim"}


def print_claims(verdicts: Verdicts, console: Console) -> None:
    """Print every claim with its verdict and numbers; readable from 100 columns on."""
    if verdicts.claims:
        console.print(_verdicts(verdicts), highlight=False)
    for figures in claims(verdicts).figures:
        console.print(_figures(figures), highlight=False)
    print_note(
        f"( ) are {percent(verdicts.confidence)} intervals. A claim holds if every comparison does. A comparison "
        "fails if its interval, corrected for the claim's number of comparisons, excludes what was claimed.",
        console,
    )


def _verdicts(verdicts: Verdicts) -> Table:
    table = Table(title="Published claims", title_justify="left", padding=(0, 1), box=None)
    table.add_column("claim", no_wrap=True)
    table.add_column("published", ratio=5)
    table.add_column("verdict", no_wrap=True)
    table.add_column("here", ratio=6)
    for judged in verdicts.claims:
        colour = COLOURS[judged.verdict]
        table.add_row(judged.id, _published(judged), f"[{colour}]{judged.verdict}[/]", escape(headline(judged)))
    return table


def _figures(figures: FigureTable) -> Table:
    """Show published numbers and this run's. With several metrics there is no room for intervals."""
    title = f"Published, and here: {'; '.join(figures.metrics)}"
    table = Table(title=escape(title), title_justify="left", padding=(0, 1), box=None)
    table.add_column("level")
    for number in range(len(figures.metrics)):
        table.add_column("published" if number == 0 else "publ.", justify="right")
        table.add_column("here", justify="right")
    for level, cells in figures.rows:
        shown = [text for cell in cells for text in (cell.published, _here(cell, alone=len(cells) == 1))]
        table.add_row(*map(escape, (level, *shown)))
    return table


def _here(cell: FigureCell, *, alone: bool) -> str:
    return f"{cell.here} ({cell.interval})" if alone and cell.interval else cell.here


def _published(judged: Judged) -> str:
    numbers = f"\n[dim]{escape(judged.published)}[/]" if judged.published else ""
    return escape(judged.says) + numbers
