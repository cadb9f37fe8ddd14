"""Frontiers in the terminal: each level's success rate and cost, and which levels no other beats."""

from collections.abc import Callable, Mapping, Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from lab.analysis.stats.intervals import Interval
from lab.record import Summary
from lab.report.cells import Shown
from lab.report.figures.frontier import Panel
from lab.report.frontiers import frontier_panels
from lab.report.numbers import fixed, number, within
from lab.report.terminal.tables import by_level, print_note
from lab.spec import Frontier


def print_frontiers(summary: Summary, views: Sequence[Frontier], console: Console) -> None:
    """Print a table per frontier that has something to show; readable from 100 columns on."""
    drawn = {view.title: panels for view in views if (panels := frontier_panels(summary, view))}
    for title, panels in drawn.items():
        console.print(_table(title, panels), highlight=False)
    if drawn:
        print_note(
            "Success: share of requests in %. *: no other level succeeds as often at a lower cost, by the estimates "
            "alone; intervals may overlap.",
            console,
        )


def _table(title: str, panels: Sequence[Panel]) -> Table:
    table = by_level(title, [point.level for panel in panels for point in panel.points])
    table.add_column("success, %", justify="right")
    for panel in panels:
        table.add_column(escape(panel.title), justify="right")
    costs = [_costs(panel) for panel in panels]
    for level, success in {point.level: point.success for panel in panels for point in panel.points}.items():
        table.add_row(escape(level), _shown(success, _exact), *(cost.get(level, "") for cost in costs))
    return table


def _costs(panel: Panel) -> Mapping[str, str]:
    stars = {point.level: " *" if point.level in panel.front else "  " for point in panel.points}
    return {point.level: _shown(point.cost, number) + stars[point.level] for point in panel.points}


def _exact(percent: float) -> str:
    """Format with two decimals: 99.97 % must not look like 100 %."""
    return fixed(percent, 2)


def _shown(estimate: Interval, show: Callable[[float], str]) -> str:
    return Shown(show(estimate.mean), within(estimate, show)).text
