"""Blocks that Ctrl-C and SIGTERM do not cut in two."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager

SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Holds Ctrl-C and SIGTERM back until the block has ended, and raises `KeyboardInterrupt` then."""
    came: list[int] = []
    before = {number: signal.signal(number, lambda number, _: came.append(number)) for number in SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


def ignore_signals() -> None:
    """Ignores Ctrl-C and SIGTERM from here on: what follows cleans up, and another signal would leave a part."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
