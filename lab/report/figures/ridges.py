"""Values of every level over time: a column per measure, a row per level, and the mean in the window next to it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lab.report.numbers import number, short
from lab.report.palette import BAND, INK, MUTED, RULE, Colour
from lab.report.svg import Margins, draw, names_in, panels, quiet

ROW_IN = 0.3
MEANS_IN = 0.5
RIDGE = 0.85
"""How much of its row the highest value takes."""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Column:
    """A measure: by level, (seconds since the load began, values)."""

    title: str
    lines: Mapping[str, tuple[Floats, Floats]]


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

    return draw(name, title, description, len(levels) * ROW_IN + margins.high, fill)


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
    axes.spines[["left", "bottom"]].set_visible(False)
    quiet(axes, "x")
