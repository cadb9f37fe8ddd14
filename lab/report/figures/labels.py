"""Where labels go so that none covers another."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes

from lab.report.numbers import short
from lab.report.palette import Colour

LABEL_IN = 0.165
"""A label's height with the space around it."""
LEADER_IN = 0.25
"""Distance of the labels from the axes."""
LONGEST_LABEL = 20


def label_ends(
    axes: Axes, ends: Mapping[str, tuple[float, float]], colours: Mapping[str, Colour], size_in: tuple[float, float]
) -> None:
    """Name lines to the right of the axes, each joined to where it ends; `size_in` is that of the axes."""
    width_in, height_in = size_in
    (left, right), (bottom, top) = axes.get_xlim(), axes.get_ylim()
    places = spread([y for _, y in ends.values()], (top - bottom) * LABEL_IN / height_in)
    # Across in shares of the axes' width, along in data.
    beside, stand = axes.get_yaxis_transform(), 1 + LEADER_IN / width_in
    for (name, (x, y)), label_y in zip(ends.items(), places, strict=True):
        across = [(x - left) / (right - left), stand - 0.02 / width_in]
        colour = colours[name].light
        axes.plot(across, [y, label_y], color=colour, linewidth=0.8, transform=beside, clip_on=False)
        axes.text(stand, label_y, short(name, LONGEST_LABEL), transform=beside, va="center")


def spread(wanted: Sequence[float], gap: float) -> list[float]:
    """Move positions apart until neighbours are at least `gap` from each other, each as near as it can be.

    Labels that touch become one block, centred on what its members wanted (pool adjacent violators).
    """
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    blocks: list[list[int]] = []
    for index in order:
        blocks.append([index])
        while len(blocks) > 1 and _bottom(blocks[-1], wanted, gap) < _bottom(blocks[-2], wanted, gap) + gap * len(
            blocks[-2]
        ):
            blocks[-2:] = [blocks[-2] + blocks[-1]]
    placed = [0.0] * len(wanted)
    for block in blocks:
        for step, index in enumerate(block):
            placed[index] = _bottom(block, wanted, gap) + step * gap
    return placed


def _bottom(block: Sequence[int], wanted: Sequence[float], gap: float) -> float:
    return sum(wanted[index] for index in block) / len(block) - gap * (len(block) - 1) / 2
