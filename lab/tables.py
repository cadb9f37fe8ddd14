"""What the terminal's wider tables have in common."""

from rich.markup import escape
from rich.table import Table


def by_level(title: str) -> Table:
    """Begin a table of a row per level, with as little between its columns as can be read."""
    table = Table(
        title=escape(title), title_justify="left", padding=(0, 1), pad_edge=False, collapse_padding=True, box=None
    )
    table.add_column("level", overflow="fold")
    return table
