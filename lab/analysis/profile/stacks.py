"""Collapsed stacks: the text that async-profiler writes, a line `thread;frame;...;frame count` for each stack."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.errors import UserError

FIX_HINT = "it was cut or changed after it was written: delete the profile's folder, the rest of the run stays as it is"

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
    total: Counter[Stack] = Counter()
    for part in parts:
        total.update(part)
    return total
