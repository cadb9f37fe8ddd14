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

Floats = NDArray[np.float64]

COLUMNS = 4
PANEL_IN = 1.75


@dataclass(frozen=True)
class Line:
    """A trial's use of something over time (seconds since the load began), and where its window lies."""

    time_s: Floats
    services: Floats
    backends: Floats | None
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
    columns = min(COLUMNS, len(lines))
    rows = ceil(len(lines) / columns)

    def fill(figure: Figure) -> None:
        panels = figure.subplots(rows, columns, sharex=True, sharey=True, squeeze=False)
        for axes in panels.flat[len(lines) :]:
            axes.set_visible(False)
        for axes, (level, trials) in zip(panels.flat, lines.items(), strict=False):
            _panel(axes, level, trials, colours[level].light)
        panels[0, 0].set_ylim(0, 1.3 * max(_highest(line) for trials in lines.values() for line in trials))
        for axes in panels[:, 0]:
            axes.set_ylabel(unit)
        for axes in panels.flat[max(0, len(lines) - columns) : len(lines)]:
            axes.set_xlabel("seconds since the load began")
            axes.tick_params(labelbottom=True)

    return draw(name, title, description, rows * PANEL_IN + 0.55, fill)


def _highest(line: Line) -> float:
    return max(float(line.services.max()), 0.0 if line.backends is None else float(line.backends.max())) or 1.0


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
    _median(axes, [(line.time_s, line.services) for line in trials], colour, "services")
    backends = [(line.time_s, line.backends) for line in trials if line.backends is not None]
    if backends:
        _median(axes, backends, MUTED.light, "backends")
    axes.set_title(short(level))
    axes.set_xlim(0, end + 0.03 * end)
    quiet(axes, "y")
    top = axes.get_xaxis_transform()
    axes.text(start / 2, 0.97, "warm-up", transform=top, ha="center", va="top", fontsize=8, color=MUTED.light)
    axes.text((start + end) / 2, 0.97, "window", transform=top, ha="center", va="top", fontsize=8, color=MUTED.light)


def _median(axes: Axes, lines: Sequence[tuple[Floats, Floats]], colour: str, label: str) -> None:
    grid = max((time_s for time_s, _ in lines), key=len)
    on_grid = [np.interp(grid, time_s, values) for time_s, values in lines]
    axes.plot(grid, np.median(on_grid, axis=0), color=colour, linewidth=2)
    # Above whatever any trial does around the label's place, so that no line runs through it.
    around = slice(int(len(grid) * 0.55), int(len(grid) * 0.9) + 1)
    top = float(np.max([values[around] for values in on_grid]))
    place = (float(grid[around].mean()), top)
    axes.annotate(label, place, (0, 3), textcoords="offset points", ha="center", fontsize=8, color=INK.light)
