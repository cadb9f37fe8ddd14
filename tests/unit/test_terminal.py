"""What the terminal shows of a run whose experiment has a ladder."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from lab.analysis.stats.intervals import Interval
from lab.analysis.views import Climb, Ladder, Measure, Step
from lab.record import read_summary
from lab.report.compared import ladder_tables
from lab.report.numbers import MINUS
from lab.report.tables import main_table
from lab.report.terminal import print_tables
from tests.labs import ROOT

KEPT = sorted(path.parent for path in (ROOT / "docs" / "results").glob("*/summary.json.xz"))


def test_a_ladder_is_a_table_of_what_each_level_adds() -> None:
    sure = Step("by-hand", Interval(8.0, 6.0, 10.0), "higher", False, 5)
    noise = Step("exported", Interval(0.5, -1.0, 2.0), "higher", True, 5)
    climb = Climb(
        Measure("CPU per request, services", "ms", ("cpu_per_request_services_ms",)),
        60.0,
        [sure, noise],
        Step("exported", Interval(8.5, 6.5, 10.5), "higher", False, 5),
    )
    out = io.StringIO()
    print_tables(ladder_tables([Ladder("By hand", "baseline", [climb])]), Console(file=out, width=100))
    rows = [line.split() for line in out.getvalue().splitlines()]
    for first, second in (
        (["by-hand", "+8.00", "(6.00", "to", "10.00)"], ["higher"]),
        (["exported", "+0.50", f"({MINUS}1.00", "to", "2.00)"], ["higher,", "within", "noise"]),
        (["together", "+8.50", "(6.50", "to", "10.50)"], ["higher"]),
    ):
        assert rows[rows.index(first) + 1] == second


def test_a_run_without_a_ladder_prints_nothing_of_one() -> None:
    out = io.StringIO()
    print_tables(ladder_tables([]), Console(file=out, width=100))
    assert out.getvalue() == ""


@pytest.mark.parametrize("folder", KEPT, ids=lambda folder: folder.name)
def test_every_number_of_a_headline_fits_into_100_columns(folder: Path) -> None:
    table, out = main_table(read_summary(folder / "summary.json")), io.StringIO()
    print_tables([table], Console(file=out, width=100))
    shown = set(out.getvalue().split())
    numbers = {word for row in [*table.rows, table.last] for cell in row[1:] for word in cell.text.split()}
    assert numbers <= shown
