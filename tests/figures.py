"""The figures of documents' tables, by the comment above each: `<!-- cells: folder measure number | ... -->`.

A column after the first for each: a kept result's folder below docs/results, one of its measures, and one of the
numbers that `lab table <folder> --metric <measure>` prints. Or `published`: the column's figures are those of a table
in docs/reference/sources.md. The first column names the level.
"""

import re
from functools import cache
from pathlib import Path

from lab.record.summary import read_summary
from lab.report.tables import Table, metric_table
from tests.repository import ROOT

PUBLISHED = "published"
CELLS = re.compile(r"<!-- cells: (.*?) -->\n((?:\|.*\n)+)")


def cell(folder: Path, level: str, metric: str, number: str) -> str:
    """Return what the command prints of a level; `number`: `mean`, `difference`, `ratio` or `half_width`."""
    table = _table(folder, metric)
    (row,) = [row for row in table.rows if row[0].value == level]
    titles = {"mean": "Mean", "difference": "Difference", "ratio": "Ratio"}
    places = [
        place
        for place, column in enumerate(table.columns)
        if (column.narrow == "±" if number == "half_width" else column.title == titles[number])
    ]
    return row[places[0]].text


@cache
def published() -> frozenset[str]:
    """Return the figures in the tables of the sources."""
    rows = re.findall(r"^\|(.*)\|$", (ROOT / "docs" / "reference" / "sources.md").read_text(), re.MULTILINE)
    return frozenset(text.strip() for row in rows for text in row.split("|"))


@cache
def _table(folder: Path, metric: str) -> Table:
    return metric_table(read_summary(folder / "summary.json"), metric)
