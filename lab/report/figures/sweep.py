"""One setting over its values: a panel per metric, a line through the estimates in the band of their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Literal

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from lab.analysis.stats.intervals import Interval
from lab.report import svg
from lab.report.numbers import ends, number
from lab.report.palette import BAND, Colour
from lab.report.svg import Margins, draw, quiet, ratio_axis

COLUMNS = 3
PANEL_IN = 1.55
MARGINS = Margins(left=0.55, right=0.1, across=0.65, down=0.6)
MOST_TICKS = 8
SMALLEST_FRACTION = 1024


@dataclass(frozen=True)
class Point:
    """An estimate at a value of the setting."""

    value: float
    estimate: Interval


@dataclass(frozen=True)
class Panel:
    """A metric: ratios to the baseline on the noise floor, or (`ratios` false) means in their own unit."""

    title: str
    ratios: bool
    noise_floor: float | None
    points: Sequence[Point]


def sweep(
    name: str,
    title: str,
    axis: str,
    scale: Literal["linear", "log2", "log10"],
    panels: Sequence[Panel],
    colour: Colour,
    description: str,
) -> Markup:
    """Draw the panels, all over the same axis."""
    columns = min(COLUMNS, len(panels))
    rows = ceil(len(panels) / columns)

    def fill(figure: Figure) -> None:
        grid = [axes for row in svg.panels(figure, rows, columns, MARGINS) for axes in row]
        for axes in grid[len(panels) :]:
            axes.remove()
        for axes, panel in zip(grid, panels, strict=False):
            _panel(axes, panel, colour)
            _value_axis(axes, scale, [point.value for point in panel.points])
        for axes in grid[max(0, len(panels) - columns) : len(panels)]:
            axes.set_xlabel(axis)

    return draw(name, title, description, rows * PANEL_IN + (rows - 1) * MARGINS.down + MARGINS.high, fill)


def _panel(axes: Axes, panel: Panel, colour: Colour) -> None:
    points = sorted(panel.points, key=lambda point: point.value)
    values = [point.value for point in points]
    lows, highs = zip(*(ends(point.estimate) for point in points), strict=True)
    if panel.ratios:
        ratio_axis(axes, [*lows, *highs])
        if panel.noise_floor is not None:
            axes.axhspan(1 - panel.noise_floor, 1 + panel.noise_floor, color=BAND.light, linewidth=0, zorder=0.5)
    else:
        axes.set_ylim(0, 1.1 * max(highs) or 1)
        axes.yaxis.set_major_locator(MaxNLocator(5))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axes.fill_between(values, lows, highs, color=colour.light, alpha=0.22, linewidth=0)
    middles = [point.estimate.mean for point in points]
    axes.plot(values, middles, "o-", color=colour.light, linewidth=1.8, markersize=4)
    axes.set_title(panel.title)
    quiet(axes, "y")


def _value_axis(axes: Axes, scale: Literal["linear", "log2", "log10"], values: Sequence[float]) -> None:
    if scale == "linear":
        axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS))
        return
    axes.set_xscale("log", base=2 if scale == "log2" else 10)
    axes.xaxis.set_major_locator(FixedLocator(sorted(values)[:: ceil(len(values) / MOST_TICKS)]))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: setting(value)))


def setting(value: float) -> str:
    """Write a setting's value as people do: 512, and 1/32 rather than 0.03125."""
    part = Fraction(value).limit_denominator(SMALLEST_FRACTION)
    if value < 1 and part.numerator == 1 and abs(float(part) - value) < 1e-6 * value:
        return f"1/{part.denominator}"
    return f"{value:g}" if value >= 0.001 else number(value)
