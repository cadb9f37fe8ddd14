"""A ladder as a waterfall: what each level adds to the one before it, and all of them together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from textwrap import fill as wrapped

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from lab.analysis.stats.intervals import Interval
from lab.report.numbers import ends, short
from lab.report.palette import INK, MUTED, Colour
from lab.report.svg import WIDTH_IN, draw, quiet

ROW_IN = 0.24
# Room for a title of two lines.
TITLE_IN, AXIS_IN = 0.6, 0.5
TITLE_CHARACTERS_PER_IN = 12
LEFT_IN, RIGHT_IN = 1.7, 1.85
TEXT_POINTS = 8
LONGEST_LABEL = 24


@dataclass(frozen=True)
class Bar:
    """A step that begins at `start`; without one only the label and the text are shown.

    `level` chooses the colour, None that of the text. `sure`: the step is a difference beyond the noise.
    """

    label: str
    text: str
    level: str | None = None
    start: float = 0.0
    step: Interval | None = None
    sure: bool = True

    @property
    def edges(self) -> list[float]:
        """What the axis has to reach."""
        reached = () if self.step is None else (self.step.mean, *ends(self.step))
        return [self.start, *(self.start + edge for edge in reached)]


@dataclass(frozen=True)
class Panel:
    """One measure of one ladder; panels with the same `axis` share its limits."""

    title: str
    axis: str
    bars: Sequence[Bar]


def waterfall(rows: Sequence[Sequence[Panel]], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw rows of panels, those of a row side by side."""
    heights = [TITLE_IN + AXIS_IN + ROW_IN * max(len(panel.bars) for panel in row) for row in rows]
    width = WIDTH_IN / max(len(row) for row in rows)
    height = sum(heights)

    def fill(figure: Figure) -> None:
        top = height
        for row, row_in in zip(rows, heights, strict=True):
            for column, panel in enumerate(row):
                plot_in = ROW_IN * len(panel.bars)
                axes = figure.add_axes(
                    (
                        (column * width + LEFT_IN) / WIDTH_IN,
                        (top - TITLE_IN - plot_in) / height,
                        (width - LEFT_IN - RIGHT_IN) / WIDTH_IN,
                        plot_in / height,
                    )
                )
                title = wrapped(panel.title, int(width * TITLE_CHARACTERS_PER_IN), max_lines=2, placeholder="…")
                _panel(axes, panel, title, colours, _limits(rows, panel.axis))
            top -= row_in

    return draw("waterfall", "What each level of a ladder adds", description, height, fill)


def _limits(rows: Sequence[Sequence[Panel]], axis: str) -> tuple[float, float]:
    edges = [edge for row in rows for panel in row if panel.axis == axis for bar in panel.bars for edge in bar.edges]
    low, high = min(0.0, *edges), max(0.0, *edges)
    margin = (high - low or 1.0) * 0.03
    return low - margin, high + margin


def _panel(axes: Axes, panel: Panel, title: str, colours: Mapping[str, Colour], limits: tuple[float, float]) -> None:
    axes.set_xlim(*limits)
    axes.set_ylim(len(panel.bars) - 0.5, -0.5)
    axes.axvline(0, color=MUTED.light, linewidth=1, zorder=1.5)
    for row, bar in enumerate(panel.bars):
        _bar(axes, row, bar, INK.light if bar.level is None else colours[bar.level].light)
    axes.set_yticks(range(len(panel.bars)), [short(bar.label, LONGEST_LABEL) for bar in panel.bars])
    axes.tick_params(axis="y", labelcolor=INK.light)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}".replace("-", "\N{MINUS SIGN}")))
    axes.set_xlabel(panel.axis)
    # The title begins where the labels do.
    axes.annotate(title, (0, 1), (-LEFT_IN * 72 + 4, 10), "axes fraction", "offset points", weight="bold", fontsize=9.5)
    axes.spines[["left", "bottom"]].set_visible(False)
    quiet(axes, "x")


def _bar(axes: Axes, row: int, bar: Bar, colour: str) -> None:
    axes.annotate(bar.text, (1, row), (TEXT_POINTS, 0), axes.get_yaxis_transform(), "offset points", va="center")
    if bar.step is None:
        return
    looks = {"facecolor": colour, "alpha": 0.75} if bar.sure else {"facecolor": "none"}
    axes.barh(row, bar.step.mean, left=bar.start, height=0.6, edgecolor=colour, linewidth=1.1, zorder=2, **looks)
    low, high = ends(bar.step)
    axes.plot([bar.start + low, bar.start + high], [row, row], color=INK.light, linewidth=1.2, zorder=3)
    if bar.level is not None:
        # To the next step, which begins here.
        end = bar.start + bar.step.mean
        axes.plot([end, end], [row, row + 1], color=MUTED.light, linewidth=0.8, linestyle=(0, (2, 2)), zorder=1.8)
