"""Several measures over time, all of a level in one panel, and where something first happened."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes

from lab.report.figures.curves import spread
from lab.report.figures.over_time import HEADROOM, LABEL_SHARE, Floats, Scales, strips
from lab.report.palette import INK, PAPER, REJECTED, Colour

MARK = "first error"


@dataclass(frozen=True)
class Bundle:
    """A measure of a level: its colour, and each trial's (seconds since the load began, values), which are finite."""

    label: str
    colour: Colour
    trials: Sequence[tuple[Floats, Floats]]


def courses(
    name: str,
    title: str,
    unit: str,
    levels: Mapping[str, Sequence[Bundle]],
    marks_s: Mapping[str, Sequence[float]],
    description: str,
) -> Markup:
    """Draw a panel per level, all on the same axes; `marks_s`: when each of its trials had its first error."""
    curves = [curve for bundles in levels.values() for bundle in bundles for curve in bundle.trials]
    end_s = max(float(time_s[-1]) for time_s, _ in curves)
    scales = Scales(0.0, end_s, "seconds since the load began", HEADROOM * max(float(y.max()) for _, y in curves), unit)

    def panel(axes: Axes, zero: float, level: str, size: Scales) -> None:
        ends = {bundle.label: _lines(axes, zero, bundle) for bundle in levels[level]}
        _mark(axes, zero, marks_s.get(level, ()), size)
        _labels(axes, zero, ends, size)

    return strips(name, title, description, list(levels), scales, panel)


def _lines(axes: Axes, zero: float, bundle: Bundle) -> float:
    """Draw a measure's trials and their median; return where the median ends."""
    for time_s, values in bundle.trials:
        axes.plot(zero + time_s, values, color=bundle.colour.light, linewidth=0.6, alpha=0.35)
    grid_s = max((time_s for time_s, _ in bundle.trials), key=len)
    median = np.median([np.interp(grid_s, time_s, values) for time_s, values in bundle.trials], axis=0)
    axes.plot(zero + grid_s, median, color=bundle.colour.light, linewidth=1.6)
    return float(median[-1])


def _mark(axes: Axes, zero: float, marks_s: Sequence[float], size: Scales) -> None:
    at = [zero + mark_s for mark_s in marks_s]
    axes.vlines(at, 0, size.highest, color=REJECTED.light, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    if at:
        place = (float(np.median(at)), 0.97 * size.highest)
        axes.annotate(MARK, place, (3, 0), textcoords="offset points", va="top", fontsize=8, color=REJECTED.light)


def _labels(axes: Axes, zero: float, ends: Mapping[str, float], size: Scales) -> None:
    """Name the lines where they end, inside the panel."""
    places = spread(list(ends.values()), LABEL_SHARE * size.highest)
    lift = max(0.0, -min(places, default=0.0))
    for label, y in zip(ends, places, strict=True):
        axes.annotate(
            label,
            (zero + size.end_s, y + lift),
            (-2, 2),
            textcoords="offset points",
            ha="right",
            fontsize=8,
            color=INK.light,
            bbox={"facecolor": PAPER.light, "edgecolor": "none", "alpha": 0.75, "pad": 0.5},
        )
