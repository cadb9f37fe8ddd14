"""CPU and memory over time: every trial a thin line, the level's median a thick one, the warm-up shaded."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lab.report.figures.labels import spread
from lab.report.figures.strips import Scales, Size, strips
from lab.report.palette import BAND, INK, MUTED, Colour

Floats = NDArray[np.float64]

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

    def panel(axes: Axes, zero: float, level: str, size: Size) -> None:
        _panel(axes, zero, lines[level], colours[level].light, size)

    scales = Scales((0.0, end_s), "seconds since the load began", highest, unit)
    return strips(name, title, description, list(lines), scales, panel)


def _highest(line: Line) -> float:
    return max(float(line.services.max()), 0.0 if line.backends is None else float(line.backends.max())) or 1.0


def _panel(axes: Axes, left: float, trials: Sequence[Line], colour: str, size: Size) -> None:
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


def _draw_lines(axes: Axes, lines: Sequence[tuple[Floats, Floats]], colour: str) -> float:
    """Draw trials and their median; return what none of them exceeds in the middle of the window."""
    for time_s, values in lines:
        axes.plot(time_s, values, color=colour, linewidth=0.7, alpha=0.45)
    grid = max((time_s for time_s, _ in lines), key=len)
    on_grid = [np.interp(grid, time_s, values) for time_s, values in lines]
    axes.plot(grid, np.median(on_grid, axis=0), color=colour, linewidth=2)
    around = slice(int(len(grid) * 0.5), int(len(grid) * 0.9) + 1)
    return float(np.max([values[around] for values in on_grid]))
