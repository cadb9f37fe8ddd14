"""Cost against success: a panel per cost, a point per level with both of its intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from lab.analysis.stats.intervals import Interval
from lab.report import svg
from lab.report.figures.labels import LONGEST_LABEL, label_ends
from lab.report.numbers import ends
from lab.report.palette import Colour
from lab.report.svg import Margins, draw, names_in, quiet

PANEL_IN = 3.2


@dataclass(frozen=True)
class Point:
    """A level: its success rate in percent, and its cost."""

    level: str
    success: Interval
    cost: Interval


@dataclass(frozen=True)
class Panel:
    """One cost, and the points that have it; `front` are those that no other beats in both."""

    title: str
    points: Sequence[Point]
    front: Sequence[str]


def frontier(name: str, title: str, panels: Sequence[Panel], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw the panels side by side; better is to the right and below."""
    labels_in = names_in(point.level[:LONGEST_LABEL] for panel in panels for point in panel.points)
    margins = Margins(left=0.6, right=labels_in + 0.3, across=labels_in + 0.9)

    def fill(figure: Figure) -> None:
        for axes, panel in zip(svg.panels(figure, 1, len(panels), margins)[0], panels, strict=True):
            _panel(axes, panel, colours, (margins.wide(len(panels)), PANEL_IN))

    return draw(name, title, description, PANEL_IN + margins.high, fill)


def _panel(axes: Axes, panel: Panel, colours: Mapping[str, Colour], size_in: tuple[float, float]) -> None:
    for point in panel.points:
        (left, right), (low, high) = ends(point.success), ends(point.cost)
        colour, (x, y) = colours[point.level].light, (point.success.mean, point.cost.mean)
        axes.plot([left, right], [y, y], color=colour, linewidth=1.2)
        axes.plot([x, x], [low, high], color=colour, linewidth=1.2)
        hollow = point.level not in panel.front
        axes.plot([x], [y], "o", color=colour, markersize=6, markerfacecolor="none" if hollow else colour)
    axes.set_ylim(0, 1.1 * max(ends(point.cost)[1] for point in panel.points))
    axes.xaxis.set_major_locator(MaxNLocator(6))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g} %"))
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.set_xlabel("requests that succeeded")
    axes.set_title(panel.title)
    quiet(axes, "y")
    # Every label's line begins at its point.
    label_ends(axes, {point.level: (point.success.mean, point.cost.mean) for point in panel.points}, colours, size_in)
