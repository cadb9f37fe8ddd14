"""Three Collectors that take the spans of a tracer that streams: every span is accounted for, also if one is paused."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.analysis.ledger import spans_accounted_for
from lab.analysis.metrics.endpoints import ACCEPTED, accepting, first_endpoint_share, spans_dropped_fraction
from lab.backend.collectors import PORTS
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.engine.compose import PROJECT
from lab.fault.verified import unverified
from lab.record import BackendRecord, write_targets
from lab.record.counters import read_counters
from lab.record.data import TrialData
from lab.record.faults import read_injections
from lab.record.results import read_results
from lab.record.traces import read_collectors
from lab.record.trial import LOCAL, ContainerRecord, DeliveryPart, TrialRecord, Window
from lab.target.mesh.deployment import MeshDeployment
from lab.target.mesh.settings import MeshLevel
from tests.contract.deployed import FOLDER, QUICK_START, Remembering, apart, system_with, timed_requests
from tests.labs import ROOT, level

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(300)]

NAMES = tuple(PORTS)
FAULT = {"kind": "frozen", "target": NAMES[0], "start_s": 4, "length_s": 12}


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    images.ensure(("services", "observer", "sink", "collector"), print)


@contextmanager
def observed(of: MeshLevel, out: Path) -> Iterator[MeshDeployment]:
    """The system of a level with the observer, ready; removed afterwards."""
    driver = Remembering(ROOT, out.parent / "scratch", f"{PROJECT}-endpoints")
    system = system_with(FOLDER / "mixed.yaml", of, apart(driver, out), out)
    assert isinstance(system, MeshDeployment)
    driver.remove()
    try:
        system.deploy({"OBSERVER_INTERVAL": "250ms"}, ("observer",))
        names = {container.id: name for name, container in driver.containers().items()}
        write_targets(out / "targets.json", names, driver.networks())
        system.ready(("observer",))
        yield system
    finally:
        driver.remove()


def trial(system: MeshDeployment, part: DeliveryPart, start_ns: int, end_ns: int) -> TrialData:
    """What a start left, as the records of a trial whose window is the complete load."""
    faults = system.out / "faults.jsonl"
    injections = read_injections(faults) if faults.exists() else ()
    record = TrialRecord(
        number=1, attempt=1, block=0, position=0, level="x", settings={"faults": [{}] * len(injections)}, valid=True,
        window=Window(load_start_ns=start_ns, start_ns=start_ns, end_ns=end_ns), backend=part.backend,
        containers={
            name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=False, exit_code=0)
            for name, role in system.roles().items()
        },
    )  # fmt: skip
    results = {
        path.stem.removeprefix("results-"): read_results(path) for path in sorted(system.out.glob("results-*.json"))
    }
    return TrialData(
        record,
        {
            "counters": {LOCAL: read_counters(system.out / "counters.jsonl")},
            "collectors": {LOCAL: read_collectors(system.out / "collector.jsonl")},
            "results": results,
            "faults": {LOCAL: injections},
        },
    )


def accepted_by_each(system: MeshDeployment) -> list[float]:
    """How many spans each endpoint says that it accepted, by the last scrape so far."""
    path = system.out / "collector.jsonl"
    read = read_collectors(path) if path.exists() else {}
    return [float(read[name][ACCEPTED].values[-1]) if ACCEPTED in read.get(name, {}) else 0.0 for name in NAMES]


def send_requests(system: MeshDeployment) -> None:
    timed_requests(system, "a1", 20, calls=1)


def test_of_healthy_endpoints_every_span_is_acknowledged_and_accepted_once(tmp_path: Path) -> None:
    def all_took_some() -> bool:
        send_requests(system)
        return min(accepted_by_each(system)) > 0

    of = level("any", "otel-streaming", backend="collectors", environment=QUICK_START)
    with observed(of, tmp_path / "out") as system:
        start_ns = time.time_ns()
        with system.measuring(of, 1, 0.0):
            assert wait_until(all_took_some, 60, 0.2, SystemClock())
        end_ns = time.time_ns()
        data = trial(system, system.drain(), start_ns, end_ns)
    assert list(spans_accounted_for(data)) == []
    assert spans_dropped_fraction(data) == 0
    assert isinstance(data.trial.backend, BackendRecord)
    endpoints = {name: int(fields[ACCEPTED].values[-1]) for name, fields in accepting(data).items()}
    assert tuple(endpoints) == NAMES
    assert sum(endpoints.values()) == data.trial.backend.accepted_spans
    acknowledged = [data.results.values[f"{node}_spans_acknowledged"] for node in system.topology.nodes]
    assert sum(acknowledged) == data.trial.backend.accepted_spans


def test_a_paused_endpoint_gets_no_spans_and_none_is_dropped(tmp_path: Path) -> None:
    def is_over() -> bool:
        send_requests(system)
        injections = read_injections(system.out / "faults.jsonl")
        return bool(injections and injections[0].lifted)

    of = level("any", "otel-streaming", backend="collectors", environment=QUICK_START, faults=[FAULT])
    with observed(of, tmp_path / "out") as system:
        # The first requests of JVMs may take longer than the fault.
        send_requests(system)
        start_ns = time.time_ns()
        with system.measuring(of, 1, 0.0):
            assert wait_until(is_over, 60, 0.0, SystemClock())
        for _ in range(10):
            send_requests(system)
        end_ns = time.time_ns()
        data = trial(system, system.drain(), start_ns, end_ns)
    assert list(unverified(data, data.injections)) == []
    assert list(spans_accounted_for(data)) == []
    assert spans_dropped_fraction(data) == 0
    share = first_endpoint_share(data)
    assert share is not None
    assert share < 0.2
