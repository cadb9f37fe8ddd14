"""The report's part on faults says what was lost to them, and what sidecars saved of it."""

import io
from collections.abc import Mapping, Sequence

import numpy as np
from rich.console import Console

from lab.analysis.analyse import CONFIDENCE
from lab.record.summary import Estimate, Headline, LevelSummary, Summary, TrialSummary
from lab.report.figures.over_time import Served
from lab.report.figures.over_time import outages as draw
from lab.report.numbers import DASH, MINUS
from lab.report.palette import level_colours
from lab.report.resilience import outages
from lab.report.tables import NOTHING
from lab.report.terminal import print_tables

KILLED = {"kind": "killed", "target": "s2", "start_s": [8, 10], "length_s": 5}


def level(sidecar: str, faults: Sequence[Mapping[str, object]] = (KILLED,)) -> LevelSummary:
    return LevelSummary(settings={"sidecar": sidecar, "faults": list(faults)}, trials=2, rejected=0)


def trial(name: str, block: int, lost: float, recovered: float) -> TrialSummary:
    values = {"requests_lost": lost, "recovered_fraction": recovered}
    return TrialSummary(trial=f"{block}-{name}", level=name, block=block, valid=True, reasons=(), values=values)


def lost(name: str, mean: float, reach: float) -> Estimate:
    ends = {"mean_low": mean - reach, "mean_high": mean + reach}
    return Estimate(metric="requests_lost", level=name, baseline="quiet", mean=mean, n=2, **ends)


LEVELS = {
    "quiet": level("none", ()),
    "placebo": level("none", ()),
    "none": level("none"),
    "retries": level("retries"),
}
SUMMARY = Summary(
    experiment="test", title="Test", baseline="quiet", placebo="placebo", compared_with=("quiet",),
    headline=Headline(primary="latency_mean_ms", what="latency"), confidence=CONFIDENCE,
    equivalence_margin=0.05, metrics={}, adjustments={}, levels=LEVELS,
    estimates=(lost("none", 505, 12.5), lost("retries", 8, 2.5)),
    trials=(
        trial("none", 0, 500, 1), trial("none", 1, 510, 0), trial("retries", 0, 7, 1), trial("retries", 1, 9, 1),
    ),
)  # fmt: skip


def test_levels_with_faults_have_a_row_and_those_with_sidecars_are_held_against_the_ones_without() -> None:
    found = outages(SUMMARY)
    assert found is not None
    none, retries = found.rows
    assert [cell.text for cell in none[:4]] == ["none", "s2 killed for 5.0 s", "2", "505 (492 to 518)"]
    assert none[4] == NOTHING
    assert retries[4].value == f"{MINUS}497"
    assert [row[6].value for row in (none, retries)] == ["1 of 2", "2 of 2"]


def test_a_run_without_faults_has_no_such_part() -> None:
    assert outages(SUMMARY.model_copy(update={"levels": {"quiet": level("none", ())}})) is None


def test_the_terminal_shows_it_in_a_hundred_columns() -> None:
    found, out = outages(SUMMARY), io.StringIO()
    assert found is not None
    print_tables([found], Console(file=out, width=100))
    rows = [line.split() for line in out.getvalue().splitlines()]
    assert ["none", "505", "(492", "to", "518)", DASH, DASH, "1", "of", "2", DASH] in rows
    assert max(map(len, out.getvalue().splitlines())) <= 100


def test_the_figure_adds_up_the_steps_that_all_faults_have_and_leaves_gaps_without_requests() -> None:
    early = Served(np.array([-0.5, 0.0, 0.5]), np.array([10.0, 10, 0]), np.array([10.0, 0, 0]), 5.0)
    late = Served(np.array([0.0, 0.5, 1.0]), np.array([10.0, 0, 10]), np.array([5.0, 0, 10]), 5.0)
    colours = level_colours(["quiet", "placebo", "none"], "quiet", "placebo")
    drawn = str(draw({"none": [early, late]}, colours, "Half of it."))
    assert "seconds since the fault began" in drawn
    assert ">none<" in drawn
    assert "nan" not in drawn.lower().replace("tenant", "")
