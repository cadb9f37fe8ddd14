"""CPU and memory over time: every trial a thin line, the level's median a thick one, the warm-up shaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from numpy.typing import NDArray

from lab.report.numbers import short
from lab.report.palette import BAND, INK, MUTED, Colour
from lab.report.svg import draw, quiet

COLUMNS = 4
PANEL_IN = 1.75


@dataclass(frozen=True)
class Line:
    """A trial's use of something over time (seconds since the load began), and where its window lies."""

    time_s: NDArray[np.float64]
    services: NDArray[np.float64]
    backends: NDArray[np.float64] | None
    window_start_s: float
    window_end_s: float


def usage(
    name: str, title: str, unit: str, lines: Mapping[str, Sequence[Line]], colours: Mapping[str, Colour], description: str
) -> Markup:
    """Draw one small panel per level, all on the same axes."""
    columns = min(COLUMNS, len(lines))
    rows = ceil(len(lines) / columns)

    def fill(figure: Figure) -> None:
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes in panels.flat[len(lines) :]:
            axes.set_visible(False)
        for axes, (level, trials) in zip(panels.flat, lines.items(), strict=False):
            _panel(axes, level, trials, colours[level].light)
        panels[0, 0].set_ylim(bottom=0)
        for axes in panels[:, 0]:
            axes.set_ylabel(unit)
        for axes in panels.flat[max(0, len(lines) - columns) : len(lines)]:
            axes.set_xlabel("seconds since the load began")
            axes.tick_params(labelbottom=True)

    return draw(name, title, description, rows * PANEL_IN + 0.55, fill)


def _panel(axes: Axes, level: str, trials: Sequence[Line], colour: str) -> None:
    start = float(np.median([line.window_start_s for line in trials]))
    end = float(np.median([line.window_end_s for line in trials]))
    axes.axvspan(0, start, color=BAND.light, linewidth=0, zorder=0)
    for edge in (start, end):
        axes.axvline(edge, color=MUTED.light, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for line in trials:
        axes.plot(line.time_s, line.services, color=colour, linewidth=0.7, alpha=0.45)
        if line.backends is not None:
            axes.plot(line.time_s, line.backends, color=MUTED.light, linewidth=0.7, alpha=0.45)
    _median(axes, trials, [line.services for line in trials], colour, "services")
    _median(axes, trials, [line.backends for line in trials], MUTED.light, "backends")
    axes.set_title(short(level))
    axes.set_xlim(0, end + 0.03 * end)
    quiet(axes, "y")
    top = axes.get_xaxis_transform()
    axes.text(start / 2, 0.97, "warm-up", transform=top, ha="center", va="top", fontsize=8, color=MUTED.light)
    axes.text((start + end) / 2, 0.97, "window", transform=top, ha="center", va="top", fontsize=8, color=MUTED.light)


def _median(
    axes: Axes, trials: Sequence[Line], values: Sequence[NDArray[np.float64] | None], colour: str, label: str
) -> None:
    present = [(line.time_s, value) for line, value in zip(trials, values, strict=True) if value is not None]
    if not present:
        return
    grid = max((time for time, _ in present), key=len)
    middle = np.median([np.interp(grid, time, value) for time, value in present], axis=0)
    axes.plot(grid, middle, color=colour, linewidth=2)
    at = int(len(grid) * 0.62)
    axes.annotate(
        label, (float(grid[at]), float(middle[at])), (0, 5), textcoords="offset points", ha="left", fontsize=8, color=INK.light
    )
