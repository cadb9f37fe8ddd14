"""The page of a real system: its figures, a change, a fault that outlives it, and who can reach what."""

import http.client
import json
import os
import re
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import pytest

from lab.command import held_fault, paths, running, serving
from lab.command.exploring import FOLDER
from lab.command.locked import locked
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.engine.compose import ComposeDriver
from lab.engine.keeping import KeepingDriver
from lab.engine.ports import port
from lab.fault.journal import Journal
from lab.record.faults import read_injections
from lab.target.guarded import CHANGES
from lab.target.mesh.sidecars import ADMIN_PORT, Admin
from tests.command_line import lab

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

DUO = ("--set", "topology=duo")
# A change may build or start half a system on a busy machine.
WITHIN_S = 240.0
ADDRESS = re.compile(r"http://127\.0\.0\.1:(?P<port>\d+)/#token=(?P<token>[0-9a-f]{64})")


@pytest.fixture(scope="module", autouse=True)
def the_lab() -> Iterator[None]:
    images.ensure(("services", "jaeger", "zipkin", "locust", "envoy", "observer"), print)
    lab("down")
    yield
    assert lab("down").returncode == 0


def up(*words: str) -> tuple[int, str]:
    """Runs `lab up`; returns port and token of the page."""
    done = lab("up", *DUO, *words)
    assert done.returncode == 0, done.stdout + done.stderr
    found = ADDRESS.search(done.stdout)
    assert found is not None, done.stdout
    return int(found["port"]), found["token"]


def call(page: tuple[int, str], path: str, body: Mapping[str, Any] | None = None) -> tuple[int, Any]:
    """Calls the page; returns status and JSON."""
    number, token = page
    connection = http.client.HTTPConnection("127.0.0.1", number, timeout=30)
    try:
        headers = {"Authorization": f"Bearer {token}", **({"Content-Type": "application/json"} if body else {})}
        connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    finally:
        connection.close()


def becomes(look: Callable[[], bool]) -> None:
    assert wait_until(look, WITHIN_S, 0.5, SystemClock())


def edges(page: tuple[int, str]) -> dict[tuple[str, str], Mapping[str, float | None]]:
    return {(edge["source"], edge["target"]): edge for edge in call(page, "/api/graph")[1]["edges"]}


def spans_as_listed(page: tuple[int, str]) -> bool:
    newest = call(page, "/api/traces")[1]["traces"][0]
    return len(call(page, f"/api/traces/{newest['trace_id']}")[1]["spans"]) == newest["spans"]


# In an order in which most tests find the system running that they need: each start takes many seconds.


def test_figures_of_a_running_system_and_a_change() -> None:
    page = up()
    assert up() == page
    state = call(page, "/api/state")[1]
    assert (state["phase"], state["choice"]["topology"]) == ("up", "duo")
    becomes(lambda: (edges(page)["client", "gateway"]["requests_per_s"] or 0) > 0.5)
    becomes(lambda: (edges(page)["gateway", "a1"]["p50_ms"] or 0) > 0)
    becomes(lambda: all(one["cpu_cores"] is not None for one in call(page, "/api/containers")[1]["containers"]))
    found = {one["name"]: one for one in call(page, "/api/containers")[1]["containers"]}
    assert found.keys() == {"gateway", "a1", "a2", "jaeger", "locust", "locust-guard", "observer"}
    assert found["a1"]["memory_bytes"] > 1 << 20
    assert found["a1"]["network_receive_bytes_per_s"] > 0
    assert call(page, "/api/traces")[1]["traces"][0]["slow"]
    # The newest trace is still being received: spans may arrive between the list and the trace.
    becomes(lambda: spans_as_listed(page))
    status, changing = call(page, "/api/change", {"version": state["version"], "settings": {"telemetry": "zipkin"}})
    assert (status, changing["phase"]) == (202, "changing")
    assert call(page, "/api/change", {"version": state["version"], "settings": {"telemetry": "zipkin"}})[0] == 409
    becomes(lambda: call(page, "/api/state")[1]["phase"] == "up")
    assert call(page, "/api/state")[1]["choice"]["telemetry"] == "zipkin"
    becomes(lambda: bool(call(page, "/api/traces")[1]["traces"]))
    becomes(
        lambda: [mark["change"] for mark in call(page, "/api/marks")[1]["marks"]] == ["telemetry otel-manual → zipkin"]
    )


def status(number: int, method: str, path: str, **headers: str) -> int:
    """The status of an answer, or 0 without one."""
    connection = http.client.HTTPConnection("127.0.0.1", number, timeout=10)
    try:
        connection.request(method, path, headers={name.replace("_", "-"): text for name, text in headers.items()})
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def fetched(number: int, path: str) -> bytes:
    with urllib.request.urlopen(f"http://127.0.0.1:{number}{path}", timeout=10) as answer:
        return bytes(answer.read())


def test_no_other_site_sends_spans_to_zipkin() -> None:
    up("--set", "telemetry=zipkin")
    number = port("ZIPKIN_PORT")
    assert status(number, "GET", "/api/v2/services") == status(number, "GET", "/zipkin/") == 200
    for content in ("text/plain", "application/json"):
        assert status(number, "POST", "/api/v2/spans", Origin="http://evil.example", Content_Type=content) == 403
    assert status(number, "OPTIONS", "/api/v2/spans", Origin="http://evil.example") == 403
    assert status(number, "GET", "/api/v2/services", Host="evil.example") == 404
    # Services can: their spans arrive.
    becomes(lambda: b"gateway" in fetched(number, "/api/v2/services"))


def test_no_other_site_changes_a_running_envoy() -> None:
    page = up("--set", "sidecar=passthrough")
    driver = ComposeDriver(paths.ROOT, paths.SCRATCH)
    driver.attach()
    number = driver.published_port("a1", ADMIN_PORT)
    assert status(number, "GET", "/stats") == 200
    # What a form of another site can send, what it cannot, and a name that leads here.
    for path in ("/quitquitquit", "/runtime_modify?a.b=1", "/healthcheck/fail", "/reset_counters"):
        assert status(number, "POST", path, Origin="http://evil.example", Content_Type="text/plain") == 403
        assert status(number, "GET", path) == 405
    assert status(number, "OPTIONS", "/runtime_modify", Origin="http://evil.example") == 403
    assert status(number, "GET", "/stats", Host="evil.example") == 404
    assert status(number, "POST", "/runtime_modify?a.b=1", **CHANGES, Host="evil.example") == 404
    admin = Admin(number)
    admin.set_runtime({"a.b": 1})
    assert admin.runtime()["a.b"] == "1"
    becomes(lambda: (edges(page)["a1-envoy", "a1"]["requests_per_s"] or 0) > 0)
    assert edges(page)["a1-envoy", "a1"]["error_share"] == 0


def test_a_fault_expires_though_the_page_was_killed() -> None:
    page = up("--fault", "application-latency")
    assert call(page, "/api/state")[1]["choice"]["fault"] == "application-latency"
    os.kill(int(serving.LOCK.read_text()), signal.SIGKILL)
    becomes(lambda: not locked(serving.LOCK))
    assert held_fault.held()
    # Its time is shortened, so that it expires now.
    now = running.read()
    assert now is not None
    running.write(now.model_copy(update={"fault_until_s": time.time()}))
    becomes(lambda: not held_fault.held())
    (fault,) = read_injections(FOLDER / "faults.jsonl")
    assert fault.lifted is not None
    assert Journal(paths.JOURNAL).left() == []
    again = up()
    assert again[1] != page[1]
    assert call(page, "/api/state")[0] == 401


def test_no_other_site_changes_locusts_load() -> None:
    page = up()
    driver = KeepingDriver(paths.ROOT, paths.SCRATCH)
    driver.attach()
    (found,) = driver.guarded_pages()
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/ \(locust\)", found)
    assert found.split()[0] in [link["url"] for link in call(page, "/api/state")[1]["links"]]
    number = int(found.split("/")[2].partition(":")[2])
    assert status(number, "GET", "/") == 200
    for path in ("/stop", "/swarm", "/stats/reset", "/user"):
        assert status(number, "POST", path, Origin="http://evil.example", Content_Type="text/plain") == 403
        assert status(number, "GET", path) == 405
    assert status(number, "GET", "/stats/requests", Host="evil.example") == 404
    # It counts the requests of the load.
    becomes(lambda: json.loads(fetched(number, "/stats/requests"))["stats"][-1]["num_requests"] > 3)


# --- from another machine of the network ------------------------------------------------------------------------------

SPACE = "tollbooth-test"
HERE, THERE = "10.213.77.1", "10.213.77.2"
PROBE = (
    "import socket, sys\n"
    "try: socket.create_connection((sys.argv[1], int(sys.argv[2])), 3).close(); print('open')\n"
    "except OSError: print('closed')\n"
)


@pytest.fixture
def neighbour() -> Iterator[Callable[[str, int], str]]:
    """Another network namespace, joined by a cable: says whether an address is open or closed from there."""

    def ip(*words: str) -> int:
        return subprocess.run(["ip", *words], capture_output=True, check=False).returncode

    ip("netns", "delete", SPACE)
    assert ip("netns", "add", SPACE) == 0, "a second network namespace needs root"
    try:
        assert ip("link", "add", "tb-here", "type", "veth", "peer", "name", "tb-there", "netns", SPACE) == 0
        assert ip("address", "add", f"{HERE}/30", "dev", "tb-here") == ip("link", "set", "tb-here", "up") == 0
        assert ip("-n", SPACE, "address", "add", f"{THERE}/30", "dev", "tb-there") == 0
        assert ip("-n", SPACE, "link", "set", "tb-there", "up") == ip("-n", SPACE, "link", "set", "lo", "up") == 0

        def open_from_there(address: str, number: int) -> str:
            command = ["ip", "netns", "exec", SPACE, "python3", "-c", PROBE, address, str(number)]
            return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()

        yield open_from_there
    finally:
        ip("link", "delete", "tb-here")
        ip("netns", "delete", SPACE)


def test_another_machine_reaches_neither_the_page_nor_published_ports(neighbour: Callable[[str, int], str]) -> None:
    number, _ = up()
    for one in (number, port("GATEWAY_PORT"), port("JAEGER_PORT")):
        assert neighbour(HERE, one) == "closed"
        assert neighbour("127.0.0.1", one) == "closed"
    # The cable is there: what listens at its address is reached.
    with subprocess.Popen(
        ["python3", "-m", "http.server", "8099", "--bind", HERE], stderr=subprocess.DEVNULL
    ) as listens:
        try:
            becomes(lambda: neighbour(HERE, 8099) == "open")
        finally:
            listens.terminate()
