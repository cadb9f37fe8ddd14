"""Cost against success: which levels no other beats, and how the figure says it."""

import io

import pytest
from rich.console import Console

from lab.analysis.stats.intervals import Interval
from lab.analysis.stats.proportions import Count, clopper_pearson
from lab.analysis.views import Point, undominated
from lab.record.summary import Estimate, Headline, MetricSummary, Summary, TrialSummary
from lab.report.compared import frontier_panels, frontier_table
from lab.report.drawings import frontier
from lab.report.palette import level_colours
from lab.report.terminal import print_tables
from lab.spec.views import Frontier

VIEW = Frontier(kind="frontier", title="One in five calls fails", levels=["none", "retries", "all"])
REQUESTS = 1000
ROWS = {"none": (0.488, 1.0, 25.0), "retries": (0.01, 1.9, 120.0), "all": (0.3, 2.4, 60.0)}


def summary(levels: dict[str, tuple[float, float, float]]) -> Summary:
    names = {"cpu_per_request_proxied_ms": "ms", "latency_p99_ms": "ms"}
    return Summary.model_construct(
        baseline="none",
        placebo="placebo",
        headline=Headline(primary="cpu_per_request_proxied_ms", what="CPU"),
        confidence=0.95,
        metrics={name: MetricSummary(title=name, unit=unit, better="lower") for name, unit in names.items()},
        levels=dict.fromkeys(levels),
        estimates=[
            Estimate(
                metric=metric,
                level=level,
                baseline="none",
                mean=value,
                mean_low=0.9 * value,
                mean_high=1.1 * value,
                n=5,
            )
            for level, (_, *values) in levels.items()
            for metric, value in zip(names, values, strict=True)
        ],
        trials=[
            TrialSummary(
                trial=f"{block}-{level}",
                level=level,
                block=block,
                valid=True,
                reasons=(),
                values={"requests": REQUESTS, "requests_failed": errors * REQUESTS},
            )
            for level, (errors, *_) in levels.items()
            for block in (0, 1)
        ],
    )


def test_a_level_is_beaten_where_another_succeeds_as_often_at_less_cost() -> None:
    def point(level: str, success: float, cost: float) -> Point:
        return Point(level, Interval(success), Interval(cost))

    points = [point("none", 51, 1.0), point("retries", 99, 1.9), point("all", 70, 2.4), point("twin", 99, 1.9)]
    assert undominated(points) == ["none", "retries", "twin"]


def test_success_is_what_did_not_fail_and_its_interval_is_turned_over() -> None:
    cpu, latency = frontier_panels(summary(ROWS), VIEW)
    success = cpu.points[0].success
    failed = clopper_pearson(Count(976, 2 * REQUESTS), 0.95)
    assert success.mean == pytest.approx(51.2)
    assert (success.low, success.high) == pytest.approx((100 - 100 * failed.high, 100 - 100 * failed.low))
    assert cpu.front == ["none", "retries"]
    assert latency.front == ["none", "retries", "all"]


def test_the_figure_says_each_point() -> None:
    run = summary(ROWS)
    drawn = frontier(run, VIEW, level_colours(list(ROWS), "none", "placebo"), 1).figure
    assert drawn is not None
    assert "retries 1.90 at 99.0 %" in drawn
    assert "requests that succeeded" in drawn


def test_one_level_is_no_frontier() -> None:
    run = summary({"none": ROWS["none"]})
    assert frontier(run, VIEW, level_colours(["none"], "none", "placebo"), 1).figure is None


def test_the_terminal_marks_what_no_other_level_beats() -> None:
    out = io.StringIO()
    print_tables([frontier_table(summary(ROWS), VIEW)], Console(file=out, width=100))
    rows = {line.split()[0]: line for line in out.getvalue().splitlines() if line.strip()}
    assert "51.20 (48.98 to 53.41)" in rows["none"]
    assert [rows[level].count("*") for level in ROWS] == [2, 2, 1]
