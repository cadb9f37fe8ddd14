"""Single trials: a trace as a Gantt chart, and the order in which all trials were run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import MaxNLocator

from lab.report.numbers import TIMES, number, short
from lab.report.palette import BAND, MUTED, REJECTED, Colour, service_colours
from lab.report.svg import Margins, draw, name_rows, names_in, panels, quiet

LANE_IN = 0.24
ROW_IN = 0.2
FIRST_SPANS = 17
INDENT = "\u00a0" * 3
"""Spaces that SVG keeps."""


@dataclass(frozen=True)
class Span:
    """A span of the trace, times in milliseconds since the trace began; depth 0 is the root."""

    service: str
    kind: str
    start_ms: float
    duration_ms: float
    depth: int
    tags: int = 0

    @property
    def end_ms(self) -> float:
        """When it ended."""
        return self.start_ms + self.duration_ms


def gantt(name: str, spans: Sequence[Span], description: str) -> Markup:
    """Draw `spans`, which come in the tree's order: a parent before its children, siblings by start."""
    lanes = _lanes(spans)
    colours = service_colours(list(dict.fromkeys(span.service for span in spans)))
    first = spans[:FIRST_SPANS]
    zoom_ms = _zoom_ms(first)
    heights = (len(lanes) * LANE_IN, len(first) * ROW_IN)
    lane_names = [f"{short(service, 20)} {kind} ({len(spans)})" for (service, kind), spans in lanes.items()]
    row_names = [INDENT * span.depth + f"{short(span.service, 20)} {span.kind}" for span in first]
    margins = Margins(left=names_in([*lane_names, *row_names]), right=0.8, down=0.85)

    def fill(figure: Figure) -> None:
        whole, start = (row[0] for row in panels(figure, 2, 1, margins, height_ratios=heights))
        _overview(whole, lanes, lane_names, colours, zoom_ms)
        _start(start, first, row_names, colours, zoom_ms)

    return draw(name, "One trace as a Gantt chart", description, sum(heights) + margins.high + margins.down, fill)


def _lanes(spans: Sequence[Span]) -> Mapping[tuple[str, str], list[Span]]:
    lanes: dict[tuple[str, str], list[Span]] = {}
    for span in spans:
        lanes.setdefault((span.service, span.kind), []).append(span)
    return lanes


def _zoom_ms(first: Sequence[Span]) -> float:
    """Where the second panel ends: when the last to begin of the first spans has ended."""
    latest = max(first, key=lambda span: span.start_ms)
    return latest.end_ms * 1.02 if latest.end_ms > 0 else 1.0


def _sublanes(spans: Sequence[Span]) -> list[int]:
    """Place overlapping spans in sublanes: the first free one takes each."""
    ends: list[float] = []
    places = []
    for span in spans:
        free = next((index for index, end in enumerate(ends) if end <= span.start_ms), len(ends))
        ends[free : free + 1] = [span.end_ms]
        places.append(free)
    return places


def _overview(
    axes: Axes,
    lanes: Mapping[tuple[str, str], list[Span]],
    names: Sequence[str],
    colours: Mapping[str, Colour],
    zoom_ms: float,
) -> None:
    total = max(span.end_ms for spans in lanes.values() for span in spans)
    axes.axvspan(0, zoom_ms, color=BAND.light, linewidth=0, zorder=0)
    for row, ((service, _), members) in enumerate(lanes.items()):
        spans = sorted(members, key=lambda span: span.start_ms)
        places = _sublanes(spans)
        height = 0.74 / (max(places) + 1)
        for place in range(max(places) + 1):
            lane = [span for span, its_place in zip(spans, places, strict=True) if its_place == place]
            _bars(axes, lane, row - 0.37 + place * height, height, colours[service].light)
    axes.set_title("The complete trace: a lane per service and kind of span, with the number of spans")
    _finish(axes, names, total * 1.01)


def _start(
    axes: Axes, first: Sequence[Span], names: Sequence[str], colours: Mapping[str, Colour], zoom_ms: float
) -> None:
    for row, span in enumerate(first):
        _bars(axes, [span], row - 0.35, 0.7, colours[span.service].light)
        axes.annotate(
            f"{number(span.duration_ms)} ms",
            (1, row),
            (52, 0),
            axes.get_yaxis_transform(),
            "offset points",
            ha="right",
            va="center",
            fontsize=8,
        )
    axes.set_title(
        f"Its first {len(first)} spans (the shaded part above), a row each, indented by depth, with durations"
    )
    _finish(axes, names, zoom_ms)
    for label in axes.get_yticklabels():
        label.set_horizontalalignment("left")
    axes.tick_params(axis="y", pad=72 * names_in(names) - 9)


def _bars(axes: Axes, spans: Sequence[Span], top: float, height: float, colour: str) -> None:
    bars = [(span.start_ms, span.duration_ms) for span in spans]
    # An edge of the bar's own colour keeps a span visible that is narrower than a pixel.
    axes.broken_barh(bars, (top, height), facecolor=colour, edgecolor=colour, linewidth=0.4)


def _finish(axes: Axes, labels: Sequence[str], end_ms: float) -> None:
    name_rows(axes, labels)
    axes.set_ylim(len(labels) - 0.4, -0.6)
    axes.set_xlim(0, end_ms)
    axes.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 2.5, 5, 10]))
    axes.set_xlabel("ms since the trace began", color=MUTED.light)
    quiet(axes, "x")


CELL_IN = 0.42
MARGINS = Margins(left=0.75, right=0.05, top=0.5, bottom=0.05)
CHARACTER_IN = 0.085
ROOMY = 22
"""Letters of a cell that has room for a name and a number side by side."""
MOST_BESIDE = 8
"""With more positions than this side by side, their levels' names would be cut short."""


@dataclass(frozen=True)
class Cell:
    """A planned trial: what became of it (`valid`, `rejected` or `not run`), and how many attempts were rejected."""

    number: int
    block: int
    position: int
    level: str
    outcome: str
    rejected_attempts: int

    @property
    def remark(self) -> str:
        """What the cell says below the level's name, where all did not go well."""
        if self.outcome == "not run":
            return "not run"
        return f"rejected {TIMES}{self.rejected_attempts}" if self.rejected_attempts else ""


def order(cells: Sequence[Cell], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw the cells; what was rejected is hatched in red and says so in words."""
    blocks = sorted({cell.block for cell in cells})
    lines = [f"block {block + 1}" for block in blocks]
    places = [str(position + 1) for position in range(max(cell.position for cell in cells) + 1)]
    downwards = len(places) > MOST_BESIDE and len(lines) < len(places)
    across, down = (lines, places) if downwards else (places, lines)
    letters = int(MARGINS.wide(1) / len(across) / CHARACTER_IN)

    def fill(figure: Figure) -> None:
        axes = panels(figure, 1, 1, MARGINS)[0][0]
        for cell in cells:
            line, place = blocks.index(cell.block), cell.position
            corner = (line, place) if downwards else (place, line)
            _cell(axes, cell, corner, colours[cell.level].light, letters)
        axes.set_xlim(-0.01, len(across))
        axes.set_ylim(len(down), -0.05)
        axes.set_xticks([column + 0.5 for column in range(len(across))], across)
        axes.set_yticks([row + 0.5 for row in range(len(down))], down)
        axes.xaxis.tick_top()
        axes.xaxis.set_label_position("top")
        axes.set_xlabel(
            "time runs down, by position within the block, then to the right"
            if downwards
            else "position within the block (time runs to the right, then down)"
        )
        quiet(axes, "none")

    return draw("order", "Order of the trials", description, len(down) * CELL_IN + MARGINS.high, fill)


def _cell(axes: Axes, cell: Cell, corner: tuple[int, int], colour: str, letters: int) -> None:
    column, row = corner
    x, y, width, height = column + 0.02, row + 0.07, 0.96, 0.86
    if cell.outcome == "valid":
        axes.add_patch(Rectangle((x, y), width, height, facecolor=colour, alpha=0.22, linewidth=0))
    else:
        axes.add_patch(
            Rectangle((x, y), width, height, facecolor="none", edgecolor=REJECTED.light, hatch="///", alpha=0.35)
        )
    axes.add_patch(Rectangle((x, y), 0.035, height, facecolor=colour, linewidth=0))
    middle = y + height / 2
    roomy = letters >= ROOMY
    name_y = middle if roomy and not cell.remark else middle - 0.19
    # In a narrow cell the name has the line to itself, in small letters.
    name = short(cell.level, letters - 6 if roomy else max(4, round(letters * 9 / 7) - 1))
    axes.text(x + 0.06, name_y, name, ha="left", va="center", fontsize=9 if roomy else 7)
    number_y = name_y if roomy else middle + 0.22
    if roomy or not cell.remark:
        axes.text(x + width - 0.03, number_y, str(cell.number), ha="right", va="center", fontsize=8, color=MUTED.light)
    axes.text(x + 0.06, middle + 0.22, cell.remark, ha="left", va="center", fontsize=8, color=REJECTED.light)
