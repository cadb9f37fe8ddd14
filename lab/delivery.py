"""What reached the backend of a start: how many spans, and one trace beside what the topology predicts of it.

The trace is one that the backend still keeps after the load. It keeps few, and a service that fills no batch sends the
spans of seconds at once: where more requests are answered meanwhile than traces are kept, the oldest go, with all that
others had sent of them, and what is left of each is a rest. Then nothing is said of the trial's own traces. The
services are started once more and asked for fewer traces than are kept, none of which can go.
"""

import http.client
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from lab import records
from lab.backends import Backend
from lab.clock import Clock, wait_until
from lab.sidecars.nodes import PORTS
from lab.spantree import Span, difference
from lab.spec import Level
from lab.system import StartFailed, System
from lab.topology import Topology
from lab.variants import Traces

BOUND_S = 10.0
# A Collector holds what it got for 0.2 s before it passes it on, and that takes up to half a second more.
QUIET_S = 1.0
# Fewer than the 50 traces that a backend keeps; where one request in eight is sampled, one is missed in 200 times.
ASKED_AGAIN = 40
# Slower than this no request of the studies is, a JVM's first one included.
REQUEST_BOUND_S = 10.0


def delivered(system: System, level: Level, out: Path) -> dict[str, object]:
    """The part of `trial.json` that the backend of `level` has to say of a start whose services have ended.

    Writes `trace.json` to `out`. Raises the driver's errors, and `OSError` where the backend does not answer.
    """
    backend = system.backend(level)
    if not backend.services:
        return {}
    traces = system.telemetry(level).traces
    accepted = _settled(backend.accepted_spans, system.clock)
    return {
        "expected_spans_per_request": system.topology.mean_spans_per_request() if traces == "all" else None,
        "backend": {"accepted_spans": accepted, "counters": backend.counters()},
        **(_traced(system, level, backend, out) if backend.keeps_traces else {}),
    }


def trace_difference(topology: Topology, traces: Traces, spans: Sequence[Span]) -> str | None:
    """None if the trace is what the topology predicts for one of its routes, else what differs from the first."""
    if not spans:
        # With sampling there may be no trace yet among the few requests of a short trial.
        return "the backend has no trace" if traces == "all" else None
    if traces == "none":
        return "no request was to be traced"
    differences = [difference(topology.expected_tree(route), spans) for route in topology.routes()]
    return None if None in differences else differences[0]


def ask(port: int, path: str) -> None:
    """Asks what listens at a port of 127.0.0.1, and waits for its answer, whatever that is: errors may be drawn.

    Raises `OSError` where none comes.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=REQUEST_BOUND_S)
    try:
        connection.request("GET", path)
        connection.getresponse().read()
    except http.client.HTTPException as error:
        raise OSError(f"GET {path} at port {port}: {error!r}") from None
    finally:
        connection.close()


def _traced(system: System, level: Level, backend: Backend, out: Path) -> dict[str, object]:
    """What one trace says, which is kept in `out`."""
    traces, trace = system.telemetry(level).traces, backend.newest_trace()
    wrong, second_start = trace_difference(system.topology, traces, _spans(trace)), False
    if wrong and traces != "none" and len(_spans(trace)) < system.topology.expected_spans(_longest(system.topology)):
        try:
            _ask_again(system, level, backend, out)
        except (StartFailed, OSError) as error:
            # The trial was measured: it is kept, and refused.
            wrong = f"{wrong}; and no other could be asked for: {error}"
        else:
            trace, second_start = backend.newest_trace(), True
            wrong = trace_difference(system.topology, traces, _spans(trace))
    if trace is not None:
        records.write_json_atomic(out / "trace.json", trace)
    return {"spans_in_trace": len(_spans(trace)), "trace_difference": wrong, "trace_of_second_start": second_start}


def _spans(trace: Mapping[str, Any] | None) -> list[Span]:
    return list(trace["spans"]) if trace else []


def _longest(topology: Topology) -> str:
    """The route whose requests make the most spans."""
    return max(topology.routes(), key=topology.expected_spans)


def _ask_again(system: System, level: Level, backend: Backend, out: Path) -> None:
    """Starts the services once more, and asks them so little that the backend keeps all of it whole."""
    driver, topology = system.driver, system.topology
    if topology.entry_protocol != "http":
        raise OSError("the lab itself does not speak gRPC")
    with _set_aside(out / "ready"):
        if proxies := system.sidecars(level):
            # They are in the network namespaces of services that have ended.
            driver.stop(list(proxies.values()))
        system.start(level, out)
        port = driver.published_port(topology.entry, PORTS["rest"])
        for _ in range(ASKED_AGAIN):
            ask(port, f"/{_longest(topology)}")
        driver.stop(list(topology.nodes))
    _settled(backend.accepted_spans, system.clock)


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
