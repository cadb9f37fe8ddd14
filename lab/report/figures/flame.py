"""A differential flame graph: boxes as wide as a level's CPU time per request, coloured by what of it is added.

Its root is on top and the code that ran at the bottom. Unlike the other figures it is written as SVG directly: each box
carries a title that browsers show when the pointer is on it, which needs no script.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from markupsafe import Markup

from lab.analysis.profile.compare import Box, Pair
from lab.report.numbers import Scale, fixed, signed
from lab.report.palette import BAND, INK, MUTED, OTHERS, PAPER, WORSE

WIDTH = 1056
"""In the SVG's own unit, which is a CSS pixel where the page is as wide as its column."""
HEAD, ROW, TEXT = 34, 17, 11
LETTER = 0.6 * TEXT
"""How wide a letter is, on average at most."""
FEWEST_LETTERS = 4
SMALLEST = 0.003
"""Boxes below this share of the total are drawn as one without a name."""
MOST_ROWS = 40
"""What is below is not drawn: stacks go through some twenty libraries, a recursion between two through any number."""
MORE, LESS = WORSE, OTHERS[0]
PALEST, DEEPEST = 0.1, 0.7
REST = "…"
MS = Scale("ms", 1, 2)
METHODS_SHOWN = 4


@dataclass(frozen=True)
class Placed:
    """A box and where it is drawn."""

    box: Box
    row: int
    left: float
    width: float


def flame(name: str, root: Box, title: str, description: str) -> Markup:
    """Draw both profiles' tree; `name` is unique on the page, `description` is what a screen reader says."""
    placed = list(_placed(root, 0, 0.0, WIDTH / root.cost.level.ms, SMALLEST * root.cost.level.ms))
    height = HEAD + ROW * (1 + max(one.row for one in placed))
    body = "".join((*_head(root.cost.level.ms), *(_drawn(one) for one in placed)))
    return Markup(
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-size="{TEXT}" '
        f'aria-labelledby="{name}-title {name}-description"><title id="{name}-title">{escape(title)}</title>'
        f'<desc id="{name}-description">{escape(description)}</desc>{body}</svg>'
    )


def _placed(box: Box, row: int, left: float, per_ms: float, smallest_ms: float) -> Iterator[Placed]:
    yield Placed(box, row, left, box.cost.level.ms * per_ms)
    for child in _children(box, smallest_ms) if row + 1 < MOST_ROWS else ():
        yield from _placed(child, row + 1, left, per_ms, smallest_ms)
        left += child.cost.level.ms * per_ms


def _children(box: Box, smallest_ms: float) -> Sequence[Box]:
    """Return the boxes below one by their names, the small ones last and as one."""
    ordered = sorted(box.children.values(), key=lambda child: child.name)
    large = [child for child in ordered if child.cost.level.ms >= smallest_ms]
    rest = Box(REST)
    for child in ordered:
        if child.cost.level.ms < smallest_ms:
            rest.cost += child.cost
    return [*large, rest] if rest.cost.level.ms >= smallest_ms else large


def _drawn(placed: Placed) -> str:
    box, top = placed.box, HEAD + placed.row * ROW
    colour, opacity = _fill(box.cost)
    label = _label(box.name, int((placed.width - 6) / LETTER))
    text = f'<text x="{placed.left + 3:.1f}" y="{top + 12.5}" fill="var({INK.variable})">{escape(label)}</text>'
    return (
        f"<g><title>{escape(_said(box))}</title>"
        f'<rect x="{placed.left:.1f}" y="{top}" width="{max(placed.width, 0.5):.1f}" height="{ROW}" '
        f'fill="var({colour})" fill-opacity="{opacity:.2f}" stroke="var({PAPER.variable})" stroke-width="0.8"/>'
        f"{text if label else ''}</g>"
    )


def _fill(cost: Pair) -> tuple[str, float]:
    """Choose a colour: the deeper, the larger a share of the box the level adds, or of the baseline's it saves."""
    if not cost.sure:
        return BAND.variable, 1.0
    added = cost.added.ms
    colour, whole = (MORE, cost.level.ms) if added > 0 else (LESS, cost.baseline.ms)
    return colour.variable, PALEST + (DEEPEST - PALEST) * min(1.0, abs(added) / whole)


def _label(name: str, letters: int) -> str:
    """Shorten a name to so many letters: packages to their first letters from the left, then the end is cut off."""
    if letters < FEWEST_LETTERS:
        return ""
    parts = name.split(".")
    for index in range(len(parts) - 1):
        if len(".".join(parts)) <= letters:
            break
        parts[index] = parts[index][:1]
    label = ".".join(parts)
    return label if len(label) <= letters else label[: letters - 1] + "…"


def _said(box: Box) -> str:
    """Return what the pointer shows of a box."""
    cost = box.cost
    lines = [
        box.name if box.name != REST else "smaller ones together",
        f"{fixed(cost.level.ms, 2)} ms of CPU per request, baseline {fixed(cost.baseline.ms, 2)} ms",
        f"{signed(cost.added.ms, MS)} ms (±{fixed(cost.added.margin_ms, 2)} from sampling)",
    ]
    ran = sorted(box.methods.items(), key=lambda item: (-item[1].level.ms, item[0]))
    shown = [f"{name} {fixed(pair.level.ms, 2)} ms" for name, pair in ran[:METHODS_SHOWN] if pair.level.ms > 0]
    return "\n".join([*lines, *(["ending here, most of all:", *shown] if shown else [])])


def _head(total_ms: float) -> Iterator[str]:
    """Draw the scale at the left and what the colours mean at the right."""
    bar_ms = _round_below(total_ms / 8)
    bar = bar_ms * WIDTH / total_ms
    ink, muted = f"var({INK.variable})", f"var({MUTED.variable})"
    yield f'<path d="M0.5 8 V16 M0.5 12 H{bar:.1f} M{bar:.1f} 8 V16" fill="none" stroke="{ink}"/>'
    yield f'<text x="{bar + 8:.1f}" y="16" fill="{muted}">{bar_ms:g} ms of CPU per request</text>'
    meanings = (
        (LESS.variable, DEEPEST, "less than at the baseline"),
        (BAND.variable, 1.0, "no difference beyond sampling"),
        (MORE.variable, (PALEST + DEEPEST) / 2, "half of it added"),
        (MORE.variable, DEEPEST, "all of it added"),
    )
    left = WIDTH - sum(30 + LETTER * 0.9 * len(text) for _, _, text in meanings)
    for colour, opacity, text in meanings:
        yield (
            f'<rect x="{left:.1f}" y="6" width="12" height="12" fill="var({colour})" fill-opacity="{opacity:.2f}"/>'
            f'<text x="{left + 17:.1f}" y="16" fill="{muted}">{text}</text>'
        )
        left += 30 + LETTER * 0.9 * len(text)


def _round_below(value: float) -> float:
    """Return the largest of 1, 2 and 5 times a power of ten that is not above `value`."""
    power = 10.0**-9
    while power * 10 <= value:
        power *= 10
    return max(step * power for step in (1, 2, 5) if step * power <= value)
