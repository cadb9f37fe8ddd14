"""Interval plots: every level's ratio to the baseline, metric by metric, on the placebo's noise floor."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from lab.report.numbers import short, times
from lab.report.palette import BAND, INK, MUTED, Colour
from lab.report.svg import WIDTH_IN, draw, heading, quiet

ROW_IN = 0.23
RATIO_POINTS, FINDING_POINTS = 14, 132
LEFT_IN, RIGHT_IN, TOP_IN, BOTTOM_IN = 2.3, 3.1, 0.35, 0.5
TICKS = (0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.05, 1.1, 1.2, 1.3, 1.5, 1.75, 2, 2.5, 3, 4, 5, 7, 10, 20, 50, 100)


@dataclass(frozen=True)
class Row:
    """A level's ratio to the baseline and its interval, with what is said of it in words."""

    level: str
    ratio: float
    low: float
    high: float
    text: str
    finding: str


@dataclass(frozen=True)
class Group:
    """A metric's rows; the noise floor is a distance from 1, None where there was no placebo to show it."""

    title: str
    noise_floor: float | None
    rows: Sequence[Row]


def forest(groups: Sequence[Group], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw the groups below each other on one logarithmic axis of ratios."""
    lines = sum(len(group.rows) + 1.35 for group in groups)
    height = lines * ROW_IN + TOP_IN + BOTTOM_IN

    def fill(figure: Figure) -> None:
        axes = figure.add_axes(
            (
                LEFT_IN / WIDTH_IN,
                BOTTOM_IN / height,
                1 - (LEFT_IN + RIGHT_IN) / WIDTH_IN,
                1 - (TOP_IN + BOTTOM_IN) / height,
            )
        )
        _scale(axes, groups, lines)
        y = 0.0
        for group in groups:
            y = _group(axes, group, colours, y)

    return draw("forest", "Ratios to the baseline with their intervals", description, height, fill)


def _scale(axes: Axes, groups: Sequence[Group], lines: float) -> None:
    edges = [edge for group in groups for row in group.rows for edge in (row.low, row.high)]
    floors = [group.noise_floor for group in groups if group.noise_floor is not None and group.noise_floor < 0.9]
    low = min([0.95, *edges, *(1 - floor for floor in floors)]) / 1.03
    high = max([1.05, *edges, *(1 + floor for floor in floors)]) * 1.03
    axes.set_xscale("log")
    axes.set_xlim(low, high)
    axes.set_ylim(lines, -0.2)
    axes.xaxis.set_major_locator(FixedLocator(_spaced_ticks(low, high)))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(lambda value, _: times(value))
    axes.set_yticks([])
    axes.set_xlabel("times the baseline (logarithmic)")
    axes.spines[["left", "bottom"]].set_visible(False)
    quiet(axes, "x")
    heading(axes, "shaded: noise floor", (0, 1), 0)
    heading(axes, "ratio (interval)", (1, 1), RATIO_POINTS)
    heading(axes, "finding", (1, 1), FINDING_POINTS)


def _spaced_ticks(low: float, high: float) -> list[float]:
    """Choose the ticks around 1 that leave each label at least a twelfth of the axis."""
    gap = (high / low) ** (1 / 12)
    chosen = [1.0]
    for tick in sorted(TICKS, key=lambda value: max(value, 1 / value)):
        if low <= tick <= high and all(max(tick / other, other / tick) >= gap for other in chosen):
            chosen.append(tick)
    return sorted(chosen)


def _group(axes: Axes, group: Group, colours: Mapping[str, Colour], y: float) -> float:
    left, right = axes.get_yaxis_transform(), axes.get_yaxis_transform()
    axes.text(-0.02, y + 0.4, group.title, transform=left, ha="right", va="center", weight="bold")
    top, bottom = y + 0.85, y + 1 + len(group.rows) + 0.05
    if group.noise_floor is not None:
        floor = group.noise_floor
        axes.fill_betweenx([top, bottom], max(1 - floor, 1e-3), 1 + floor, color=BAND.light, linewidth=0, zorder=1.5)
    axes.plot([1, 1], [top, bottom], color=MUTED.light, linewidth=1, zorder=2)
    middles = [y + 1.45 + index for index in range(len(group.rows))]
    hues = [colours[row.level].light for row in group.rows]
    axes.hlines(
        middles, [row.low for row in group.rows], [row.high for row in group.rows], hues, linewidth=2.2, zorder=3
    )
    axes.scatter([row.ratio for row in group.rows], middles, s=5.5**2, c=hues, linewidth=0, zorder=4)
    for middle, row in zip(middles, group.rows, strict=True):
        axes.text(-0.02, middle, short(row.level), transform=left, ha="right", va="center", color=INK.light)
        for text, offset_points in ((row.text, RATIO_POINTS), (row.finding, FINDING_POINTS)):
            axes.annotate(text, (1, middle), (offset_points, 0), right, "offset points", va="center")
    return bottom + 0.3
