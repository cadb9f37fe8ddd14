"""An answer that is kept for a moment: however many browsers request it, it is found once."""

import time
from collections.abc import Callable
from typing import Generic, TypeVar

Found = TypeVar("Found")


class Kept(Generic[Found]):
    """The last answer, for `lasts_s`, and only to the same query."""

    def __init__(self, lasts_s: float, now_s: Callable[[], float] = time.monotonic) -> None:
        self._lasts_s = lasts_s
        self._now_s = now_s
        self._last: tuple[str, float, Found] | None = None

    def get(self, query: str, find: Callable[[], Found]) -> Found:
        """Return the answer to a query, found anew if the last one is to another, or old."""
        if self._last is None or self._last[0] != query or self._now_s() - self._last[1] >= self._lasts_s:
            self._last = query, self._now_s(), find()
        return self._last[2]
