"""Where labels go so that none covers another."""

from collections.abc import Sequence


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
