"""The order in which the trials were run: a line per block, a cell per position, laid where there is more room."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from lab.report.numbers import TIMES, short
from lab.report.palette import MUTED, REJECTED, Colour
from lab.report.svg import Margins, draw, panels, quiet

ROW_IN = 0.42
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
        axes.spines[["left", "bottom"]].set_visible(False)
        quiet(axes, "none")

    return draw("order", "Order of the trials", description, len(down) * ROW_IN + MARGINS.high, fill)


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
