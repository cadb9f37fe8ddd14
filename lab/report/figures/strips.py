"""A panel per level over one span of time, on the same axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from lab.report.numbers import MINUS, short
from lab.report.palette import RULE
from lab.report.svg import Margins, draw, panels, quiet

COLUMNS = 4
PANEL_IN = 1.3
GAP_IN = 0.2


@dataclass(frozen=True)
class Size:
    """What all panels share: the span of time, where values end, and how wide each is with the gap to the next.

    The panels of a row are one Matplotlib axes, one after the other in time: an axes for each of them would take most
    of the time in which a report is made.
    """

    begin_s: float
    end_s: float
    highest: float
    wide_in: float

    @property
    def stride(self) -> float:
        """From where a panel begins to where the next one does, in seconds."""
        return (self.end_s - self.begin_s) * self.wide_in / (self.wide_in - GAP_IN)

    def zero(self, column: int) -> float:
        """Where a column's time is 0."""
        return column * self.stride - self.begin_s


@dataclass(frozen=True)
class Scales:
    """The axes of all panels, with their titles."""

    span_s: tuple[float, float]
    time: str
    highest: float
    value: str


Panel = Callable[[Axes, float, str, Size], None]
"""Draws a level into the axes, its time beginning at a place of theirs."""


def strips(name: str, title: str, description: str, levels: Sequence[str], scales: Scales, panel: Panel) -> Markup:
    """Draw one small panel per level, all on the same axes."""
    columns = min(COLUMNS, len(levels))
    rows = ceil(len(levels) / columns)
    # Where the last row has gaps, the panels above them need room for the labels of their axis.
    margins = Margins(left=0.62, right=0.05, down=0.55 if len(levels) % columns else 0.36)
    size = Size(*scales.span_s, scales.highest, margins.wide(1) / columns)

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


def _name(axes: Axes, left: float, level: str, size: Size) -> None:
    axes.annotate(short(level), (left, size.highest), (0, 6), textcoords="offset points", weight="bold", fontsize=9.5)


def _finish(axes: Axes, count: int, columns: int, labelled: Sequence[int], size: Size) -> None:
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
    axes.spines[["left", "bottom"]].set_visible(False)
    quiet(axes, "none")
