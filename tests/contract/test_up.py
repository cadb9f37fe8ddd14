"""`lab up` and `lab down` on real containers: what runs, what a change restarts, what is left in the end."""

import http.client
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping

import pytest

from lab.command import held_fault, paths, running, serving
from lab.command.exploring import FOLDER
from lab.command.locked import locked
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.engine.compose import PROJECT
from lab.engine.ports import port
from lab.fault.journal import Journal
from lab.record.faults import read_injections
from lab.record.requests import read_requests
from tests.command_line import LAB, lab, one_line

pytestmark = [pytest.mark.containers, pytest.mark.timeout(400)]

NODES = {"gateway", "a1", "a2"}
# The same as the default, but for two services fewer.
DUO = ("--set", "topology=duo")
FAULT = "application-latency"
WITHIN_S = 60.0


@pytest.fixture(scope="module", autouse=True)
def the_lab() -> Iterator[None]:
    """Whatever a test leaves, nothing of it stays."""
    images.ensure(("services", "jaeger", "zipkin", "locust", "envoy", "observer"), print)
    lab("down")
    before = unused_volumes()
    yield
    assert lab("down").returncode == 0
    # Other tests, which may run at the same time, make volumes before the containers that use them.
    assert wait_until(lambda: unused_volumes() <= before, WITHIN_S, 0.5, SystemClock())
    assert_nothing_is_left()


def docker(*words: str) -> set[str]:
    return set(subprocess.run(["docker", *words], capture_output=True, text=True, check=True).stdout.split())


def unused_volumes() -> set[str]:
    """The volumes that no container has: those that were left."""
    return docker("volume", "ls", "--quiet", "--filter", "dangling=true")


def containers() -> Mapping[str, str]:
    """The running containers' ids, by service."""
    form = '{{.Label "com.docker.compose.service"}}={{.ID}}'
    listed = docker("ps", "--no-trunc", "--format", form, "--filter", f"label=com.docker.compose.project={PROJECT}")
    return dict(line.split("=") for line in listed)


def assert_nothing_is_left() -> None:
    label = ("--filter", f"label=com.docker.compose.project={PROJECT}")
    assert docker("ps", "--all", "--quiet", *label) == docker("network", "ls", "--quiet", *label) == set()
    assert not running.PATH.exists()
    assert not FOLDER.exists() or not (FOLDER / "requests.csv").exists()
    assert Journal(paths.JOURNAL).left() == []
    assert not held_fault.held()
    assert serving.read() is None
    assert not locked(serving.LOCK)


def up(*words: str) -> str:
    """Runs `lab up`; returns what it printed."""
    done = lab("up", *words)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def status(path: str) -> int:
    """The status of an answer of the gateway."""
    connection = http.client.HTTPConnection("127.0.0.1", port("GATEWAY_PORT"), timeout=30)
    try:
        connection.request("GET", path)
        return connection.getresponse().status
    finally:
        connection.close()


def sends_on() -> None:
    """Waits until the load got an answer to a request that began after the last one that is on record now."""
    path = FOLDER / "requests.csv"
    last_ns = read_requests(path).last_end_ns() if path.exists() else 0

    def answered() -> bool:
        if not path.exists():
            return False
        requests = read_requests(path)
        return bool(((requests.start_ns > last_ns) & (requests.status == 200)).any())

    assert wait_until(answered, WITHIN_S, 0.5, SystemClock())


# In an order in which a test may find the system running that it needs: each start takes many seconds.


def test_the_default_runs_under_load_and_prints_its_addresses() -> None:
    said = up()
    assert f"curl http://127.0.0.1:{port('GATEWAY_PORT')}/a1" in said
    assert f"http://127.0.0.1:{port('JAEGER_PORT')}/api/services (jaeger)" in said
    assert containers().keys() == NODES | {"a3", "a4", "jaeger", "locust", "locust-guard", "observer"}
    assert status("/a1") == 200
    sends_on()
    before = containers()
    assert "runs already: mesh: topology mesh, telemetry otel-manual" in up()
    # No experiment runs beside it, and another checkout does not take its place.
    rejected = "a system that `make up` started is running"
    assert rejected in one_line(lab("run", "quick"))
    now = running.read()
    assert now is not None
    running.forget()
    assert rejected in one_line(lab("up", *DUO))
    running.write(now)
    assert containers() == before


def test_a_fault_begins_and_ends_without_a_restart() -> None:
    up(*DUO)
    before = containers()
    assert "the fault ends at" in up(*DUO, "--fault", FAULT)
    assert Journal(paths.JOURNAL).path.exists()
    assert "runs already" in up(*DUO, "--fault", FAULT)
    # The command that began it has ended. Its time is shortened, so that it expires now.
    now = running.read()
    assert now is not None
    running.write(now.model_copy(update={"fault_until_s": time.time()}))
    assert wait_until(lambda: not held_fault.held(), WITHIN_S, 0.1, SystemClock())
    (fault,) = read_injections(FOLDER / "faults.jsonl")
    assert fault.injected is not None
    assert fault.lifted is not None
    assert not Journal(paths.JOURNAL).path.exists()
    # Requested again, it begins again; another choice ends it.
    up(*DUO, "--fault", FAULT)
    assert held_fault.held()
    up(*DUO)
    assert not held_fault.held()
    assert not Journal(paths.JOURNAL).path.exists()
    assert containers() == before


def test_a_change_restarts_only_what_it_must() -> None:
    up(*DUO)
    before = containers()
    said = up(*DUO, "--set", "telemetry=zipkin")
    assert f"http://127.0.0.1:{port('ZIPKIN_PORT')}/zipkin/ (zipkin)" in said
    after = containers()
    assert after.keys() == NODES | {"zipkin", "zipkin-guard", "locust", "locust-guard", "observer"}
    assert after["locust"] == before["locust"]
    assert all(after[node] != before[node] for node in NODES)
    assert status("/a1") == 200
    sends_on()


@pytest.mark.long
def test_sidecars_change_alone_and_follow_their_services() -> None:
    up(*DUO, "--set", "sidecar=passthrough")
    before = containers()
    up(*DUO, "--set", "sidecar=retries")
    other_files = containers()
    sidecars = {f"{node}-envoy" for node in NODES}
    assert {name for name, id_ in other_files.items() if before[name] != id_} == sidecars
    up(*DUO, "--set", "sidecar=retries", "--set", "telemetry=baseline")
    after = containers()
    assert {name for name, id_ in after.items() if before[name] != id_} == NODES | sidecars
    assert status("/a1") == 200
    sends_on()


@pytest.mark.long
@pytest.mark.parametrize(("broken_off_by", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -signal.SIGKILL)])
def test_a_start_that_is_broken_off_leaves_nothing(broken_off_by: signal.Signals, code: int) -> None:
    lab("down")
    starting = subprocess.Popen([*LAB, "up", *DUO], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert wait_until(lambda: "a1" in containers(), WITHIN_S, 0.1, SystemClock())
    starting.send_signal(broken_off_by)
    _, errors = starting.communicate(timeout=WITHIN_S)
    assert starting.returncode == code
    if broken_off_by == signal.SIGKILL:
        assert lab("down").returncode == 0
    else:
        assert errors.splitlines() == ["error: interrupted", "nothing is running"]
    assert_nothing_is_left()


def test_a_port_in_use_is_one_line_and_leaves_nothing() -> None:
    lab("down")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        number = taken.getsockname()[1]
        done = lab("up", *DUO, GATEWAY_PORT=str(number))
    assert f"port {number} on 127.0.0.1, wanted for gateway, is in use" in one_line(done)
    assert_nothing_is_left()
