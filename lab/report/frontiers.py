"""Frontiers: which levels reach their success rate at the lowest cost."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

from lab.analysis.stats.intervals import Interval
from lab.analysis.stats.proportions import Pooled
from lab.record import Summary
from lab.report import findings
from lab.report.failed import failed
from lab.report.figures.frontier import Panel, Point
from lab.report.numbers import divided, fixed, number, scale_for, within
from lab.report.tables import LEVEL, Cell, Column, Table, named
from lab.spec import Frontier

TAIL = "latency_p99_ms"
PERCENT = 100.0


def frontier_panels(summary: Summary, view: Frontier) -> list[Panel]:
    """Return a panel for each cost that two levels of the view have."""
    panels = []
    pooled = failed(summary)
    # A share of requests is no cost, also where it answers the question.
    names = (summary.headline.primary, *summary.headline.main)
    costs = [name for name in names if name in summary.metrics and not summary.metrics[name].share_of]
    for metric in dict.fromkeys((*costs[:1], TAIL)):
        points = _points(summary, pooled, view, metric)
        if len(points) > 1:
            scale = scale_for(summary.metrics[metric].unit, [point.cost.mean for point in points])
            shown = [Point(point.level, point.success, divided(point.cost, scale.factor)) for point in points]
            panels.append(Panel(f"{summary.metrics[metric].title} ({scale.unit})", shown, undominated(points)))
    return panels


def _points(summary: Summary, pooled: Mapping[str, Pooled], view: Frontier, metric: str) -> list[Point]:
    found = []
    for level in view.levels:
        cost = findings.estimate_of(summary, metric, level)
        if level in pooled and cost is not None:
            success = _success(pooled[level], summary.confidence)
            found.append(Point(level, success, Interval(cost.mean, cost.mean_low, cost.mean_high)))
    return found


def _success(found: Pooled, confidence: float) -> Interval:
    """Return the success rate in percent, of all requests together; its lower end is that of the most errors."""
    errors = found.interval(confidence)
    return Interval(*(PERCENT * (1 - share) for share in (found.count.rate, errors.high, errors.low)))


def undominated(points: Sequence[Point]) -> list[str]:
    """Name the levels for which no other succeeds as often at a lower cost, by the estimates alone."""
    return [
        point.level
        for point in points
        if not any(
            other.success.mean >= point.success.mean
            and other.cost.mean <= point.cost.mean
            and (other.success.mean, other.cost.mean) != (point.success.mean, point.cost.mean)
            for other in points
        )
    ]


def frontier_table(summary: Summary, view: Frontier) -> Table:
    """Show each level's success rate and costs; no row where there is nothing to compare."""
    panels = frontier_panels(summary, view)
    points = {point.level: point.success for panel in panels for point in panel.points}
    costs = [{point.level: _cost(panel, point) for point in panel.points} for panel in panels]
    return Table(
        view.title,
        [LEVEL, Column("success, %", "interval"), *(Column(panel.title, "interval") for panel in panels)],
        [
            # 99.97 % must not look like 100 %.
            [
                named(level),
                _shown(success, partial(fixed, decimals=2)),
                *(cost.get(level, Cell()) for cost in costs),
            ]
            for level, success in points.items()
        ],
        [
            "Success: share of requests in %. *: no other level succeeds as often at a lower cost, by the estimates "
            "alone; intervals may overlap."
        ],
    )


def _cost(panel: Panel, point: Point) -> Cell:
    shown = _shown(point.cost, number)
    return replace(shown, value=f"{'* ' if point.level in panel.front else ''}{shown.value}")


def _shown(estimate: Interval, show: Callable[[float], str]) -> Cell:
    return Cell(show(estimate.mean), within(estimate, show))
