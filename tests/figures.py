"""The figures of documents' tables, by the comment above each: `<!-- cells: folder measure number | ... -->`.

A column after the first for each: a kept result's folder below docs/results, one of its measures, and one of the
numbers that `lab table <folder> --metric <measure>` prints. The first column names the level.
"""

import re
from functools import cache
from pathlib import Path

from lab.record.summary import read_summary
from lab.report.terminal.metric import half_width, mean_text
from lab.report.view import metric_rows

CELLS = re.compile(r"<!-- cells: (.*?) -->\n((?:\|.*\n)+)")

_read = cache(read_summary)


def cell(folder: Path, level: str, metric: str, number: str) -> str:
    """Return what the command prints of a level; `number`: `mean`, `difference`, `ratio` or `half_width`."""
    summary = _read(folder / "summary.json")
    (row,) = [row for row in metric_rows(summary, metric).rows if row.level == level]
    shown = {
        "mean": mean_text(summary, metric, level),
        "difference": row.difference.text,
        "ratio": row.ratio.text,
        "half_width": half_width(summary, metric, level),
    }
    return shown[number]
