"""What the terminal's wider tables have in common."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

# Longer names are folded.
LONGEST_NAME = 24
# The longest word of a finding is never cut.
FINDING_WIDTH = len("inconclusive")


def by_level(title: str, levels: Iterable[str]) -> Table:
    """Begin a table of a row for each of `levels`, with as little between its columns as can be read."""
    table = Table(
        title=escape(title), title_justify="left", padding=(0, 1), pad_edge=False, collapse_padding=True, box=None
    )
    longest = max(map(len, levels), default=0)
    table.add_column("level", overflow="fold", no_wrap=longest <= LONGEST_NAME)
    return table


def print_note(text: str, console: Console) -> None:
    """Print below a table what to know of it."""
    console.print(text, style="dim", highlight=False)
