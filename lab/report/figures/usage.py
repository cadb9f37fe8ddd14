"""CPU and memory over time: every trial a thin line, the level's median a thick one, the warm-up shaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from lab.report.figures.labels import spread
from lab.report.numbers import short
from lab.report.palette import BAND, INK, MUTED, RULE, Colour
from lab.report.svg import Margins, draw, panels, quiet

Floats = NDArray[np.float64]

COLUMNS = 4
PANEL_IN = 1.3
GAP_IN = 0.2
HEADROOM = 1.3
"""How far the axis goes beyond the highest value: room for what is written at its top."""
WRITABLE_SHARE = 0.25
"""A span of time narrower than this share of the axis has no room for its name."""
LABEL_SHARE = 0.1
"""A label's height as a share of the axis."""


@dataclass(frozen=True)
class Line:
    """A trial's use of something over time (seconds since the load began), and where its window lies."""

    time_s: Floats
    services: Floats
    backends: Floats | None
    window_start_s: float
    window_end_s: float


@dataclass(frozen=True)
class Size:
    """What all panels share: where time and values end, and how wide each is with the gap to the next.

    The panels of a row are one Matplotlib axes, beside each other in time: an axes for each of them would take most
    of the time in which a report is made.
    """

    end_s: float
    highest: float
    wide_in: float

    @property
    def stride(self) -> float:
        """From where a panel begins to where the next one does, in seconds."""
        return self.end_s * self.wide_in / (self.wide_in - GAP_IN)


def usage(
    name: str,
    title: str,
    unit: str,
    lines: Mapping[str, Sequence[Line]],
    colours: Mapping[str, Colour],
    description: str,
) -> Markup:
    """Draw one small panel per level, all on the same axes."""
    columns = min(COLUMNS, len(lines))
    rows = ceil(len(lines) / columns)
    # Where the last row has gaps, the panels above them need room for the labels of their axis.
    margins = Margins(left=0.62, right=0.05, down=0.55 if len(lines) % columns else 0.36)
    end_s = max(line.window_end_s for trials in lines.values() for line in trials)
    highest = HEADROOM * max(_highest(line) for trials in lines.values() for line in trials)
    size = Size(end_s, highest, margins.wide(1) / columns)
    levels = list(lines)

    def fill(figure: Figure) -> None:
        for row, (axes,) in enumerate(panels(figure, rows, 1, margins)):
            beside = levels[row * columns : (row + 1) * columns]
            for column, level in enumerate(beside):
                _panel(axes, column, level, lines[level], colours[level].light, size)
            last = [column for column in range(len(beside)) if (row + 1) * columns + column >= len(levels)]
            _finish(axes, len(beside), columns, last, size)
            axes.set_ylabel(unit)
            if row == rows - 1:
                axes.set_xlabel("seconds since the load began")

    return draw(name, title, description, rows * PANEL_IN + (rows - 1) * margins.down + margins.high, fill)


def _highest(line: Line) -> float:
    return max(float(line.services.max()), 0.0 if line.backends is None else float(line.backends.max())) or 1.0


def _panel(axes: Axes, column: int, level: str, trials: Sequence[Line], colour: str, size: Size) -> None:
    left = column * size.stride
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
        place = ((start + end) / 2, y + lift)
        axes.annotate(label, place, (0, 3), textcoords="offset points", color=INK.light, **small)
    axes.annotate(short(level), (left, size.highest), (0, 6), textcoords="offset points", weight="bold", fontsize=9.5)


def _finish(axes: Axes, count: int, columns: int, labelled: Sequence[int], size: Size) -> None:
    """Give the first `count` of a row's `columns` their scales; those at the bottom of the figure are `labelled`."""
    lefts = [column * size.stride for column in range(count)]
    axes.set_xlim(0, columns * size.stride)
    axes.set_ylim(0, size.highest)
    heights = [y for y in MaxNLocator(5).tick_values(0, size.highest) if y <= size.highest]
    axes.set_yticks(heights)
    starts = lefts * len(heights)
    ends = [left + size.end_s for left in starts]
    levels = np.repeat(heights, len(lefts))
    axes.hlines(levels, starts, ends, color=RULE.light, linewidth=0.6, zorder=0.5)
    seconds = [s for s in MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]).tick_values(0, size.end_s) if 0 <= s < size.stride]
    ticks = [(column * size.stride + s, f"{s:g}") for column in labelled for s in seconds]
    axes.set_xticks([place for place, _ in ticks], [label for _, label in ticks])
    axes.spines[["left", "bottom"]].set_visible(False)
    quiet(axes, "none")


def _draw_lines(axes: Axes, lines: Sequence[tuple[Floats, Floats]], colour: str) -> float:
    """Draw trials and their median; return what none of them exceeds in the middle of the window."""
    for time_s, values in lines:
        axes.plot(time_s, values, color=colour, linewidth=0.7, alpha=0.45)
    grid = max((time_s for time_s, _ in lines), key=len)
    on_grid = [np.interp(grid, time_s, values) for time_s, values in lines]
    axes.plot(grid, np.median(on_grid, axis=0), color=colour, linewidth=2)
    around = slice(int(len(grid) * 0.5), int(len(grid) * 0.9) + 1)
    return float(np.max([values[around] for values in on_grid]))
