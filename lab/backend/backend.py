"""What the lab asks of a backend, whichever it is."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

from lab.backend.http import Http
from lab.engine import ports


class Backend(Protocol):
    """One backend's outside; an implementation says what it has. Methods that ask raise `OSError` for no answer.

    `port` says which number stands behind a port's variable; by itself as it is where one system stands alone.
    """

    services: tuple[str, ...]
    """Compose services that make up the backend."""

    images: tuple[str, ...]
    """The images that these services are started from: keys of the table of images."""

    keeps_traces: bool = False
    """Whether it can be asked for a trace."""

    http: Http
    """Asks it."""

    def __init__(self, port: Callable[[str], int] = ports.port) -> None:
        self.http = Http(port)

    def files(self, nodes: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
        """What has to be in a trial's folder before the containers are created: path within it -> text.

        `environment` is what the variant gives to every service. Raises `UserError` where it lacks what is needed.
        """
        return {}

    def ready(self) -> bool:
        """Whether it takes telemetry by now."""

    def accepted_spans(self) -> int | None:
        """Spans taken since it started; None where there is nothing to take them."""
        return None

    def counters(self) -> dict[str, float]:
        """What it counted itself since it started, by name (backends/README.md); nothing that it does not say."""
        return {}

    def newest_trace(self) -> dict[str, object] | None:
        """A finished trace in the form of `trace.json`; None where there is none."""
        return None

    def pages(self) -> list[str]:
        """Addresses to look at while `lab up` runs."""
        return []
