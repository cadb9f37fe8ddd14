"""Two crossed factors: what one's levels cost at each level of the other. A horizontal line means no interaction."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.analysis.stats.intervals import Interval
from lab.report import svg
from lab.report.figures.labels import LEADER_IN, LONGEST_LABEL, label_ends
from lab.report.numbers import ends, short
from lab.report.palette import INK, OTHERS
from lab.report.svg import Margins, draw, quiet, ratio_axis

PANEL_IN = 1.8
APART = 0.08
"""How far lines are apart, in places of the axis, so that their intervals do not overlap."""


@dataclass(frozen=True)
class Panel:
    """A metric: by level of the first factor, the ratio at each of `places`, None where there is none."""

    title: str
    places: Sequence[str]
    lines: Mapping[str, Sequence[Interval | None]]


def crossing(name: str, title: str, axis: str, panels: Sequence[Panel], description: str) -> Markup:
    """Draw a panel per metric side by side; `axis` names the second factor."""
    names_in = svg.names_in(short(name, LONGEST_LABEL) for panel in panels for name in panel.lines)
    margins = Margins(left=0.55, right=names_in + LEADER_IN, across=names_in + LEADER_IN + 0.55)

    def fill(figure: Figure) -> None:
        for axes, panel in zip(svg.panels(figure, 1, len(panels), margins)[0], panels, strict=True):
            _panel(axes, panel, margins.wide(len(panels)))
            axes.set_xlabel(axis)

    return draw(name, title, description, PANEL_IN + margins.high, fill)


def _panel(axes: Axes, panel: Panel, wide_in: float) -> None:
    ratio_axis(
        axes, [end for line in panel.lines.values() for ratio in line if ratio is not None for end in ends(ratio)]
    )
    line_ends, colours = {}, {}
    for index, (level, ratios) in enumerate(panel.lines.items()):
        colour = OTHERS[index % len(OTHERS)]
        shifted = (index - (len(panel.lines) - 1) / 2) * APART
        found = [(place + shifted, ratio.mean, *ends(ratio)) for place, ratio in enumerate(ratios) if ratio is not None]
        if not found:
            continue
        x, y, low, high = zip(*found, strict=True)
        axes.plot(x, y, "o-", color=colour.light, linewidth=1.6, markersize=4.5, zorder=3)
        axes.vlines(x, low, high, color=colour.light, linewidth=1.6, zorder=2)
        line_ends[level], colours[level] = (x[-1], y[-1]), colour
    axes.set_xlim(-0.3, len(panel.places) - 0.7)
    axes.set_xticks(range(len(panel.places)), [short(place, 16) for place in panel.places])
    axes.tick_params(axis="x", labelcolor=INK.light)
    axes.set_title(panel.title)
    quiet(axes, "y")
    label_ends(axes, line_ends, colours, (wide_in, PANEL_IN))
