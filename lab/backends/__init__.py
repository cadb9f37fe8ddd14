"""Where telemetry goes, seen from the lab: is it ready, what did it accept, what does one trace look like.

One module per backend, one row in `BACKENDS`. `absent` is the first implementation: a level without telemetry has it.
"""

from typing import Protocol

from lab.backends.absent import Absent
from lab.backends.jaeger import Jaeger


class Backend(Protocol):
    """One backend's outside. Methods that ask over HTTP raise `OSError` where it does not answer."""

    services: tuple[str, ...]
    """Compose services that make up the backend."""

    def ready(self) -> bool:
        """Whether it takes spans by now."""

    def accepted_spans(self) -> int | None:
        """Spans taken since it started; None where there is nothing to take them."""

    def newest_trace(self) -> dict[str, object] | None:
        """A finished trace in the form of `trace.json`; None where there is none."""

    def pages(self) -> list[str]:
        """Addresses to look at while `lab up` runs."""


BACKENDS: dict[str, type[Backend]] = {"none": Absent, "jaeger": Jaeger}
