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
from lab.clock import wait_until
from lab.lock import only_run
from lab.ports import port
from lab.spec import Level
from lab.system import System
from lab.trial import trace_difference
from lab.variants import Variant, load_variants

pytestmark = [pytest.mark.containers, pytest.mark.timeout(300)]

VARIANTS = load_variants(workshop.VARIANTS)
# 10 rounds of 4 routes make 4,920 spans, more than the SDK's queue of 2,048 holds.
ROUNDS = 10
# A request of the mesh takes some tens of milliseconds. A request that waits for telemetry waits for a connection
# attempt or an export's time limit, which are seconds.
WAITED_FOR_TELEMETRY_S = 1.0


@pytest.fixture(scope="module", autouse=True)
def the_lab() -> Iterator[None]:
    images.ensure(("services", "jaeger"), print)
    with only_run(workshop.LOCK):
        yield


@contextmanager
def running(telemetry: str, out: Path) -> Iterator[tuple[System, Backend]]:
    """The mesh with one variant, ready; removed afterwards."""
    system = workshop.system("mesh")
    level = Level(telemetry, telemetry, {"JAVA_OPTS": "-XX:TieredStopAtLevel=1"})  # starts sooner
    backend = system.backend(level)
    system.driver.remove()
    try:
        system.create(level, out, {})
        system.start(backend, out)
        yield system, backend
    finally:
        system.driver.remove()


def ask(route: str) -> float:
    """Asks the gateway once; returns how long it took, in seconds."""
    start_s = time.perf_counter()
    with urllib.request.urlopen(f"http://127.0.0.1:{port('GATEWAY_PORT')}/{route}", timeout=30) as answer:
        body = json.loads(answer.read())
    assert body["calls"] == 60
    return time.perf_counter() - start_s


@pytest.mark.parametrize("telemetry", VARIANTS)
def test_a_variant_keeps_the_contract(telemetry: str, tmp_path: Path) -> None:
    with running(telemetry, tmp_path / "out") as (system, backend):
        spans_are_exactly_what_the_topology_predicts(VARIANTS[telemetry], system, backend)
        if backend.services:
            system.driver.stop(backend.services)
            requests_go_on_as_fast(system)


def spans_are_exactly_what_the_topology_predicts(variant: Variant, system: System, backend: Backend) -> None:
    routes = system.topology.routes()
    for route in routes:
        ask(route)
    if variant.traces == "none":
        assert backend.newest_trace() is None
        return
    # A batching SDK holds spans for five seconds.
    wait_until(lambda: (backend.accepted_spans() or 0) >= 123 * len(routes), 20, 0.2, system.clock)
    assert backend.accepted_spans() == 123 * len(routes)
    trace = backend.newest_trace()
    assert trace is not None
    spans = trace["spans"]
    assert isinstance(spans, list)
    assert len(spans) == 123
    assert trace_difference(system.topology, variant.traces, spans) is None


def requests_go_on_as_fast(system: System) -> None:
    """Asks until the SDK's queue is full, while nothing takes the spans."""
    took_s = [ask(route) for route in system.topology.routes() * ROUNDS]
    assert statistics.median(took_s) < WAITED_FOR_TELEMETRY_S
    assert max(took_s) < 3 * WAITED_FOR_TELEMETRY_S
