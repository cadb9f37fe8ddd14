"""What reached the backend of a start: the number of spans, and one trace compared with the topology's prediction.

The trace is one that the backend still keeps after the load. It keeps few. A service that fills no batch sends spans
only every few seconds, and if more requests than kept traces end in this time, each kept trace is a fragment. A
fragment says nothing about the trial. The services are then started a second time, with fewer requests than the
backend keeps traces: these are complete.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab.backend import Backend, Http, settled
from lab.engine import StartFailed
from lab.fault.kinds.killed import Killed
from lab.record import BackendRecord, DeliveryPart, write_json_atomic
from lab.target.mesh.sidecars.nodes import PORTS
from lab.target.mesh.spantree import Span, difference
from lab.target.mesh.system import System
from lab.target.mesh.topology import Topology
from lab.target.mesh.variants import Traces

# Fewer than the 50 traces that a backend keeps. With one sampled request in eight, 1 of 200 second starts has no trace.
SECOND_REQUESTS = 40


def delivered(system: System) -> DeliveryPart:
    """Return what the backend of a start received, after the services have ended.

    Writes `trace.json`. Raises the driver's errors, and `OSError` if the backend does not answer.
    """
    backend = system.backend
    if not backend.services:
        return DeliveryPart()
    accepted = None if _counted_anew(system, backend) else settled(backend.accepted_spans, system.place.clock)
    part = DeliveryPart(
        expected_spans_per_request=(
            system.topology.mean_spans_per_request() if system.telemetry.traces == "all" else None
        ),
        backend=BackendRecord(accepted_spans=accepted, counters=backend.counters()),
    )
    return part.model_copy(update=_traced(system, backend) if backend.keeps_traces else {})


def _counted_anew(system: System, backend: Backend) -> bool:
    """Whether a fault ended what counts the spans, and its counters with it. Endpoints pass on, and count apart."""
    return any(
        isinstance(fault, Killed) and fault.target in backend.services and fault.target not in backend.endpoints
        for fault in system.level.faults
    )


def _traced(system: System, backend: Backend) -> dict[str, object]:
    """Keep one trace, and return the fields of `DeliveryPart` that say how it compares with the prediction."""
    topology, traces = system.topology, system.telemetry.traces
    longest = max(topology.routes(), key=topology.expected_spans)
    trace, spans, wrong = _look(topology, traces, backend)
    second_start = False
    if wrong and traces != "none" and len(spans) < topology.expected_spans(longest):
        try:
            _start_again(system, longest)
        except (StartFailed, OSError) as error:
            # The trial was measured: its records are kept, and it is rejected.
            wrong = f"{wrong}; no other trace is available: {error}"
        else:
            settled(backend.accepted_spans, system.place.clock)
            trace, spans, wrong = _look(topology, traces, backend)
            second_start = True
    if trace is not None:
        write_json_atomic(system.out / "trace.json", trace)
    return {"spans_in_trace": len(spans), "trace_difference": wrong, "trace_of_second_start": second_start}


def _look(
    topology: Topology, traces: Traces, backend: Backend
) -> tuple[Mapping[str, Any] | None, list[Span], str | None]:
    """The trace of the backend, its spans, and how it differs from the prediction."""
    trace: Mapping[str, Any] | None = backend.newest_trace(topology.entry)
    spans = list(trace["spans"]) if trace else []
    return trace, spans, trace_difference(topology, traces, spans)


def trace_difference(topology: Topology, traces: Traces, spans: Sequence[Span]) -> str | None:
    """Return None if the trace is what the topology predicts for one of its routes, else how it differs."""
    if not spans:
        # With sampling there may be no trace yet among the few requests of a short trial.
        return "the backend has no trace" if traces == "all" else None
    if traces == "none":
        return "no request was to be traced"
    differences = [difference(topology.expected_tree(route), spans) for route in topology.routes()]
    return None if None in differences else differences[0]


def _start_again(system: System, route: str) -> None:
    """Starts the services a second time, with so few requests that the backend keeps complete traces."""
    driver, topology = system.driver, system.topology
    if topology.entry_protocol != "http":
        raise OSError("the lab itself does not speak gRPC")
    with _set_aside(system.out / "ready"):
        if proxies := system.sidecars:
            # They are in the network namespaces of ended services.
            driver.stop(list(proxies.values()))
        # Not the deployment's, which would begin the records of a trial anew.
        System.ready(system)
        port = driver.published_port(topology.entry, PORTS["rest"])
        entry = Http(lambda _: port)
        for _ in range(SECOND_REQUESTS):
            # Any answer is fine: errors may be drawn.
            entry.send("GET", "GATEWAY_PORT", f"/{route}")
        driver.stop(list(topology.nodes))


@contextmanager
def _set_aside(folder: Path) -> Iterator[None]:
    """Moves the folder's files away during the block, and restores exactly these afterwards."""
    with TemporaryDirectory(dir=folder.parent) as aside:
        files = [path.rename(Path(aside, path.name)) for path in folder.iterdir()]
        try:
            yield
        finally:
            for path in folder.iterdir():
                path.unlink()
            for path in files:
                path.rename(folder / path.name)
