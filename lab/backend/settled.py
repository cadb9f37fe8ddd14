"""Waiting until a backend has everything that was sent to it."""

from collections.abc import Callable

from lab.engine import Clock, wait_until

BOUND_S = 10.0
# A Collector holds spans for 0.2 s and then takes up to half a second to forward them.
QUIET_S = 1.0


def settled(read: Callable[[], int | None], clock: Clock) -> int | None:
    """Return a counter's value once two readings agree, or after a bound: batches may still arrive."""
    last = read()

    def same_again() -> bool:
        nonlocal last
        before, last = last, read()
        return before == last

    wait_until(same_again, BOUND_S, QUIET_S, clock)
    return last
