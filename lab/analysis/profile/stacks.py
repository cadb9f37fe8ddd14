"""What async-profiler writes: collapsed stacks, a line `thread;frame;...;frame count` for each stack.

It writes a file every few seconds, so that those of the window can be separated from start and warm-up.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from lab.errors import UserError

FIX_HINT = "it was cut or changed after it was written: delete the profile's folder, the rest of the run stays as it is"

# At least so many in a window: what is lost at its edges, one slice on average, then stays below a fifth.
SLICES_PER_WINDOW = 5

Stack = tuple[str, ...]
"""The thread, then frames from the outermost to the one that ran."""

Stacks = Mapping[Stack, int]
"""How many samples were taken of each stack."""


def parse_collapsed(text: str, source: str) -> Counter[Stack]:
    """Read collapsed stacks; raises `UserError` that names `source` and the line that is none."""
    found: Counter[Stack] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        # A frame's name may hold spaces.
        stack, _, count = line.rpartition(" ")
        if not stack or not count.isdecimal():
            raise UserError(f"{source}, line {number}: not a collapsed stack", FIX_HINT)
        found[tuple(stack.split(";"))] += int(count)
    return found


def read_collapsed(path: Path) -> Counter[Stack]:
    """Read a file of collapsed stacks; raises `UserError` where it is missing or broken."""
    try:
        return parse_collapsed(path.read_text(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}", FIX_HINT) from error


def collapsed(stacks: Stacks) -> str:
    """Return the text that `parse_collapsed` reads, which flame graph tools read too; sorted, so that it is stable."""
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(stacks.items()))


def added_up(parts: Iterable[Stacks]) -> Counter[Stack]:
    """Return the samples of all parts together."""
    return sum((Counter(part) for part in parts), Counter[Stack]())


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
