"""What share of the requests was served around a fault: every trial a thin line, all of a level a thick one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from numpy.typing import NDArray

from lab.report.figures.strips import Scales, Size, strips
from lab.report.palette import BAND, MUTED, Colour

Floats = NDArray[np.float64]

HIGHEST = 108.0
"""Beyond 100 %, so that a line at 100 % is visible."""


@dataclass(frozen=True)
class Served:
    """Of the requests that users wanted around a fault, how many were served, step by step.

    `time_s` are the middles of the steps, from the fault's begin; all trials have the same ones, some more than
    others. `due` and `served` are counts.
    """

    time_s: Floats
    due: Floats
    served: Floats
    fault_s: float


def outages(served: Mapping[str, Sequence[Served]], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw one small panel per level that had faults."""
    every = [one for found in served.values() for one in found]
    span_s = min(float(one.time_s[0]) for one in every), max(float(one.time_s[-1]) for one in every)

    def panel(axes: Axes, zero: float, level: str, size: Size) -> None:
        _panel(axes, zero, served[level], colours[level].light)

    scales = Scales(span_s, "seconds since the fault began", HIGHEST, "served (%)")
    return strips("outages", "Requests served around a fault", description, list(served), scales, panel)


def _panel(axes: Axes, zero: float, faults: Sequence[Served], colour: str) -> None:
    length_s = float(np.median([one.fault_s for one in faults]))
    axes.broken_barh([(zero, length_s)], (0, HIGHEST), color=BAND.light, linewidth=0, zorder=0)
    axes.vlines([zero, zero + length_s], 0, HIGHEST, color=MUTED.light, linewidth=0.9, linestyle=(0, (3, 2)), zorder=1)
    for one in faults:
        axes.plot(zero + one.time_s, _percent(one.served, one.due), color=colour, linewidth=0.7, alpha=0.45)
    time_s, due, served = _together(faults)
    axes.plot(zero + time_s, _percent(served, due), color=colour, linewidth=2)


def _together(faults: Sequence[Served]) -> tuple[Floats, Floats, Floats]:
    """Add up the steps that all have."""
    first, last = max(one.time_s[0] for one in faults), min(one.time_s[-1] for one in faults)
    shared = [(one.time_s >= first) & (one.time_s <= last) for one in faults]
    due, served = (
        np.sum([counts[inside] for counts, inside in zip(columns, shared, strict=True)], axis=0)
        for columns in ([one.due for one in faults], [one.served for one in faults])
    )
    return faults[0].time_s[shared[0]], due, served


def _percent(served: Floats, due: Floats) -> Floats:
    """Return the share in %; not a number, which leaves a gap, where nothing was due."""
    with np.errstate(invalid="ignore"):
        return 100 * served / due
