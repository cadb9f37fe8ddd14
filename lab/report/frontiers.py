"""Frontiers: which levels buy their success rate at the least cost."""

from collections.abc import Sequence

from lab.records import Estimate, Summary
from lab.report import findings
from lab.report.figures.frontier import Panel, Point
from lab.report.numbers import divided, scale_for
from lab.stats.intervals import Interval
from lab.views import Frontier

ERRORS = "error_fraction"
COSTS = ("cpu_per_request_proxied_ms", "latency_p99_ms")
PERCENT = 100.0


def frontier_panels(summary: Summary, view: Frontier) -> list[Panel]:
    """Return a panel for each cost that two levels of the view have."""
    panels = []
    for metric in COSTS:
        points = _points(summary, view, metric)
        if len(points) > 1:
            scale = scale_for(summary.metrics[metric].unit, [point.cost.mean for point in points])
            shown = [Point(point.level, point.success, divided(point.cost, scale.factor)) for point in points]
            panels.append(Panel(f"{summary.metrics[metric].title} ({scale.unit})", shown, undominated(points)))
    return panels


def _points(summary: Summary, view: Frontier, metric: str) -> list[Point]:
    found = []
    for level in view.levels:
        errors = findings.estimate_of(summary, ERRORS, level)
        cost = findings.estimate_of(summary, metric, level)
        if errors is not None and cost is not None:
            found.append(Point(level, _success(errors), Interval(cost.mean, cost.mean_low, cost.mean_high)))
    return found


def _success(errors: Estimate) -> Interval:
    """Return the success rate in percent; an interval's lower end is that of the most errors."""
    low, high = (
        None if end is None else min(PERCENT, max(0.0, PERCENT * (1 - end)))
        for end in (errors.mean_high, errors.mean_low)
    )
    return Interval(PERCENT * (1 - errors.mean), low, high)


def undominated(points: Sequence[Point]) -> list[str]:
    """Name the levels that no other beats: none succeeds as often at less cost, by the estimates alone."""
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
