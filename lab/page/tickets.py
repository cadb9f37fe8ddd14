"""One-time addresses of reports: a frame cannot send the token, so it gets a ticket in its address."""

import secrets
import threading
import time
from collections.abc import Callable
from pathlib import Path

GOOD_FOR_S = 60.0
MOST = 100


class Tickets:
    """Tickets that were given out and not used. From several threads."""

    def __init__(self, now_s: Callable[[], float] = time.monotonic) -> None:
        self._now_s = now_s
        self._lock = threading.Lock()
        self._given: dict[str, tuple[float, Path]] = {}

    def give(self, path: Path) -> str:
        """Return a new ticket for a file."""
        ticket = secrets.token_hex(16)
        with self._lock:
            self._given[ticket] = self._now_s(), path
            while len(self._given) > MOST:
                del self._given[next(iter(self._given))]
        return ticket

    def take(self, ticket: str) -> Path | None:
        """Return the file of a ticket, which is used up; None if it is too old, was used, or never was."""
        with self._lock:
            given_s, path = self._given.pop(ticket, (0.0, None))
        return path if path is not None and self._now_s() - given_s < GOOD_FOR_S else None
