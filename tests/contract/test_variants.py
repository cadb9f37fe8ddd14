"""The contract that every telemetry variant keeps (README.md)."""

import json
import statistics
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab import images, workshop
from lab.backends import Backend
from lab.backends.absent import Absent
from lab.lock import only_run
from lab.ports import port
from lab.spec import Level
from lab.system import System
from lab.trial import settled, trace_difference
from lab.variants import load_variants

pytestmark = [pytest.mark.containers, pytest.mark.timeout(300)]

VARIANTS = load_variants(workshop.VARIANTS)
ROUNDS = 5
# A request of the mesh takes some tens of milliseconds. A request that waits for telemetry waits for a connection
# attempt or an export's time limit, which are seconds.
WAITED_FOR_TELEMETRY_S = 1.0


@pytest.fixture(scope="module", autouse=True)
def the_lab() -> Iterator[None]:
    images.ensure(("services", "jaeger"), print)
    with only_run(workshop.LOCK):
        yield


@contextmanager
def running(telemetry: str, out: Path, *, with_backend: bool = True) -> Iterator[tuple[System, Backend]]:
    """The mesh with one variant, ready; removed afterwards."""
    system = workshop.system("mesh")
    level = Level(telemetry, telemetry, {})
    backend = system.backend(level)
    system.driver.remove()
    try:
        system.create(level, out, {})
        system.start(backend if with_backend else Absent(), out)
        yield system, backend
    finally:
        system.driver.remove()


def ask(route: str) -> float:
    """Asks the gateway once; returns how long it took, in seconds."""
    start_s = time.perf_counter()
    with urllib.request.urlopen(f"http://127.0.0.1:{port('GATEWAY_PORT')}/{route}", timeout=30) as answer:
        body = json.loads(answer.read())
    assert body["calls"] == 60 or body["node"] == "gateway"
    return time.perf_counter() - start_s


@pytest.mark.parametrize("telemetry", VARIANTS)
def test_spans_are_exactly_what_the_topology_predicts(telemetry: str, tmp_path: Path) -> None:
    with running(telemetry, tmp_path / "out") as (system, backend):
        routes = system.topology.routes()
        for route in routes:
            ask(route)
        system.driver.stop(list(system.topology.nodes))
        accepted, trace = settled(backend.accepted_spans, system.clock), backend.newest_trace()
    if not VARIANTS[telemetry].traces:
        assert trace is None
        assert not accepted
        return
    assert trace is not None
    spans = trace["spans"]
    assert isinstance(spans, list)
    assert len(spans) == 123
    assert trace_difference(system.topology, spans) is None
    assert accepted == 123 * len(routes)


@pytest.mark.parametrize("telemetry", [name for name, variant in VARIANTS.items() if variant.backend != "none"])
def test_without_a_backend_requests_go_on_as_fast(telemetry: str, tmp_path: Path) -> None:
    with running(telemetry, tmp_path / "out", with_backend=False) as (system, _):
        routes = system.topology.routes() * ROUNDS
        for route in routes:
            ask(route)  # the first ones pay for class loading
        took_s = [ask(route) for route in routes]
    assert statistics.median(took_s) < WAITED_FOR_TELEMETRY_S
    assert max(took_s) < 3 * WAITED_FOR_TELEMETRY_S
