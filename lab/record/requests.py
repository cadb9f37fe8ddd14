"""`requests.csv`: what the load generator sent."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lab.errors import UserError
from lab.record.files import FIX_HINT, VERSION_HINT, complete_lines, read_text
from lab.record.series import IntArray

REQUESTS_FIRST_LINE = "# tollbooth.requests v1"


REQUESTS_COLUMNS = ("user", "target", "intended_ns", "start_ns", "end_ns", "status", "bytes")


@dataclass(frozen=True)
class Requests:
    """`requests.csv`, a column each, in order of ending. `truncated`: as in `Counters`."""

    user: IntArray
    target: NDArray[np.str_]
    intended_ns: IntArray
    start_ns: IntArray
    end_ns: IntArray
    status: IntArray
    bytes: IntArray
    truncated: bool

    def __len__(self) -> int:
        return len(self.end_ns)

    def first_start_ns(self) -> int:
        """Return when the first request started; 0 where there is none."""
        return int(self.start_ns.min()) if len(self) else 0

    def last_end_ns(self) -> int:
        """Return when the last request ended; 0 where there is none."""
        return int(self.end_ns.max()) if len(self) else 0

    def served_in(self, start_ns: int, end_ns: int) -> float:
        """Return how many requests were served from `start_ns` to `end_ns`, each by the share of its time inside.

        Counting those that ended would give a window all the work of a request that began before it, and none of one
        that ends after it: with few users that is several percent of a short window's requests.
        """
        inside_ns = np.minimum(self.end_ns, end_ns) - np.maximum(self.start_ns, start_ns)
        return float(np.sum(np.maximum(inside_ns, 0) / np.maximum(self.end_ns - self.start_ns, 1)))

    def ended_in(self, start_ns: int, end_ns: int) -> "Requests":
        """Return the requests that ended from `start_ns` until before `end_ns`."""
        return self._where((self.end_ns >= start_ns) & (self.end_ns < end_ns))

    def started_since(self, start_ns: int) -> "Requests":
        """Return the requests that were sent at `start_ns` or later."""
        return self._where(self.start_ns >= start_ns)

    def _where(self, mask: NDArray[np.bool_]) -> "Requests":
        return replace(self, **{name: getattr(self, name)[mask] for name in REQUESTS_COLUMNS})


def read_requests(path: Path) -> Requests:
    """Read `requests.csv`."""
    return parse_requests(read_text(path), str(path))


def parse_requests(text: str, source: str) -> Requests:
    """Parse the load generator's CSV; errors name `source` and line."""
    lines, truncated = complete_lines(text)
    if len(lines) < 2 or lines[0] != REQUESTS_FIRST_LINE or lines[1] != ",".join(REQUESTS_COLUMNS):
        raise UserError(f"{source} does not begin with '{REQUESTS_FIRST_LINE}' and its header", VERSION_HINT)
    rows = []
    for number, line in enumerate(lines[2:], start=3):
        try:
            user, target, *numbers = line.split(",")
            intended, start, end, status, size = map(int, numbers)
            rows.append((int(user), target, intended, start, end, status, size))
        except ValueError as error:
            raise UserError(f"{source}, line {number}: not a request ({error})", FIX_HINT) from error
    columns = dict(zip(REQUESTS_COLUMNS, zip(*rows, strict=True), strict=True)) if rows else {}
    arrays = {name: np.array(columns.get(name, ()), dtype=np.int64) for name in REQUESTS_COLUMNS if name != "target"}
    return Requests(target=np.array(columns.get("target", ()), dtype=np.str_), truncated=truncated, **arrays)


def join_requests(paths: Sequence[Path], joined: Path) -> None:
    """Write the requests of several files, one after the other, as one."""
    rows = [line for path in paths for line in complete_lines(read_text(path))[0][2:]]
    joined.write_text("\n".join([REQUESTS_FIRST_LINE, ",".join(REQUESTS_COLUMNS), *rows, ""]))


def answered(path: Path) -> int:
    """Return how many requests of a `requests.csv` that is still written were answered so far."""
    return max(0, len(_lines(path)) - 2)


def newest_end_ns(path: Path) -> int:
    """Return when the newest answer of a `requests.csv` that is still written had come; 0 before the first."""
    written = _lines(path)
    return int(written[-1].split(",")[REQUESTS_COLUMNS.index("end_ns")]) if len(written) > 2 else 0


def _lines(path: Path) -> list[str]:
    """Return the complete lines that were written so far; none before the load began."""
    return complete_lines(path.read_text())[0] if path.exists() else []
