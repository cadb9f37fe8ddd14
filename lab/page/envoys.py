"""What the Envoys of a system count, read from their administration pages."""

import http.client
import time
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import quote

from lab.errors import UserError
from lab.page.figures import Figures, Reading, of_readings, reading
from lab.spec.example import Counted

# One that is frozen or cut off must not hold up the others.
ANSWERS_WITHIN_S = 1.0
STATS = "/stats?format=json&filter=" + quote(r"^cluster\..*\.upstream_rq_(total|5xx|time)$")

PublishedPort = Callable[[str, int], int]
"""`Driver.published_port`."""


class Envoys:
    """The Envoys of one system, and what each said last."""

    def __init__(self, published_port: PublishedPort, read: Callable[[int], str] | None = None) -> None:
        self._published_port = published_port
        self._read = read or read_stats
        self._ports: dict[tuple[str, int], int] = {}
        self._before: dict[Counted, Reading] = {}

    def figures(self, wanted: Sequence[Counted]) -> Mapping[Counted, Figures]:
        """Return what passed since the last call; an Envoy that does not answer is left out."""
        found: dict[Counted, Figures] = {}
        for container, port in dict.fromkeys((counted.container, counted.port) for counted in wanted):
            stats = self._stats(container, port)
            for counted in wanted:
                if stats is not None and (counted.container, counted.port) == (container, port):
                    found[counted] = self._since(counted, stats)
        return found

    def _since(self, counted: Counted, stats: str) -> Figures:
        now = reading(stats, counted.prefix, counted.statuses, time.monotonic())
        before, self._before[counted] = self._before.get(counted), now
        return of_readings(before, now)

    def _stats(self, container: str, port: int) -> str | None:
        key = container, port
        try:
            if key not in self._ports:
                self._ports[key] = self._published_port(container, port)
            return self._read(self._ports[key])
        except (OSError, http.client.HTTPException, UserError, LookupError):
            # The engine chooses another port when its container starts again.
            self._ports.pop(key, None)
            return None


def read_stats(port: int) -> str:
    """Return the counters of the Envoy at a port. Raises `OSError` or `HTTPException` without an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=ANSWERS_WITHIN_S)
    try:
        connection.request("GET", STATS)
        answer = connection.getresponse()
        if answer.status != http.client.OK:
            raise OSError(f"Envoy answered with {answer.status}")
        return answer.read().decode()
    finally:
        connection.close()
