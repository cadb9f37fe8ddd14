"""The verdicts in the terminal: a row per claim, what decided it beside what was published."""

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.claims.records import Judged, Verdicts
from lab.claims.wording import headline
from lab.report.claims import claims
from lab.report.numbers import percent

COLOURS = {"holds here": "green", "does not hold here": "yellow", "cannot tell": "dim", "not tested here": "dim"}


def print_claims(verdicts: Verdicts, console: Console) -> None:
    """Print every claim with its verdict and numbers; readable from 100 columns on."""
    table = Table(title="Published claims", title_justify="left", padding=(0, 1), box=None)
    table.add_column("claim", no_wrap=True)
    table.add_column("published", ratio=5)
    table.add_column("verdict", no_wrap=True)
    table.add_column("here", ratio=6)
    for judged in verdicts.claims:
        colour = COLOURS[judged.verdict]
        table.add_row(judged.id, _published(judged), f"[{colour}]{judged.verdict}[/]", escape(headline(judged)))
    console.print(table, highlight=False)
    if verdicts.figures:
        console.print(_figures(verdicts), highlight=False)
    console.print(
        f"( ) are {percent(verdicts.confidence)} intervals. A claim holds where every comparison does; a comparison "
        "fails where its interval, corrected for the claim's number of comparisons, leaves out what was claimed.",
        style="dim",
        highlight=False,
    )


def _figures(verdicts: Verdicts) -> Table:
    table = Table(title="Published figures", title_justify="left", padding=(0, 1), box=None)
    for heading in ("metric", "level"):
        table.add_column(heading)
    for heading in ("published", "here"):
        table.add_column(heading, justify="right")
    for row in claims(verdicts).figures:
        here = f"{row.here} ({row.interval})" if row.interval else row.here
        table.add_row(*map(escape, (row.metric, row.level, row.published, here)))
    return table


def _published(judged: Judged) -> str:
    numbers = f"\n[dim]{escape(judged.published)}[/]" if judged.published else ""
    return escape(judged.says) + numbers
