"""Bytes per request by plane: the application's own, what context propagation adds, and export."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.figure import Figure

from lab.report.numbers import number, short
from lab.report.palette import APPLICATION, CONTEXT, EXPORT, INK, MUTED
from lab.report.svg import draw, quiet

ROW_IN = 0.4


@dataclass(frozen=True)
class Planes:
    """A level's bytes per request, in the unit of the figure."""

    level: str
    application: float
    context: float
    export: float


def planes(levels: Sequence[Planes], unit: str, description: str) -> Markup:
    """Draw a stacked bar per level, its parts written beside it."""
    largest = max(level.application + level.context + level.export for level in levels)

    def fill(figure: Figure) -> None:
        axes = figure.subplots()
        for index, level in enumerate(levels):
            left = 0.0
            for value, colour in (
                (level.application, APPLICATION),
                (level.context, CONTEXT),
                (level.export, EXPORT),
            ):
                axes.barh(index, value, left=left, height=0.62, color=colour.light, linewidth=0)
                left += value
            parts = f"{number(level.application)} + {number(level.context)} + {number(level.export)}"
            axes.annotate(parts, (left, index), (6, 0), textcoords="offset points", va="center")
        axes.set_yticks(range(len(levels)), [short(level.level) for level in levels])
        axes.tick_params(axis="y", labelcolor=INK.light)
        axes.set_ylim(len(levels) - 0.5, -0.6)
        axes.set_xlim(0, largest * 1.3)
        axes.set_xlabel(f"{unit} per request")
        axes.spines[["left", "bottom"]].set_visible(False)
        quiet(axes, "x")
        x = 0.0
        for label, colour in (("application", APPLICATION), ("+ context propagation", CONTEXT), ("+ export", EXPORT)):
            axes.annotate("■", (0, 1), (x, 5), "axes fraction", "offset points", color=colour.light, va="bottom")
            axes.annotate(
                label, (0, 1), (x + 12, 5), "axes fraction", "offset points", color=MUTED.light, va="bottom"
            )
            x += 26 + 6.2 * len(label)

    return draw("planes", "Bytes per request by plane", description, len(levels) * ROW_IN + 1.0, fill)
