"""Bytes per request by plane: the application's own, what context propagation adds, and export."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from lab.report.numbers import Scale, short
from lab.report.palette import INK, PAPER, Colour
from lab.report.svg import Margins, draw, heading, names_in, panels, quiet

ROW_IN = 0.4
SHADES = {"application": 0.95, "context propagation": 0.55, "export": 0.25}
"""How opaque each plane's part of a bar is; the colour is the level's."""


@dataclass(frozen=True)
class Planes:
    """A level's bytes per request."""

    level: str
    application: float
    context: float
    export: float

    @property
    def parts(self) -> tuple[float, float, float]:
        """The planes in the order of `SHADES`."""
        return self.application, self.context, self.export


def planes(levels: Sequence[Planes], scale: Scale, colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw a stacked bar per level, with its parts as a label."""
    names = [short(level.level) for level in levels]
    margins = Margins(left=names_in(names), right=0.05)
    largest = max(sum(level.parts) for level in levels) / scale.factor

    def fill(figure: Figure) -> None:
        axes = panels(figure, 1, 1, margins)[0][0]
        for row, level in enumerate(levels):
            _bar(axes, row, level, scale, colours[level.level].light)
        axes.set_yticks(range(len(levels)), names)
        axes.tick_params(axis="y", labelcolor=INK.light)
        axes.set_ylim(len(levels) - 0.5, -0.6)
        axes.set_xlim(0, (largest or 1) * 1.35)
        axes.set_xlabel(f"{scale.unit} per request")
        axes.spines[["left", "bottom"]].set_visible(False)
        quiet(axes, "x")
        _key(axes)

    return draw("planes", "Bytes per request by plane", description, len(levels) * ROW_IN + margins.high, fill)


def _bar(axes: Axes, row: int, level: Planes, scale: Scale, colour: str) -> None:
    left = 0.0
    for value, shade in zip(level.parts, SHADES.values(), strict=True):
        width = value / scale.factor
        axes.barh(row, width, left=left, height=0.62, color=colour, alpha=shade, edgecolor=PAPER.light, linewidth=0.8)
        left += width
    parts = " + ".join(scale.show(value) for value in level.parts)
    text = f"{parts} = {scale.show(sum(level.parts))} {scale.unit}"
    axes.annotate(text, (left, row), (6, 0), textcoords="offset points", va="center")


def _key(axes: Axes) -> None:
    x = 0.0
    for index, (label, shade) in enumerate(SHADES.items()):
        text = label if index == 0 else f"+ {label}"
        heading(axes, "■", (0, 1), x, color=INK.light, alpha=shade)
        heading(axes, text, (0, 1), x + 12)
        x += 30 + 5.6 * len(text)
