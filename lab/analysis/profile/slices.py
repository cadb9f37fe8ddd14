"""The profiler writes a file every few seconds, so that those of the window can be separated from start and warm-up."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

# At least so many in a window: what is lost at its edges, one slice on average, then stays below a fifth.
SLICES_PER_WINDOW = 5


@dataclass(frozen=True)
class Slice:
    """A file with what was sampled from `start_ns` to `end_ns` (Unix time of the kernel that the containers run on)."""

    path: Path
    start_ns: int
    end_ns: int


def slice_s(window_s: float) -> int:
    """Return how many seconds a slice is to last: whole seconds, as the profiler requires."""
    return max(1, int(window_s // SLICES_PER_WINDOW))


def slices(folder: Path, node: str) -> list[Slice]:
    """Return a node's slices in their order; one begins where the one before it was written.

    The first is left out: the profiler does not say when it began.
    """
    written = sorted((path.stat().st_mtime_ns, path) for path in folder.glob(f"{node}.*.collapsed"))
    return [Slice(path, start_ns, end_ns) for (start_ns, _), (end_ns, path) in pairwise(written)]


def within(found: Sequence[Slice], start_ns: int, end_ns: int) -> list[Slice]:
    """Return the slices that lie in a window with all that they hold."""
    return [one for one in found if one.start_ns >= start_ns and one.end_ns <= end_ns]
