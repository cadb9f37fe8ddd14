"""Lines and points in panels: crossed factors, cost against success, one setting over its values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import chain
from math import ceil
from typing import Literal

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator

from lab.analysis.stats import Interval
from lab.analysis.views import Point
from lab.report import svg
from lab.report.numbers import ends, number, short
from lab.report.palette import BAND, INK, OTHERS, Colour
from lab.report.svg import Margins, draw, names_in, plain_ticks, quiet, ratio_axis

LABEL_IN = 0.165
"""A label's height with the space around it."""
LEADER_IN = 0.25
"""Distance of the labels from the axes."""
LONGEST_LABEL = 20


def label_ends(
    axes: Axes, ends: Mapping[str, tuple[float, float]], colours: Mapping[str, Colour], size_in: tuple[float, float]
) -> None:
    """Name lines to the right of the axes, each joined to where it ends; `size_in` is that of the axes."""
    width_in, height_in = size_in
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    places = spread([y for _, y in ends.values()], (top - bottom) * LABEL_IN / height_in)
    # Across in shares of the axes' width, along in data.
    beside, start = axes.get_yaxis_transform(), 1 + LEADER_IN / width_in
    for (name, (x, y)), label_y in zip(ends.items(), places, strict=True):
        across = [(x - left) / (right - left), start - 0.02 / width_in]
        colour = colours[name].light
        axes.plot(across, [y, label_y], color=colour, linewidth=0.8, transform=beside, clip_on=False)
        axes.text(start, label_y, short(name, LONGEST_LABEL), transform=beside, va="center")


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move positions apart until neighbours are at least `gap` from each other, each as near as it can be.

    Labels that touch become one block, centred on what its members wanted (pool adjacent violators).
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([index])
        while len(blocks) > 1 and _bottom(blocks[-1], wanted, gap) < _bottom(blocks[-2], wanted, gap) + gap * len(
            blocks[-2]
        ):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    placed = [0.0] * len(wanted)
    for block in blocks:
        for step, index in enumerate(block):
            placed[index] = _bottom(block, wanted, gap) + step * gap
    return placed


def _bottom(block: Sequence[int], wanted: Sequence[float], gap: float) -> float:
    return sum(wanted[index] for index in block) / len(block) - gap * (len(block) - 1) / 2


CROSSINGS_IN_A_ROW = 3
CROSSING_IN = 1.8
APART = 0.08
"""How far lines are apart, in places of the axis, so that their intervals do not overlap."""


@dataclass(frozen=True)
class CrossingPanel:
    """A metric: by level of the first factor, the ratio at each of `places`, None where there is none."""

    title: str
    places: Sequence[str]
    lines: Mapping[str, Sequence[Interval | None]]


def crossing(name: str, title: str, axis: str, panels: Sequence[CrossingPanel], description: str) -> Markup:
    """Draw a panel per metric, a few in a row; `axis` names the second factor."""
    names_in = svg.names_in(short(name, LONGEST_LABEL) for panel in panels for name in panel.lines)
    margins = Margins(left=0.55, right=names_in + LEADER_IN, across=names_in + LEADER_IN + 0.55, down=0.78)
    columns = min(len(panels), CROSSINGS_IN_A_ROW)
    rows = ceil(len(panels) / columns)

    def fill(figure: Figure) -> None:
        places = list(chain(*svg.panels(figure, rows, columns, margins)))
        for axes, panel in zip(places, panels, strict=False):
            _crossing_panel(axes, panel, margins.wide(columns))
            axes.set_xlabel(axis)
        for axes in places[len(panels) :]:
            axes.remove()

    return draw(name, title, description, CROSSING_IN * rows + margins.down * (rows - 1) + margins.high, fill)


def _crossing_panel(axes: Axes, panel: CrossingPanel, wide_in: float) -> None:
    ratio_axis(
        axes, [end for line in panel.lines.values() for ratio in line if ratio is not None for end in ends(ratio)]
    )
    line_ends, colours = {}, {}
    for index, (level, ratios) in enumerate(panel.lines.items()):
        colour = OTHERS[index % len(OTHERS)]
        shifted = (index - (len(panel.lines) - 1) / 2) * APART
        found = [(place + shifted, ratio.mean, *ends(ratio)) for place, ratio in enumerate(ratios) if ratio is not None]
        if not found:
            continue
        x, y, low, high = zip(*found, strict=True)
        axes.plot(x, y, "o-", color=colour.light, linewidth=1.6, markersize=4.5, zorder=3)
        axes.vlines(x, low, high, color=colour.light, linewidth=1.6, zorder=2)
        line_ends[level], colours[level] = (x[-1], y[-1]), colour
    axes.set_xlim(-0.3, len(panel.places) - 0.7)
    axes.set_xticks(range(len(panel.places)), [short(place, 16) for place in panel.places])
    axes.tick_params(axis="x", labelcolor=INK.light)
    axes.set_title(panel.title)
    quiet(axes, "y")
    label_ends(axes, line_ends, colours, (wide_in, CROSSING_IN))


FRONTIER_IN = 3.2


@dataclass(frozen=True)
class FrontierPanel:
    """One cost, and the points that have it; `front` are those that no other beats in both."""

    title: str
    points: Sequence[Point]
    front: Sequence[str]


def frontier(
    name: str, title: str, panels: Sequence[FrontierPanel], colours: Mapping[str, Colour], description: str
) -> Markup:
    """Draw the panels side by side; better is to the right and below."""
    labels_in = names_in(point.level[:LONGEST_LABEL] for panel in panels for point in panel.points)
    margins = Margins(left=0.6, right=labels_in + 0.3, across=labels_in + 0.9)

    def fill(figure: Figure) -> None:
        for axes, panel in zip(svg.panels(figure, 1, len(panels), margins)[0], panels, strict=True):
            _frontier_panel(axes, panel, colours, (margins.wide(len(panels)), FRONTIER_IN))

    return draw(name, title, description, FRONTIER_IN + margins.high, fill)


def _frontier_panel(
    axes: Axes, panel: FrontierPanel, colours: Mapping[str, Colour], size_in: tuple[float, float]
) -> None:
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
    plain_ticks(axes.yaxis, 5)
    axes.set_xlabel("requests that succeeded")
    axes.set_title(panel.title)
    quiet(axes, "y")
    # Every label's line begins at its point.
    label_ends(axes, {point.level: (point.success.mean, point.cost.mean) for point in panel.points}, colours, size_in)


COLUMNS = 3
SWEEP_IN = 1.55
MARGINS = Margins(left=0.55, right=0.1, across=0.65, down=0.6)
MOST_TICKS = 8
SMALLEST_FRACTION = 1024


@dataclass(frozen=True)
class SweepPoint:
    """An estimate at a value of the setting."""

    value: float
    estimate: Interval


@dataclass(frozen=True)
class SweepPanel:
    """A metric: ratios to the baseline on the noise floor, or (`ratios` false) means in their own unit."""

    title: str
    ratios: bool
    noise_floor: float | None
    points: Sequence[SweepPoint]


def sweep(
    name: str,
    title: str,
    axis: str,
    scale: Literal["linear", "log2", "log10"],
    panels: Sequence[SweepPanel],
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
            _sweep_panel(axes, panel, colour)
            _value_axis(axes, scale, [point.value for point in panel.points])
        for axes in grid[max(0, len(panels) - columns) : len(panels)]:
            axes.set_xlabel(axis)

    return draw(name, title, description, rows * SWEEP_IN + (rows - 1) * MARGINS.down + MARGINS.high, fill)


def _sweep_panel(axes: Axes, panel: SweepPanel, colour: Colour) -> None:
    points = sorted(panel.points, key=lambda point: point.value)
    values = [point.value for point in points]
    lows, highs = zip(*(ends(point.estimate) for point in points), strict=True)
    if panel.ratios:
        ratio_axis(axes, [*lows, *highs])
        if panel.noise_floor is not None:
            axes.axhspan(1 - panel.noise_floor, 1 + panel.noise_floor, color=BAND.light, linewidth=0, zorder=0.5)
    else:
        axes.set_ylim(0, 1.1 * max(highs) or 1)
        plain_ticks(axes.yaxis, 5)
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
