"""`speed.jsonl`: what the spinner measured of the machine's speed."""

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lab.errors import UserError
from lab.record.files import FIX_HINT, check_format, complete_lines, json_object, json_objects, read_text
from lab.record.series import Series


@dataclass(frozen=True)
class SpinnerThread:
    """One thread of `speed.jsonl`: steps through its ring, and the time that they took."""

    steps: Series
    steps_ns: Series


def read_speed(path: Path) -> list[SpinnerThread]:
    """Read `speed.jsonl`."""
    return parse_speed(read_text(path), str(path))


def parse_speed(text: str, source: str) -> list[SpinnerThread]:
    """Parse the spinner's JSON Lines; errors name `source` and line. A last line that is not whole is left out."""
    lines, _ = complete_lines(text)
    if not lines:
        raise UserError(f"{source} is empty", FIX_HINT)
    check_format(json_object(lines[0], f"{source}, line 1"), "tollbooth.speed", 1, source)
    threads: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, data in enumerate(json_objects(lines[1:], source), start=2):
        try:
            threads[data["thread"]].append((data["t_ns"] + 0, data["steps"] + 0, data["steps_ns"] + 0))
        except (KeyError, TypeError) as error:
            raise UserError(f"{source}, line {number}: not a spinner's record ({error})", FIX_HINT) from error
    tables = (np.array(rows, dtype=np.int64).T for rows in threads.values())
    return [SpinnerThread(Series(t_ns, steps), Series(t_ns, steps_ns)) for t_ns, steps, steps_ns in tables]
