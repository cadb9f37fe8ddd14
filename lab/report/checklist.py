"""The tables of `lab check`: what was required of a run, and effects of when its systems had their turns."""

from collections.abc import Sequence

from lab.analysis import checklist
from lab.analysis.effects import Effect
from lab.report.numbers import within
from lab.report.tables import Cell, Column, Finding, Table

TONES = {"PASS": "better", "FAIL": "worse"}
NOTES = (
    "( ) are 95 % intervals. contains: the interval contains the number. within: the complete interval lies there. "
    "If only the estimate does, the row is inconclusive, and fails.",
)
EFFECT_NOTES = (
    "CPU per request of the services, with what is exported until their next slice. ( ) are 95 % intervals over sets.",
)


def checklist_table(title: str, rows: Sequence[checklist.Row]) -> Table:
    """Return the rows of a `lab check`: name, value, bound, PASS or FAIL."""
    columns = (
        Column("Required", "words", firm=True),
        Column("Value", "words"),
        Column("Bound", "words"),
        Column("Verdict", "words"),
    )
    cells = [
        (
            Cell(row.name),
            Cell(row.value),
            Cell(row.bound),
            Cell(finding=Finding(row.verdict, "", TONES[row.verdict])),
        )
        for row in rows
    ]
    return Table(title, columns, cells, NOTES)


def effects_table(title: str, effects: Sequence[Effect]) -> Table:
    """Return effects: which slices, compared with which, and the ratio."""
    columns = (Column("Slices", "words", firm=True), Column("Compared with", "words"), Column("Ratio", "interval"))

    def show(value: float) -> str:
        return f"{value:.3f}"

    cells = [(Cell(one.what), Cell(one.to), Cell(show(one.ratio.mean), within(one.ratio, show))) for one in effects]
    return Table(title, columns, cells, EFFECT_NOTES)
