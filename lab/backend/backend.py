"""The interface of a telemetry backend, and what is the same for all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from lab.backend.http import Http
from lab.engine import Clock, ports, wait_until

SETTLED_BOUND_S = 10.0
# A Collector holds spans for 0.2 s and then takes up to half a second to forward them.
QUIET_S = 1.0

# As `trace.json` has it; each of its spans also has `error`.
Trace = Mapping[str, Any]


class Backend:
    """One telemetry backend; this one is none. Methods that send it a request raise `OSError` without an answer.

    `port` returns the number of a port's variable; by default the numbers of a system that runs alone.
    """

    services: tuple[str, ...] = ()
    """Compose services that make up the backend."""

    images: tuple[str, ...] = ()
    """The images of these services: keys of the table of images."""

    endpoints: tuple[str, ...] = ()
    """Those of the services that take spans in each other's place, before the others. Each is scraped."""

    keeps_traces: bool = False
    """Whether it accepts spans, and keeps traces that can be read."""

    takes: Mapping[str, int] = {}
    storage: Mapping[str, str] = {}
    """For the target `store`: the port of each transport, and the variables that limit what it keeps.

    Their values may have {heap_mib}, {max_traces}, {max_spans} and {cpus} in them. Without any it is no store.
    """

    health: tuple[str, str] | None = None
    """The port's variable and the path that answer once it accepts telemetry; None if there is nothing to wait for."""

    page: tuple[str, str] | None = None
    """The port's variable and the path of its page, if it has one."""

    def __init__(self, port: Callable[[str], int] = ports.port) -> None:
        self.http = Http(port)

    def files(self, nodes: Iterable[str], environment: Mapping[str, str]) -> dict[str, str]:
        """Files that it needs in a trial's folder before the containers are created: path within it -> text.

        `environment` is the variant's for every service. Raises `UserError` if a needed variable is missing.
        """
        return {}

    def ready(self) -> bool:
        """Whether it accepts telemetry."""
        return self.health is None or self.http.answers(*self.health)

    def accepted_spans(self) -> int | None:
        """Spans accepted since its start; None if it accepts none at all."""
        return round(self.counters()["accepted_spans"]) if self.keeps_traces else None

    def counters(self) -> dict[str, float]:
        """Its own counters since its start, by name (backends/README.md); empty if it has none."""
        return {}

    def newest(self, service: str, limit: int) -> list[Trace]:
        """The newest traces of a service, at most so many, of the last hour; empty if it shows none."""
        return []

    def traces(self, ids: Sequence[str]) -> list[Trace]:
        """Those of at most 100 traces that it keeps, by their IDs; empty if it finds none so."""
        return []

    def newest_trace(self, entry: str) -> Trace | None:
        """A finished trace in the form of `trace.json`, with the most spans, which shows any extra span; or None.

        `entry`: the service in which traces begin.
        """
        found = max(self.newest(entry, 50), key=lambda trace: len(trace["spans"]), default=None)
        return found and {**found, "spans": [{k: span[k] for k in span if k != "error"} for span in found["spans"]]}

    def pages(self) -> list[str]:
        """Addresses of its pages for `lab up`."""
        return [f"{self.http.url(*self.page)} ({self.services[-1]})"] if self.page else []


def settled(read: Callable[[], int | None], clock: Clock, quiet_s: float = QUIET_S) -> int | None:
    """Return a counter's value once it was the same for `quiet_s`, or after a bound: batches may still arrive."""
    last: int | None = None

    def same_again() -> bool:
        nonlocal last
        before, last = last, read()
        return before == last

    wait_until(same_again, max(SETTLED_BOUND_S, 3 * quiet_s), quiet_s, clock)
    return last


def record(trace_id: str, spans: Iterable[dict[str, object]]) -> dict[str, Any]:
    """A trace as `trace.json` has it."""
    return {"format": "tollbooth.trace", "version": 1, "trace_id": trace_id, "spans": list(spans)}
