"""Bars and intervals in rows: ratios to the baseline, the steps of ladders, bytes by plane."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill as wrapped

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, NullLocator

from lab.analysis.stats import Interval
from lab.report.numbers import Scale, ends, short, times
from lab.report.palette import BAND, INK, MUTED, PAPER, Colour
from lab.report.svg import WIDTH_IN, Margins, draw, heading, name_rows, names_in, panels, plain_ticks, quiet

FOREST_ROW_IN = 0.23
RATIO_POINTS, FINDING_POINTS = 14, 132
FOREST_LEFT_IN, FOREST_RIGHT_IN, TOP_IN, BOTTOM_IN = 2.3, 3.3, 0.35, 0.5
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
    height = lines * FOREST_ROW_IN + TOP_IN + BOTTOM_IN

    def fill(figure: Figure) -> None:
        axes = figure.add_axes(
            (
                FOREST_LEFT_IN / WIDTH_IN,
                BOTTOM_IN / height,
                1 - (FOREST_LEFT_IN + FOREST_RIGHT_IN) / WIDTH_IN,
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


STEP_IN = 0.24
# Room for a title of two lines.
TITLE_IN, AXIS_IN = 0.6, 0.5
TITLE_CHARACTERS_PER_IN = 12
LEFT_IN, RIGHT_IN = 1.7, 1.85
TEXT_POINTS = 8
LONGEST_LABEL = 24


@dataclass(frozen=True)
class Bar:
    """A step that begins at `start`; without one only the label and the text are shown.

    `level` chooses the colour, None that of the text. `sure`: the step is a difference beyond the noise.
    """

    label: str
    text: str
    level: str | None = None
    start: float = 0.0
    step: Interval | None = None
    sure: bool = True

    @property
    def edges(self) -> list[float]:
        """What the axis has to reach."""
        reached = () if self.step is None else (self.step.mean, *ends(self.step))
        return [self.start, *(self.start + edge for edge in reached)]


@dataclass(frozen=True)
class Panel:
    """One measure of one ladder; panels with the same `axis` share its limits."""

    title: str
    axis: str
    bars: Sequence[Bar]


def waterfall(rows: Sequence[Sequence[Panel]], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw rows of panels, those of a row side by side."""
    heights = [TITLE_IN + AXIS_IN + STEP_IN * max(len(panel.bars) for panel in row) for row in rows]
    width = WIDTH_IN / max(len(row) for row in rows)
    height = sum(heights)

    def fill(figure: Figure) -> None:
        top = height
        for row, row_in in zip(rows, heights, strict=True):
            for column, panel in enumerate(row):
                plot_in = STEP_IN * len(panel.bars)
                axes = figure.add_axes(
                    (
                        (column * width + LEFT_IN) / WIDTH_IN,
                        (top - TITLE_IN - plot_in) / height,
                        (width - LEFT_IN - RIGHT_IN) / WIDTH_IN,
                        plot_in / height,
                    )
                )
                title = wrapped(panel.title, int(width * TITLE_CHARACTERS_PER_IN), max_lines=2, placeholder="…")
                _panel(axes, panel, title, colours, _limits(rows, panel.axis))
            top -= row_in

    return draw("waterfall", "What each level of a ladder adds", description, height, fill)


def _limits(rows: Sequence[Sequence[Panel]], axis: str) -> tuple[float, float]:
    edges = [edge for row in rows for panel in row if panel.axis == axis for bar in panel.bars for edge in bar.edges]
    low, high = min(0.0, *edges), max(0.0, *edges)
    margin = (high - low or 1.0) * 0.03
    return low - margin, high + margin


def _panel(axes: Axes, panel: Panel, title: str, colours: Mapping[str, Colour], limits: tuple[float, float]) -> None:
    axes.set_xlim(*limits)
    axes.set_ylim(len(panel.bars) - 0.5, -0.5)
    axes.axvline(0, color=MUTED.light, linewidth=1, zorder=1.5)
    for row, bar in enumerate(panel.bars):
        _step(axes, row, bar, INK.light if bar.level is None else colours[bar.level].light)
    name_rows(axes, [short(bar.label, LONGEST_LABEL) for bar in panel.bars])
    plain_ticks(axes.xaxis, 4)
    axes.set_xlabel(panel.axis)
    # The title begins where the labels do.
    axes.annotate(title, (0, 1), (-LEFT_IN * 72 + 4, 10), "axes fraction", "offset points", weight="bold", fontsize=9.5)
    quiet(axes, "x")


def _step(axes: Axes, row: int, bar: Bar, colour: str) -> None:
    axes.annotate(bar.text, (1, row), (TEXT_POINTS, 0), axes.get_yaxis_transform(), "offset points", va="center")
    if bar.step is None:
        return
    looks = {"facecolor": colour, "alpha": 0.75} if bar.sure else {"facecolor": "none"}
    axes.barh(row, bar.step.mean, left=bar.start, height=0.6, edgecolor=colour, linewidth=1.1, zorder=2, **looks)
    low, high = ends(bar.step)
    axes.plot([bar.start + low, bar.start + high], [row, row], color=INK.light, linewidth=1.2, zorder=3)
    if bar.level is not None:
        # To the next step, which begins here.
        end = bar.start + bar.step.mean
        axes.plot([end, end], [row, row + 1], color=MUTED.light, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1.8)


PLANES_IN = 0.4
SHADES = {"application": 0.95, "context propagation": 0.55, "export": 0.25}
"""How opaque each plane's part of a bar is; the colour is the level's."""


@dataclass(frozen=True)
class Planes:
    """A level's bytes per request."""

    level: str
    application: float
    context: float
    export: float

    @property
    def parts(self) -> tuple[float, float, float]:
        """The planes in the order of `SHADES`."""
        return self.application, self.context, self.export


def planes(levels: Sequence[Planes], scale: Scale, colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw a stacked bar per level, with its parts as a label."""
    names = [short(level.level) for level in levels]
    margins = Margins(left=names_in(names), right=0.05)
    largest = max(sum(level.parts) for level in levels) / scale.factor

    def fill(figure: Figure) -> None:
        axes = panels(figure, 1, 1, margins)[0][0]
        for row, level in enumerate(levels):
            _bar(axes, row, level, scale, colours[level.level].light)
        name_rows(axes, names)
        axes.set_ylim(len(levels) - 0.5, -0.6)
        axes.set_xlim(0, (largest or 1) * 1.35)
        axes.set_xlabel(f"{scale.unit} per request")
        quiet(axes, "x")
        _key(axes)

    return draw("planes", "Bytes per request by plane", description, len(levels) * PLANES_IN + margins.high, fill)


def _bar(axes: Axes, row: int, level: Planes, scale: Scale, colour: str) -> None:
    left = 0.0
    for value, shade in zip(level.parts, SHADES.values(), strict=True):
        width = value / scale.factor
        axes.barh(row, width, left=left, height=0.62, color=colour, alpha=shade, edgecolor=PAPER.light, linewidth=0.8)
        left += width
    parts = " + ".join(scale.show(value) for value in level.parts)
    text = f"{parts} = {scale.show(sum(level.parts))} {scale.unit}"
    axes.annotate(text, (left, row), (6, 0), textcoords="offset points", va="center")


def _key(axes: Axes) -> None:
    x = 0.0
    for index, (label, shade) in enumerate(SHADES.items()):
        text = label if index == 0 else f"+ {label}"
        heading(axes, "■", (0, 1), x, color=INK.light, alpha=shade)
        heading(axes, text, (0, 1), x + 12)
        x += 30 + 5.6 * len(text)
