"""From a Matplotlib figure to inline SVG that belongs to the page: its fonts, its colours, its own ids."""

import io
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from markupsafe import Markup
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.backends.backend_svg import FigureCanvasSVG
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from lab.report.numbers import MINUS, times
from lab.report.palette import INK, MUTED, PALETTE, RULE

WIDTH_IN = 11.0
"""Every figure's width: at 96 CSS pixels to the inch that of the page's column."""

STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": INK.light,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "axes.edgecolor": RULE.light,
    "axes.labelcolor": MUTED.light,
    "axes.labelsize": 9,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.titleweight": "bold",
    # Left to find its own height, a title measures every label of its axes first.
    "axes.titley": 1.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.grid": True,
    "grid.color": RULE.light,
    "grid.linewidth": 0.6,
    "xtick.color": RULE.light,
    "ytick.color": RULE.light,
    "xtick.labelcolor": MUTED.light,
    "ytick.labelcolor": MUTED.light,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "path.simplify": True,
}


def draw(name: str, title: str, description: str, height_in: float, fill: Callable[[Figure], None]) -> Markup:
    """Let `fill` draw into a new figure, and give it as inline SVG.

    `name` is unique on the page: it prefixes every id. `title` and `description` are what a screen reader says.
    The same data give the same text, byte for byte.
    """
    with rc_context({**STYLE, "svg.hashsalt": name}):
        figure = Figure(figsize=(WIDTH_IN, height_in))
        FigureCanvasSVG(figure)
        fill(figure)
        text = io.StringIO()
        figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    return Markup(_inline(text.getvalue(), name, title, description))


@dataclass(frozen=True)
class Margins:
    """The inches around a figure's panels, and between neighbours (`across` and `down`).

    Known beforehand, they make a figure in a third of the time that Matplotlib's layout engines take to find them.
    """

    left: float
    right: float
    top: float = 0.3
    bottom: float = 0.48
    across: float = 0.0
    down: float = 0.0

    @property
    def high(self) -> float:
        """What is not panel of the height of a figure with one row of panels."""
        return self.top + self.bottom

    def wide(self, columns: int) -> float:
        """Return how wide each of a row of panels is."""
        return (WIDTH_IN - self.left - self.right - self.across * (columns - 1)) / columns


def panels(figure: Figure, rows: int, columns: int, margins: Margins, **more: Any) -> list[list[Axes]]:
    """Add rows and columns of axes; `more` is for `Figure.subplots`."""
    width, height = figure.get_size_inches()
    high = (height - margins.high - margins.down * (rows - 1)) / rows
    place = {
        "left": margins.left / width,
        "right": 1 - margins.right / width,
        "top": 1 - margins.top / height,
        "bottom": margins.bottom / height,
        "wspace": margins.across / margins.wide(columns),
        "hspace": margins.down / high,
    }
    grid: list[list[Axes]] = figure.subplots(rows, columns, squeeze=False, gridspec_kw=place, **more).tolist()
    return grid


def names_in(names: Iterable[str], points: float = 9) -> float:
    """Return how many inches the longest of some names takes, and a little: letters are 0.6 of their height wide."""
    return 0.12 + max((len(name) for name in names), default=0) * points * 0.6 / 72


def quiet(axes: Axes, grid: str) -> None:
    """Keep only the grid lines of one axis ("x", "y" or "none"), and no tick marks; without "y" no frame either."""
    axes.tick_params(length=0)
    axes.grid(visible=False)
    axes.spines[["left", "bottom"]].set_visible(grid == "y")
    if grid != "none":
        axes.grid(visible=True, axis="x" if grid == "x" else "y")


def name_rows(axes: Axes, names: Sequence[str]) -> None:
    """Write a name left of each row: row 0 is at 0, the next at 1."""
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", labelcolor=INK.light)


def plain_ticks(axis: Axis, most: int | None = None) -> None:
    """Write ticks as plain numbers with a real minus sign; `most`: about so many of them, at round numbers."""
    if most is not None:
        axis.set_major_locator(MaxNLocator(most))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", MINUS)))


def heading(axes: Axes, text: str, corner: tuple[float, float], right_points: float, **style: Any) -> None:
    """Write `text` just above the axes, `right_points` to the right of one of their upper corners."""
    looks = {"color": MUTED.light, "va": "bottom", **style}
    axes.annotate(text, corner, (right_points, 4), "axes fraction", "offset points", **looks)


def ratio_axis(axes: Axes, edges: Sequence[float]) -> None:
    """Let the vertical axis show ratios around the line of no change, so far that a twentieth never looks large."""
    low, high = min(0.95, *edges), max(1.05, *edges)
    margin = 0.05 * (high - low)
    axes.set_ylim(low - margin, high + margin)
    axes.axhline(1, color=MUTED.light, linewidth=1, zorder=1)
    axes.yaxis.set_major_locator(MaxNLocator(5))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: times(round(value, 6))))


def _inline(document: str, name: str, title: str, description: str) -> str:
    body = re.sub(r"<metadata>.*?</metadata>", "", document[document.index("<svg") :], flags=re.DOTALL)
    body = _only_used_ids(body, name)
    for colour in PALETTE:
        body = body.replace(colour.light, f"var({colour.variable})")
    view_box = re.search(r'viewBox="([^"]+)"', body)
    content = body[body.index(">") + 1 :]
    labels = (
        f'<title id="{name}-title">{escape(title)}</title><desc id="{name}-description">{escape(description)}</desc>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" '
        f'viewBox="{view_box[1] if view_box else ""}" role="img" '
        f'aria-labelledby="{name}-title {name}-description">{labels}{content}'
    )


def _only_used_ids(body: str, name: str) -> str:
    """Drop the ids that nothing refers to, and make the others the figure's own."""
    used = set(re.findall(r'(?:href="#|url\(#)([^")]+)', body))
    body = re.sub(r' id="([^"]+)"', lambda m: f' id="{name}-{m[1]}"' if m[1] in used else "", body)
    return re.sub(r'(href="#|url\(#)', rf"\g<1>{name}-", body)
