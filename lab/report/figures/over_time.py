"""Values over time: a panel per level on the same axes, or a column per measure with a row per level."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lab.analysis.stats import FloatArray
from lab.report.figures.curves import spread
from lab.report.numbers import MINUS, number, short
from lab.report.palette import BAND, INK, MUTED, PAPER, RULE, Colour
from lab.report.svg import Margins, draw, names_in, panels, quiet

COLUMNS = 4
PANEL_IN = 1.3
GAP_IN = 0.2


@dataclass(frozen=True)
class Scales:
    """What all panels share: the span of time, where values end, their names, and how wide each is with its gap.

    The panels of a row are one Matplotlib axes, one after the other in time: an axes for each of them would take most
    of the time in which a report is made.
    """

    begin_s: float
    end_s: float
    time: str
    highest: float
    value: str
    wide_in: float = 0.0

    @property
    def stride(self) -> float:
        """From where a panel begins to where the next one does, in seconds."""
        return (self.end_s - self.begin_s) * self.wide_in / (self.wide_in - GAP_IN)

    def zero(self, column: int) -> float:
        """Where a column's time is 0."""
        return column * self.stride - self.begin_s


Panel = Callable[[Axes, float, str, Scales], None]
"""Draws a level into the axes, its time beginning at a place of theirs."""


def strips(name: str, title: str, description: str, levels: Sequence[str], scales: Scales, panel: Panel) -> Markup:
    """Draw one small panel per level, all on the same axes."""
    columns = min(COLUMNS, len(levels))
    rows = ceil(len(levels) / columns)
    # Where the last row has gaps, the panels above them need room for the labels of their axis.
    margins = Margins(left=0.62, right=0.05, down=0.55 if len(levels) % columns else 0.36)
    size = replace(scales, wide_in=margins.wide(1) / columns)

    def fill(figure: Figure) -> None:
        for row, (axes,) in enumerate(panels(figure, rows, 1, margins)):
            beside = levels[row * columns : (row + 1) * columns]
            for column, level in enumerate(beside):
                panel(axes, size.zero(column), level, size)
                _name(axes, column * size.stride, level, size)
            last = [column for column in range(len(beside)) if (row + 1) * columns + column >= len(levels)]
            _finish(axes, len(beside), columns, last, size)
            axes.set_ylabel(scales.value)
            if row == rows - 1:
                axes.set_xlabel(scales.time)

    return draw(name, title, description, rows * PANEL_IN + (rows - 1) * margins.down + margins.high, fill)


def _name(axes: Axes, left: float, level: str, size: Scales) -> None:
    axes.annotate(short(level), (left, size.highest), (0, 6), textcoords="offset points", weight="bold", fontsize=9.5)


def _finish(axes: Axes, count: int, columns: int, labelled: Sequence[int], size: Scales) -> None:
    """Give the first `count` of a row's `columns` their scales; those at the bottom of the figure are `labelled`."""
    lefts = [column * size.stride for column in range(count)]
    axes.set_xlim(0, columns * size.stride)
    axes.set_ylim(0, size.highest)
    heights = [y for y in MaxNLocator(5).tick_values(0, size.highest) if y <= size.highest]
    axes.set_yticks(heights)
    starts = lefts * len(heights)
    ends = [left + size.end_s - size.begin_s for left in starts]
    levels = np.repeat(heights, len(lefts))
    axes.hlines(levels, starts, ends, color=RULE.light, linewidth=0.6, zorder=0.5)
    tried = MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(size.begin_s, size.end_s)
    seconds = [s for s in tried if size.begin_s <= s < size.begin_s + size.stride]
    ticks = [(size.zero(column) + s, f"{s:g}".replace("-", MINUS)) for column in labelled for s in seconds]
    axes.set_xticks([place for place, _ in ticks], [label for _, label in ticks])
    quiet(axes, "none")


HEADROOM = 1.3
"""How far the axis goes beyond the highest value: room for what is written at its top."""
WRITABLE_SHARE = 0.25
"""A span of time narrower than this share of the axis has no room for its name."""
LABEL_SHARE = 0.1
"""A label's height as a share of the axis."""


@dataclass(frozen=True)
class Line:
    """A trial's use of something over time (seconds since the load began), and where its window lies."""

    time_s: FloatArray
    services: FloatArray
    backends: FloatArray | None
    window_start_s: float
    window_end_s: float


def usage(
    name: str,
    title: str,
    unit: str,
    lines: Mapping[str, Sequence[Line]],
    colours: Mapping[str, Colour],
    description: str,
) -> Markup:
    """Draw one small panel per level, all on the same axes."""
    end_s = max(line.window_end_s for trials in lines.values() for line in trials)
    highest = HEADROOM * max(_highest(line) for trials in lines.values() for line in trials)

    def panel(axes: Axes, zero: float, level: str, size: Scales) -> None:
        _usage_panel(axes, zero, lines[level], colours[level].light, size)

    scales = Scales(0.0, end_s, "seconds since the load began", highest, unit)
    return strips(name, title, description, list(lines), scales, panel)


def _highest(line: Line) -> float:
    return max(float(line.services.max()), 0.0 if line.backends is None else float(line.backends.max())) or 1.0


def _usage_panel(axes: Axes, left: float, trials: Sequence[Line], colour: str, size: Scales) -> None:
    start = left + float(np.median([line.window_start_s for line in trials]))
    end = left + float(np.median([line.window_end_s for line in trials]))
    axes.broken_barh([(left, start - left)], (0, size.highest), color=BAND.light, linewidth=0, zorder=0)
    axes.vlines([start, end], 0, size.highest, color=MUTED.light, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    small: dict[str, Any] = {"ha": "center", "fontsize": 8}
    for text, first, last in (("warm-up", left, start), ("window", start, end)):
        if last - first >= WRITABLE_SHARE * (end - left):
            axes.text((first + last) / 2, 0.97 * size.highest, text, va="top", color=MUTED.light, **small)
    tops = {"services": _draw_lines(axes, [(left + line.time_s, line.services) for line in trials], colour)}
    backends = [(left + line.time_s, line.backends) for line in trials if line.backends is not None]
    if backends:
        tops["backends"] = _draw_lines(axes, backends, MUTED.light)
    places = spread(list(tops.values()), LABEL_SHARE * size.highest)
    lift = max(0.0, -min(places))
    for label, y in zip(tops, places, strict=True):
        # On paper: where systems take turns, lines cross the label.
        axes.annotate(
            label,
            ((start + end) / 2, y + lift),
            (0, 3),
            textcoords="offset points",
            color=INK.light,
            bbox={"facecolor": PAPER.light, "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
            **small,
        )


def _draw_lines(axes: Axes, lines: Sequence[tuple[FloatArray, FloatArray]], colour: str) -> float:
    """Draw trials and their median; return what none of them exceeds in the middle of the window."""
    for time_s, values in lines:
        axes.plot(time_s, values, color=colour, linewidth=0.7, alpha=0.45)
    grid = max((time_s for time_s, _ in lines), key=len)
    on_grid = [np.interp(grid, time_s, values) for time_s, values in lines]
    axes.plot(grid, np.median(on_grid, axis=0), color=colour, linewidth=2)
    around = slice(int(len(grid) * 0.5), int(len(grid) * 0.9) + 1)
    return float(np.max([values[around] for values in on_grid]))


HIGHEST = 108.0
"""Beyond 100 %, so that a line at 100 % is visible."""


@dataclass(frozen=True)
class Served:
    """Of the requests that users wanted around a fault, how many were served, step by step.

    `time_s` are the middles of the steps, from the fault's begin; all trials have the same ones, some more than
    others. `due` and `served` are counts.
    """

    time_s: FloatArray
    due: FloatArray
    served: FloatArray
    fault_s: float


def outages(served: Mapping[str, Sequence[Served]], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw one small panel per level that had faults."""
    every = [one for found in served.values() for one in found]
    span_s = min(float(one.time_s[0]) for one in every), max(float(one.time_s[-1]) for one in every)

    def panel(axes: Axes, zero: float, level: str, size: Scales) -> None:
        _outage_panel(axes, zero, served[level], colours[level].light)

    scales = Scales(*span_s, "seconds since the fault began", HIGHEST, "served (%)")
    return strips("outages", "Requests served around a fault", description, list(served), scales, panel)


def _outage_panel(axes: Axes, zero: float, faults: Sequence[Served], colour: str) -> None:
    length_s = float(np.median([one.fault_s for one in faults]))
    axes.broken_barh([(zero, length_s)], (0, HIGHEST), color=BAND.light, linewidth=0, zorder=0)
    axes.vlines([zero, zero + length_s], 0, HIGHEST, color=MUTED.light, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for one in faults:
        axes.plot(zero + one.time_s, _percent(one.served, one.due), color=colour, linewidth=0.7, alpha=0.45)
    time_s, due, served = _together(faults)
    axes.plot(zero + time_s, _percent(served, due), color=colour, linewidth=2)


def _together(faults: Sequence[Served]) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Add up the steps that all have."""
    first, last = max(one.time_s[0] for one in faults), min(one.time_s[-1] for one in faults)
    shared = [(one.time_s >= first) & (one.time_s <= last) for one in faults]
    due, served = (
        np.sum([counts[inside] for counts, inside in zip(columns, shared, strict=True)], axis=0)
        for columns in ([one.due for one in faults], [one.served for one in faults])
    )
    return faults[0].time_s[shared[0]], due, served


def _percent(served: FloatArray, due: FloatArray) -> FloatArray:
    """Return the share in %; not a number, which leaves a gap, where nothing was due."""
    with np.errstate(invalid="ignore"):
        return 100 * served / due


RIDGE_IN = 0.3
MEANS_IN = 0.5
RIDGE = 0.85
"""How much of its row the highest value takes."""


@dataclass(frozen=True)
class Column:
    """A measure: by level, (seconds since the load began, values)."""

    title: str
    lines: Mapping[str, tuple[FloatArray, FloatArray]]


def ridges(
    name: str,
    title: str,
    columns: Sequence[Column],
    window_s: tuple[float, float],
    colours: Mapping[str, Colour],
    description: str,
) -> Markup:
    """Draw the columns side by side, all rows of one on the same scale; what is before the window is shaded."""
    levels = list(dict.fromkeys(level for column in columns for level in column.lines))
    names = [short(level) for level in levels]
    margins = Margins(left=names_in(names), right=MEANS_IN, across=MEANS_IN + 0.1)

    def fill(figure: Figure) -> None:
        grid = panels(figure, 1, len(columns), margins, sharey=True)[0]
        for axes, column in zip(grid, columns, strict=True):
            _column(axes, column, levels, window_s, colours)
        grid[0].set_yticks([row - RIDGE / 2 for row in range(len(levels))], names)
        grid[0].tick_params(axis="y", labelcolor=INK.light)
        grid[0].set_ylim(len(levels) - 0.8, -1)

    return draw(name, title, description, len(levels) * RIDGE_IN + margins.high, fill)


def _column(
    axes: Axes, column: Column, levels: Sequence[str], window_s: tuple[float, float], colours: Mapping[str, Colour]
) -> None:
    start_s, end_s = window_s
    highest = max(float(values.max()) for _, values in column.lines.values()) or 1.0
    axes.axvspan(0, start_s, color=BAND.light, linewidth=0, zorder=0)
    axes.axvline(start_s, color=MUTED.light, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for row, level in enumerate(levels):
        axes.axhline(row, color=RULE.light, linewidth=0.6, zorder=1)
        if level not in column.lines:
            continue
        time_s, values = column.lines[level]
        ridge, colour = row - RIDGE * values / highest, colours[level].light
        axes.fill_between(time_s, row, ridge, color=colour, alpha=0.35, linewidth=0, zorder=2)
        axes.plot(time_s, ridge, color=colour, linewidth=1.2, zorder=3)
        mean = number(float(values[time_s >= start_s].mean()))
        beside = axes.get_yaxis_transform()
        axes.annotate(mean, (1, row - RIDGE / 2), (5, 0), beside, "offset points", va="center", annotation_clip=False)
    axes.set_xlim(0, end_s)
    axes.set_xlabel("seconds since the load began")
    axes.set_title(column.title)
    quiet(axes, "x")
