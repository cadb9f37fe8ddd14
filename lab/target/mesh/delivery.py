"""What reached the backend of a start: how many spans, and one trace beside what the topology predicts of it.

The trace is one that the backend still keeps after the load. It keeps few, and a service that fills no batch sends the
spans of seconds at once: where more requests are answered meanwhile than traces are kept, the oldest go, with all that
others had sent of them, and what is left of each is a rest. Then nothing is said of the trial's own traces. The
services are started once more and asked for fewer traces than are kept, none of which can go.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.backend import Backend
from lab.backend.http import Http
from lab.engine.clock import Clock, wait_until
from lab.engine.failure import StartFailed
from lab.record.files import write_json_atomic
from lab.record.trial import BackendRecord, DeliveryPart
from lab.target.mesh.predictions import trace_difference
from lab.target.mesh.sidecars.nodes import PORTS
from lab.target.mesh.spantree import Span
from lab.target.mesh.system import System
from lab.target.mesh.topology import Topology
from lab.target.mesh.variants import Traces

BOUND_S = 10.0
# A Collector holds what it got for 0.2 s before it passes it on, and that takes up to half a second more.
QUIET_S = 1.0
# Fewer than the 50 traces that a backend keeps; where one request in eight is sampled, one is missed in 200 times.
ASKED_AGAIN = 40


def delivered(system: System) -> DeliveryPart:
    """Return what the backend of a start received, after the services have ended.

    Writes `trace.json`. Raises the driver's errors, and `OSError` where the backend does not answer.
    """
    backend = system.backend
    if not backend.services:
        return DeliveryPart()
    accepted = _settled(backend.accepted_spans, system.place.clock)
    part = DeliveryPart(
        expected_spans_per_request=(
            system.topology.mean_spans_per_request() if system.telemetry.traces == "all" else None
        ),
        backend=BackendRecord(accepted_spans=accepted, counters=backend.counters()),
    )
    return part.model_copy(update=_traced(system, backend) if backend.keeps_traces else {})


def _traced(system: System, backend: Backend) -> dict[str, object]:
    """Keep one trace, and return the fields of `DeliveryPart` that say how it compares with the prediction."""
    topology, traces = system.topology, system.telemetry.traces
    longest = max(topology.routes(), key=topology.expected_spans)
    trace, spans, wrong = _look(topology, traces, backend)
    second_start = False
    if wrong and traces != "none" and len(spans) < topology.expected_spans(longest):
        try:
            _ask_again(system, longest)
        except (StartFailed, OSError) as error:
            # The trial was measured: it is kept, and refused.
            wrong = f"{wrong}; and no other could be asked for: {error}"
        else:
            _settled(backend.accepted_spans, system.place.clock)
            trace, spans, wrong = _look(topology, traces, backend)
            second_start = True
    if trace is not None:
        write_json_atomic(system.out / "trace.json", trace)
    return {"spans_in_trace": len(spans), "trace_difference": wrong, "trace_of_second_start": second_start}


def _look(
    topology: Topology, traces: Traces, backend: Backend
) -> tuple[Mapping[str, Any] | None, list[Span], str | None]:
    """The trace that the backend shows, its spans, and what is wrong with it."""
    trace: Mapping[str, Any] | None = backend.newest_trace()
    spans = list(trace["spans"]) if trace else []
    return trace, spans, trace_difference(topology, traces, spans)


def _ask_again(system: System, route: str) -> None:
    """Starts the services once more, and asks them so little that the backend keeps all of it whole."""
    driver, topology = system.driver, system.topology
    if topology.entry_protocol != "http":
        raise OSError("the lab itself does not speak gRPC")
    with _set_aside(system.out / "ready"):
        if proxies := system.sidecars:
            # They are in the network namespaces of services that have ended.
            driver.stop(list(proxies.values()))
        system.start()
        port = driver.published_port(topology.entry, PORTS["rest"])
        entry = Http(lambda _: port)
        for _ in range(ASKED_AGAIN):
            # Any answer will do: errors may be drawn.
            entry.ask("GET", "GATEWAY_PORT", f"/{route}")
        driver.stop(list(topology.nodes))


@contextmanager
def _set_aside(folder: Path) -> Iterator[None]:
    """Has the folder's files out of the way during the block, and those alone in it afterwards."""
    with TemporaryDirectory(dir=folder.parent) as aside:
        files = [path.rename(Path(aside, path.name)) for path in folder.iterdir()]
        try:
            yield
        finally:
            for path in folder.iterdir():
                path.unlink()
            for path in files:
                path.rename(folder / path.name)


def _settled(read: Callable[[], int | None], clock: Clock) -> int | None:
    """The counter's value once two readings agree, or after a bound: batches may still be on their way in."""
    last = read()

    def same_again() -> bool:
        nonlocal last
        before, last = last, read()
        return before == last

    wait_until(same_again, BOUND_S, QUIET_S, clock)
    return last
