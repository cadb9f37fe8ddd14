"""Time as a dependency: tests replace it and do not wait."""

import time
from collections.abc import Callable
from typing import Protocol

from typing_extensions import override


class Clock(Protocol):
    """Monotonic time, and waiting."""

    def now_s(self) -> float:
        """Seconds since a fixed moment."""

    def sleep(self, seconds: float) -> None:
        """Returns after `seconds`."""


class SystemClock(Clock):
    """The machine's monotonic clock."""

    @override
    def now_s(self) -> float:
        return time.monotonic()

    @override
    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


def wait_until(condition: Callable[[], bool], bound_s: float, every_s: float, clock: Clock) -> bool:
    """Checks `condition` every `every_s` until it holds (True) or `bound_s` have passed (False)."""
    end_s = clock.now_s() + bound_s
    while not condition():
        if clock.now_s() >= end_s:
            return False
        clock.sleep(every_s)
    return True
