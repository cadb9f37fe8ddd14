"""Several measures over time, all of a level in one panel, and where something first happened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from math import ceil
from typing import Any, Literal

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator

from lab.analysis.stats import FloatArray
from lab.report.figures.curves import spread
from lab.report.numbers import short
from lab.report.palette import INK, PAPER, REJECTED, Colour
from lab.report.svg import Margins, draw, panels, plain_ticks, quiet

COLUMNS = 4
PANEL_IN = 1.5
MARGINS = Margins(left=0.65, right=0.12, across=0.25, down=0.6)
HEADROOM = {"linear": 1.3, "log": 4.0}
"""How far the axis goes beyond the highest value: room for what is written at its top."""
LEAST = {"linear": 0.0, "log": 0.1}
"""Where the axis begins. What is less is drawn there: a trace can be back before its request is answered."""
LABEL_SHARE = 0.11
"""A label's height as a share of the axis."""
Dashes = Literal["solid", "dotted", "dashed", "dash-dotted"]
DASHES: Mapping[Dashes, Any] = {
    "solid": "-",
    "dotted": (0, (1, 1.2)),
    "dashed": (0, (4, 2)),
    "dash-dotted": (0, (6, 2, 1, 2)),
}


@dataclass(frozen=True)
class Marks:
    """What is marked, and when it happened in each trial of a level, in seconds since the load began.

    `published`: values on a level's axis.
    """

    word: str
    at_s: Mapping[str, Sequence[float]]
    published: Mapping[str, Sequence[float]] = field(default_factory=dict)


@dataclass(frozen=True)
class Bundle:
    """A measure of a level: how it looks, and each trial's (seconds since the load began, values), which are finite."""

    label: str
    colour: Colour
    dashes: Dashes
    trials: Sequence[tuple[FloatArray, FloatArray]]


def courses(
    name: str,
    title: str,
    axis: tuple[str, Literal["linear", "log"]],
    levels: Mapping[str, Sequence[Bundle]],
    marks: Marks,
    description: str,
) -> Markup:
    """Draw a panel per level, all on the same axes."""
    columns = min(COLUMNS, len(levels))
    rows = ceil(len(levels) / columns)
    curves = [curve for bundles in levels.values() for one in bundles for curve in one.trials]
    limits = _limits(curves, list(chain(*marks.published.values())), axis[1])

    def fill(figure: Figure) -> None:
        grid = list(chain(*panels(figure, rows, columns, MARGINS)))
        for axes in grid[len(levels) :]:
            axes.remove()
        for index, (axes, (level, bundles)) in enumerate(zip(grid, levels.items(), strict=False)):
            _axes(axes, limits, axis, named=index % columns == 0)
            for value in marks.published.get(level, ()):
                axes.axhline(value, color=INK.light, linewidth=0.8, alpha=0.6, linestyle=DASHES["dash-dotted"])
            _panel(axes, bundles, marks.word, marks.at_s.get(level, ()))
            axes.set_title(short(level))
            if index + columns >= len(levels):
                axes.set_xlabel("seconds since the load began")

    return draw(name, title, description, rows * PANEL_IN + (rows - 1) * MARGINS.down + MARGINS.high, fill)


def _limits(
    curves: Sequence[tuple[FloatArray, FloatArray]], published: Sequence[float], scale: Literal["linear", "log"]
) -> tuple[float, float, float]:
    """Return where time ends, and where values begin and end."""
    highest = max(*published, *(float(values.max()) for _, values in curves), 0.0)
    return max(float(time_s[-1]) for time_s, _ in curves), LEAST[scale], HEADROOM[scale] * max(highest, LEAST["log"])


def _axes(
    axes: Axes, limits: tuple[float, float, float], axis: tuple[str, Literal["linear", "log"]], *, named: bool
) -> None:
    unit, scale = axis
    axes.set_yscale(scale)
    axes.set_xlim(0, limits[0])
    axes.set_ylim(*limits[1:])
    axes.xaxis.set_major_locator(MaxNLocator(5, steps=[1, 2, 2.5, 5, 10]))
    axes.yaxis.set_major_locator(MaxNLocator(5) if scale == "linear" else LogLocator())
    axes.yaxis.set_minor_locator(NullLocator())
    plain_ticks(axes.yaxis)
    quiet(axes, "y")
    if named:
        axes.set_ylabel(unit)
    else:
        axes.tick_params(labelleft=False)


def _panel(axes: Axes, bundles: Sequence[Bundle], mark: str, marks_s: Sequence[float]) -> None:
    ends = {bundle.label: _lines(axes, bundle) for bundle in bundles}
    top = axes.get_ylim()[1]
    for mark_s in marks_s:
        axes.axvline(mark_s, color=REJECTED.light, linewidth=0.9, linestyle=DASHES["dashed"], zorder=1)
    if marks_s:
        at_s = float(np.median(marks_s))
        # Lines are named at the right.
        late = at_s > axes.get_xlim()[1] / 2
        looks: dict[str, Any] = {"ha": "right" if late else "left", "fontsize": 8, "color": REJECTED.light}
        axes.annotate(mark, (at_s, top), (-3 if late else 3, -9), textcoords="offset points", **looks)
    _labels(axes, ends)


def _lines(axes: Axes, bundle: Bundle) -> float:
    """Draw a measure's trials and their median; return where the median ends."""
    looks: dict[str, Any] = {"color": bundle.colour.light, "linestyle": DASHES[bundle.dashes]}
    least = axes.get_ylim()[0]
    # The median of one trial is the trial.
    for time_s, values in bundle.trials if len(bundle.trials) > 1 else ():
        axes.plot(time_s, np.maximum(values, least), linewidth=0.6, alpha=0.35, **looks)
    grid_s = max((time_s for time_s, _ in bundle.trials), key=len)
    median = np.median([np.interp(grid_s, time_s, values) for time_s, values in bundle.trials], axis=0)
    axes.plot(grid_s, np.maximum(median, least), linewidth=1.6, **looks)
    return float(median[-1])


def _labels(axes: Axes, ends: Mapping[str, float]) -> None:
    """Name the lines where they end, inside the panel."""
    # In shares of the axis's height, so that labels are apart on each scale.
    shown = axes.transScale + axes.transLimits
    heights = [float(shown.transform((0, max(y, axes.get_ylim()[0])))[1]) for y in ends.values()]
    places = spread(heights, LABEL_SHARE)
    lift = max(0.0, -min(places))
    for label, height in zip(ends, places, strict=True):
        axes.annotate(
            label,
            (1, height + lift),
            (-2, 2),
            "axes fraction",
            "offset points",
            ha="right",
            fontsize=8,
            color=INK.light,
            bbox={"facecolor": PAPER.light, "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
        )
