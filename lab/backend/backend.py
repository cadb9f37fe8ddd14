"""The interface of a telemetry backend."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from lab.backend.http import Http
from lab.engine import ports


class Backend(Protocol):
    """One telemetry backend. Methods that send it a request raise `OSError` without an answer.

    `port` returns the number of a port's variable; by default the numbers of a system that runs alone.
    """

    services: tuple[str, ...]
    """Compose services that make up the backend."""

    images: tuple[str, ...]
    """The images of these services: keys of the table of images."""

    keeps_traces: bool = False
    """Whether it keeps traces that can be read."""

    http: Http
    """Sends requests to it."""

    def __init__(self, port: Callable[[str], int] = ports.port) -> None:
        self.http = Http(port)

    def files(self, nodes: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
        """Files that it needs in a trial's folder before the containers are created: path within it -> text.

        `environment` is the variant's for every service. Raises `UserError` if a needed variable is missing.
        """
        return {}

    def ready(self) -> bool:
        """Whether it accepts telemetry."""

    def accepted_spans(self) -> int | None:
        """Spans accepted since its start; None if it accepts none at all."""
        return None

    def counters(self) -> dict[str, float]:
        """Its own counters since its start, by name (backends/README.md); empty if it has none."""
        return {}

    def newest_trace(self) -> dict[str, object] | None:
        """A finished trace in the form of `trace.json`; None if there is none."""
        return None

    def pages(self) -> list[str]:
        """Addresses of its pages for `lab up`."""
        return []
