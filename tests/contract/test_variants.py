"""The contract that every telemetry variant keeps (README.md)."""

from pathlib import Path

import pytest

from lab.backend import BACKENDS, Backend
from lab.engine import images
from lab.engine.clock import wait_until
from lab.target.mesh.delivery import trace_difference
from lab.target.mesh.system import System
from lab.target.mesh.variants import Variant
from tests.contract.deployed import FOLDER, QUICK_START, parameters, running, timed_requests
from tests.labs import MESH, level

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(300)]

VARIANTS = MESH.variants
REQUESTS = 4


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    wanted = {image for variant in VARIANTS.values() for image in BACKENDS[variant.backend].images}
    images.ensure(("services", *sorted(wanted)), print)


@pytest.mark.parametrize("telemetry", parameters(VARIANTS))
def test_a_variant_keeps_the_contract(telemetry: str, tmp_path: Path) -> None:
    of = level(telemetry, telemetry, environment=QUICK_START)
    with running(of, FOLDER / "mixed.yaml", tmp_path / "out") as (system, backend):
        spans_are_exactly_what_the_topology_predicts(VARIANTS[telemetry], system, backend)


def spans_are_exactly_what_the_topology_predicts(variant: Variant, system: System, backend: Backend) -> None:
    timed_requests(system, "a1", REQUESTS, calls=1)
    if variant.traces == "none":
        assert not backend.accepted_spans()
        assert backend.newest_trace("gateway") is None
        if variant.backend == "prometheus":
            metrics_are_scraped(system, backend)
        return
    spans = system.topology.expected_spans("a1")
    # A batching SDK holds spans for a second.
    wait_until(lambda: (backend.accepted_spans() or 0) >= spans * REQUESTS, 60, 0.2, system.place.clock)
    assert backend.accepted_spans() == spans * REQUESTS
    trace = backend.newest_trace("gateway")
    assert trace is not None
    found = trace["spans"]
    assert isinstance(found, list)
    assert len(found) == spans
    assert trace_difference(system.topology, variant.traces, found) is None


def metrics_are_scraped(system: System, backend: Backend) -> None:
    """It scrapes every 15 s; the thesis counted 49 and 97 metrics of a service."""
    assert wait_until(lambda: bool(backend.counters()), 30, 0.5, system.place.clock)
    assert backend.counters()["metrics_per_service"] > 10
