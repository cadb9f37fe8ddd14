"""Blocks that Ctrl-C, SIGTERM and a closed terminal do not cut in two."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def uninterrupted(interruption: Callable[[], BaseException] = KeyboardInterrupt) -> Iterator[None]:
    """Holds these signals back until the block has ended, and raises the `interruption` then."""
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in _heeded()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise interruption()


def interrupt_by_signals() -> None:
    """Makes each of these signals raise `KeyboardInterrupt`."""
    for number in _heeded():
        signal.signal(number, signal.default_int_handler)


def ignore_signals() -> None:
    """Ignores these signals from here on: what follows cleans up, and another one would leave a part."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _heeded() -> list[signal.Signals]:
    """Return those that are not ignored, as `nohup` and background jobs of a shell do."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]
