"""Values of Envoy's runtime that change while a level is measured, and the exports that are counted meanwhile."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TextIO

from lab.engine import Clock, Wait

RECORD = "exports.jsonl"
HEADER = {"format": "tollbooth.exports", "version": 1}
EVERY_S = 1.0
# After the change, to see when it takes effect.
SOON_S, SOON_EVERY_S = 2.0, 0.1


@dataclass(frozen=True)
class Changing:
    """A change of a running Envoy. `make` makes it, `counted` returns the exports so far and the spans in them.

    `now_ns` is Unix time as the containers see it. Readings go to `path`.
    """

    make: Callable[[], None]
    counted: Callable[[], Mapping[str, int]]
    clock: Clock
    now_ns: Callable[[], int]
    path: Path

    def play(self, change_s: float, wait: Wait) -> None:
        """Make the change at `change_s` by the clock. Read counters before and after, until `wait` returns false."""
        # By lines: whoever looks on sees each reading.
        with self.path.open("w", buffering=1) as file:
            file.write(f"{json.dumps(HEADER)}\n")
            if self._read(times_before(self.clock.now_s(), change_s), 0, file, wait):
                self.make()
                self._read(times_after(change_s), 1, file, wait)

    def _read(self, times: Iterable[float], changes: int, file: TextIO, wait: Wait) -> bool:
        """Read counters at each of the times; return false if nothing more is wanted."""
        for due_s in times:
            if not wait(max(0.0, due_s - self.clock.now_s())):
                return False
            reading = {"t_ns": self.now_ns(), **self.counted(), "changes": changes}
            file.write(f"{json.dumps(reading)}\n")
        return True


def times_before(start_s: float, change_s: float) -> Iterator[float]:
    """Yield when counters are read before a change: at once, then each second, and right before it."""
    yield start_s
    for number in range(int((change_s - start_s) / EVERY_S), -1, -1):
        if change_s - number * EVERY_S > start_s:
            yield change_s - number * EVERY_S


def times_after(change_s: float) -> Iterator[float]:
    """Yield when counters are read after a change: right after it, soon and often, then each second."""
    yield from (change_s + number * SOON_EVERY_S for number in range(round(SOON_S / SOON_EVERY_S)))
    yield from (change_s + SOON_S + number * EVERY_S for number in count())
