"""The report of loads of traces: what is drawn over time, and what the first error is said to follow."""

from typing import Any

import numpy as np
import pytest

from lab.analysis.claims.records import Beside, Verdicts
from lab.record import LevelSummary, Summary, TrialSummary
from lab.record.summary import Headline
from lab.report.build import Report, sections
from lab.report.compared import Compared
from lab.report.courses import Course, course
from lab.report.drawings import Drawings
from lab.report.figures.over_time import Line
from lab.report.first_error import CANDIDATES, first_error_table
from lab.report.loads import loads
from lab.report.numbers import TIMES
from lab.report.palette import level_colours
from lab.report.source import Observed, Source
from lab.report.view import page
from tests.unit import test_report_page as usual
from tests.unit.test_traces import IDS, row, trial

EDGES_S = np.linspace(0, 20, 11)
NOTHING = np.empty(0)


def test_each_trace_is_in_the_step_in_which_it_happened() -> None:
    rows = [row(IDS[0], "success", 1, 100, 500), row(IDS[0], "success", 1.5, 300, 3_000), row(IDS[1], "send error", 5)]
    found = course(trial([*rows, row(IDS[2], "receive timeout", 6, 2, None)]), EDGES_S)
    assert found is not None
    assert found.time_s.tolist() == [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]
    assert found.per_s["sent"].tolist() == [1, 0, 0.5, 0.5, 0, 0, 0, 0, 0, 0]
    assert found.per_s["returned"].tolist()[:3] == [0.5, 0, 0.5]
    assert found.per_s["refused"].tolist()[:3] == [0, 0, 0.5]
    assert found.per_s["not returned"].sum() == 0.5
    assert found.delays_ms["returned, p99"][0] == pytest.approx(3_000)
    assert found.delays_ms["accepted, p95"][0] == pytest.approx(300)
    assert np.isnan(found.delays_ms["returned, p50"][1:]).all()
    assert found.workers.tolist() == pytest.approx(5 * found.time_s)


def observed(level: str, **per_s: float) -> Observed:
    time_s = np.arange(1.0, 20, 2)
    flat = {name: np.full(10, per_s.get(name, 0.0)) for name in ("sent", "returned", "refused")}
    delays = dict.fromkeys(("accepted, p95", "returned, p50", "returned, p99"), np.where(time_s > 15, np.nan, 7.0))
    line = Line(time_s, time_s, None, 2.0, 20.0)
    logged = Course(0, time_s, 5 * time_s, {**flat, "not returned": np.zeros(10)}, delays)
    return Observed(level, NOTHING, NOTHING, line, line, {}, (), logged)


def summary(levels: dict[str, dict[str, float]], primary: str = "first_error_traces_per_s", **trials: Any) -> Summary:
    return Summary.model_construct(
        baseline="basic",
        placebo="placebo",
        compared_with=("basic", "placebo"),
        confidence=0.95,
        headline=Headline.model_construct(primary=primary),
        levels={level: LevelSummary(settings={}, trials=1, rejected=0) for level in levels},
        trials=[
            TrialSummary(trial=level, level=level, block=0, valid=True, reasons=[], values=values, **trials)
            for level, values in levels.items()
        ],
    )


def test_lines_and_first_errors_are_drawn_where_there_are_any() -> None:
    of = summary({"basic": {"first_error_at_s": 12.0}, "mutate": {}})
    source = Source(of, {}, [], [observed("basic", sent=9, refused=1), observed("mutate", sent=9)], {}, set(), None)
    (_, workers, _), (_, rates, _), (_, delays, _) = loads(
        source, level_colours(["basic", "mutate"], "basic", "placebo")
    )
    assert ">workers<" in workers
    assert rates.count(">sent<") == 2
    assert rates.count(">rejected<") == 1
    assert rates.count(">first error<") == 1
    assert ">not returned<" not in rates
    assert delays.count(">returned, p99<") == 2


def test_published_numbers_are_lines_of_the_level_that_they_are_about() -> None:
    beside = Beside(
        study="s", metric="traces_returned_per_s", title="t", unit="1/s", level="basic", published=2_200.0,
        mean=1.0, mean_low=None, mean_high=None, n=1,
    )  # fmt: skip
    verdicts = Verdicts(experiment="x", confidence=0.95, sources={}, claims=(), figures=(beside,))
    trials = [observed(level, sent=9) for level in ("basic", "mutate")]
    of = summary({"basic": {}, "mutate": {}})
    colours = level_colours(["basic", "mutate"], "basic", "placebo")
    without = loads(Source(of, {}, [], trials, {}, set(), None), colours)
    lines = loads(Source(of, {}, [], trials, {}, set(), verdicts), colours)
    dashes = "stroke-dasharray"
    assert [
        with_.count(dashes) - no.count(dashes) for (_, with_, _), (_, no, _) in zip(lines, without, strict=True)
    ] == [0, 1, 0]
    assert ["Dash-dotted" in caption for _, _, caption in lines] == [False, True, False]


def test_without_a_log_of_traces_there_is_nothing_to_draw() -> None:
    assert (
        loads(Source(summary({"basic": {}}), {}, [], [], {}, set(), None), level_colours(["basic"], "basic", "")) == []
    )


def reached(rate: float, workers: float, queue: float) -> dict[str, float]:
    return dict(zip(CANDIDATES, (rate, workers, workers + 1, queue), strict=True))


FOLLOWING_RATE = {
    "basic": reached(2_500, 1_000, 900),
    "placebo": reached(2_500, 1_000, 400),
    "long": reached(2_480, 3_000, 0),
    "queue-5000": reached(2_520, 1_500, 4_000),
    "realistic": reached(2_490, 5_000, 80),
}


def test_it_is_said_what_the_first_error_follows() -> None:
    table = first_error_table(summary(FOLLOWING_RATE))
    assert table is not None
    rows = {cells[0].value: [cell.text for cell in cells[1:]] for cells in table.rows}
    assert rows["traces per second"][1].startswith(f"{TIMES}1.01 (")
    # The baseline under both of its names is one level: 600 (geometric), 1 for none, 4,000 and 80.
    assert rows["queue of the exporters"][0] == "118"
    assert table.notes[0].startswith("It follows traces per second (p = 0.")
    assert "4 levels were compared" in table.notes[0]


def test_ramps_without_an_error_say_at_least() -> None:
    table = first_error_table(summary(FOLLOWING_RATE, censored=dict.fromkeys(CANDIDATES, "at least")))
    assert table is not None
    assert [row[1].value.startswith("at least") for row in table.rows] == [True] * 4
    assert table.notes[0].startswith("Inconclusive what it follows.")


def test_only_an_experiment_about_first_errors_has_the_table() -> None:
    assert first_error_table(summary(FOLLOWING_RATE, primary="traces_returned_per_s")) is None
    assert first_error_table(summary({"basic": reached(1, 2, 3)})) is None


def shown(*streams: str, **drawn: Any) -> set[str]:
    """Return the sections of a page without figures, of trials that left streams."""
    left = {name: {"version": 1, "files": {}} for name in streams}
    of = usual.summary(usual.BASELINE, usual.PLACEBO, usual.TRACED)
    words = page(of, usual.MANIFEST, [usual.trial(1, "baseline", streams=left)], Compared())
    return set(sections(Report(words, Drawings(**drawn))))


def test_sections_about_requests_are_only_of_targets_that_have_requests() -> None:
    about_requests = {"latency", "jvm", "bytes", "trace"}
    assert about_requests <= shown("requests", "counters")
    assert about_requests <= shown()
    assert not about_requests & shown("counters", "trace-log")
    assert "latency" in shown("counters", latency="<svg></svg>")
    assert "loads" not in shown("counters")
    assert "loads" in shown("counters", loads=[("Workers", "<svg></svg>", "of each")])
