"""Something that is done at its times while the lab waits for something else, such as a load."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Wait = Callable[[float], bool]
"""Waits for that many seconds; returns false, perhaps earlier, if nothing more is wanted."""


@contextmanager
def beside(play: Callable[[Wait], None], name: str) -> Iterator[None]:
    """Plays in a thread while the block runs. When the block ends, also by an error, waiting returns false.

    Raises an error of `play` if the block itself succeeded.
    """
    stop, errors = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            play(lambda seconds: not stop.wait(seconds))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name=name)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
    if errors:
        raise errors[0]
