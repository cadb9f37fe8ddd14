"""What each pattern does, seen from outside and in Envoy's counters.

A tiny system on real containers: Envoys play the services too. They answer at once, and are set at run time to fail or
to be late. gRPC goes over HTTP/1.1 here, which Envoy treats alike: the status is a header. `RECORD=1` keeps one
sidecar's answers in tests/fixtures/sidecars, which tests/unit replays.
"""

import http.client
import json
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from lab.command import paths
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.engine.driver import Stack
from lab.record import write_packed
from lab.target.mesh.sidecars import ADMIN_PORT, Admin, Node, Side, files, load, overlay, parse_mode, sidecar
from lab.target.mesh.sidecars.configuration import OUTBOUND
from lab.target.mesh.sidecars.nodes import MOVED_PORTS, PORTS
from lab.target.mesh.topology import DOMAIN
from tests.contract.deployed import Remembering

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]

# Its ports are the engine's choice, so that it may run beside what has the lab to itself.
OWN_PROJECT = "tollbooth-patterns"

SOURCE = load(paths.ROOT / "envoy")
REST = Node("s1", "rest", entry=True, peers={})
GRPC = Node("s1", "grpc", entry=True, peers={})
# Of the Envoy that plays the service.
SERVICE_ADMIN_PORT = 9902
TYPES = "type.googleapis.com/envoy.extensions.filters"
FAILS, LATE = "fault.http.abort.abort_percent", "fault.http.delay.fixed_delay_percent"
LATE_MS = "fault.http.delay.fixed_duration_ms"
# envoy/patterns/hedging.yaml
HEDGED_AFTER_S = 0.05


@dataclass(frozen=True)
class Answer:
    """What a request got: a status (HTTP's, or 600 and gRPC's for an error), which attempt was answered, and when."""

    status: int
    attempt: int
    took_s: float


@dataclass(frozen=True)
class Tiny:
    """The running system: its first node's ports, and the administration pages of services and sidecars."""

    port: int
    grpc: bool
    services: dict[str, Admin]
    sidecars: dict[str, Admin]

    def send(self, requests: int, at_once: int) -> list[Answer]:
        """Sends so many requests, by so many clients."""
        with ThreadPoolExecutor(at_once) as pool:
            return list(pool.map(lambda _: self._send(), range(requests)))

    def counters(self, node: str = "s1") -> dict[str, int]:
        """What a node's sidecar counted, less the names' beginning."""
        return {name.removeprefix("cluster.inbound."): value for name, value in self.sidecars[node].counters().items()}

    def _send(self) -> Answer:
        start_s = time.perf_counter()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        kind = {"Content-Type": "application/grpc"} if self.grpc else {}
        connection.request("POST", "/Service/Mock", body=b"", headers=kind)
        answer = connection.getresponse()
        answer.read()
        connection.close()
        grpc_status, attempt = (int(answer.headers.get(name) or 0) for name in ("grpc-status", "attempt"))
        took_s = time.perf_counter() - start_s
        return Answer(600 + grpc_status if grpc_status else answer.status, attempt, took_s)


ANSWERS = {
    "direct_response": {"status": 200, "body": {"inline_string": "ok"}},
    "response_headers_to_add": [
        {"header": {"key": "attempt", "value": "%REQ(X-ENVOY-ATTEMPT-COUNT)%"}},
        # Of its own answers Envoy would say that gRPC knows no such status.
        {"header": {"key": "grpc-status", "value": "0"}, "append_action": "OVERWRITE_IF_EXISTS_OR_ADD"},
    ],
}
CALLS_S2 = {"route": {"cluster": "out", "host_rewrite_literal": f"s2{DOMAIN}:8080"}}


def service(node: Node) -> dict[str, Any]:
    """An Envoy that stands in for a node's service: answers, or passes on to s2 where it has that peer."""
    abort = {"grpc_status": 13} if node.protocol == "grpc" else {"http_status": 500}
    manager = {
        "@type": f"{TYPES}.network.http_connection_manager.v3.HttpConnectionManager",
        "stat_prefix": "service",
        "route_config": {
            "virtual_hosts": [
                {
                    "name": "service",
                    "domains": ["*"],
                    "routes": [{"match": {"prefix": "/"}, **(CALLS_S2 if node.peers else ANSWERS)}],
                }
            ]
        },
        "http_filters": [
            {
                "name": "fault",
                "typed_config": {
                    "@type": f"{TYPES}.http.fault.v3.HTTPFault",
                    "abort": {**abort, "percentage": {}},
                    "delay": {"fixed_delay": "1s", "percentage": {}},
                },
            },
            {"name": "router", "typed_config": {"@type": f"{TYPES}.http.router.v3.Router"}},
        ],
    }
    out_address, _, out_port = OUTBOUND.partition(":")
    return {
        "admin": {"address": socket("0.0.0.0", SERVICE_ADMIN_PORT)},
        "layered_runtime": {"layers": [{"name": "admin", "admin_layer": {}}]},
        "static_resources": {
            "listeners": [
                {
                    "address": socket("127.0.0.1", MOVED_PORTS[node.protocol]),
                    "filter_chains": [{"filters": [{"name": "manager", "typed_config": manager}]}],
                }
            ],
            "clusters": [
                {
                    "name": "out",
                    "type": "STATIC",
                    "load_assignment": {
                        "cluster_name": "out",
                        "endpoints": [
                            {"lb_endpoints": [{"endpoint": {"address": socket(out_address, int(out_port))}}]}
                        ],
                    },
                }
            ],
        },
    }


def socket(address: str, port: int) -> dict[str, object]:
    return {"socket_address": {"address": address, "port_value": port}}


def composed(node: Node, side: Side) -> dict[str, dict[str, Any]]:
    """The node's Compose services: the lab's own overlay, laid over an Envoy in place of the service."""
    added: dict[str, dict[str, Any]] = overlay(node, side, paths.ROOT)
    base: dict[str, Any] = {
        "extends": {"file": str(paths.ROOT / "compose.yaml"), "service": "envoy"},
        "profiles": ["envoy"],
        "networks": {"app": {"aliases": [node.name + DOMAIN]}},
        "volumes": [f"${{TRIAL_DIR}}/service-{node.name}.json:/etc/envoy/envoy.json:ro"],
    }
    ports = [*added[node.name]["ports"], f"127.0.0.1::{SERVICE_ADMIN_PORT}", f"127.0.0.1::{PORTS[node.protocol]}"]
    return {**added, node.name: {**base, **added[node.name], "ports": ports}}


@contextmanager
def running(
    out: Path, mode: str, *nodes: Node, side: Side = "front", faults: bool = False, project: str = OWN_PROJECT
) -> Iterator[Tiny]:
    """Services and sidecars, ready; removed afterwards."""
    out.chmod(0o755)
    for name, text in files(SOURCE, nodes, parse_mode(mode, SOURCE.patterns), side, faults).items():
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text(text)
    for node in nodes:
        (out / f"service-{node.name}.json").write_text(json.dumps(service(node)))
    driver = Remembering(paths.ROOT, out, project)
    names = [*(node.name for node in nodes), *(sidecar(node.name) for node in nodes)]
    described = {name: text for node in nodes for name, text in composed(node, side).items()}
    driver.remove()
    try:
        driver.create(Stack(tuple(names), {"services": described}, {"TRIAL_DIR": str(out)}))
        driver.start(names)
        tiny = Tiny(
            driver.published_port(nodes[0].name, PORTS[nodes[0].protocol]),
            nodes[0].protocol == "grpc",
            {node.name: Admin(driver.published_port(node.name, SERVICE_ADMIN_PORT)) for node in nodes},
            {node.name: Admin(driver.published_port(node.name, ADMIN_PORT)) for node in nodes},
        )
        pages = [*tiny.services.values(), *tiny.sidecars.values()]
        assert wait_until(lambda: all(page.ready() for page in pages), 30, 0.1, SystemClock()), [
            driver.last_log_lines(name, 5) for name in names
        ]
        yield tiny
    finally:
        driver.remove()


@pytest.fixture(scope="module", autouse=True)
def the_image() -> None:
    images.ensure(["envoy"], print)


def share_of_errors(answers: list[Answer]) -> float:
    return sum(answer.status != 200 for answer in answers) / len(answers)


@pytest.mark.parametrize("node", [REST, GRPC], ids=["rest", "grpc"])
def test_passthrough_changes_nothing(node: Node, tmp_path: Path) -> None:
    with running(tmp_path, "passthrough", node) as tiny:
        tiny.services["s1"].set_runtime({FAILS: 20})
        answers = tiny.send(400, 4)
        assert 0.1 < share_of_errors(answers) < 0.3
        assert {answer.status for answer in answers} == {200, 613 if node.protocol == "grpc" else 500}
        assert {answer.attempt for answer in answers if answer.status == 200} == {1}
        assert tiny.counters()["upstream_rq_total"] == 400
        assert tiny.counters()["upstream_rq_retry"] == 0


@pytest.mark.parametrize("node", [REST, GRPC], ids=["rest", "grpc"])
def test_a_retry_is_distinguished_from_the_first_attempt(node: Node, tmp_path: Path) -> None:
    with running(tmp_path, "retries", node) as tiny:
        tiny.services["s1"].set_runtime({FAILS: 20})
        answers = tiny.send(200, 1)
        assert share_of_errors(answers) == 0
        counters = tiny.counters()
        assert sum(answer.attempt for answer in answers) == 200 + counters["upstream_rq_retry"]
        assert counters["upstream_rq_retry"] > 20
        assert counters["retry.upstream_rq_completed"] == counters["upstream_rq_retry"]


def test_the_published_thresholds_leave_three_retries_at_once(tmp_path: Path) -> None:
    """They are for a priority that no route has, so Envoy's default is in force."""
    with running(tmp_path, "published", GRPC) as tiny:
        tiny.services["s1"].set_runtime({FAILS: 20})
        errors = share_of_errors(tiny.send(1000, 30))
        assert tiny.counters()["upstream_rq_retry_overflow"] > 0
        assert errors == pytest.approx(tiny.counters()["upstream_rq_retry_overflow"] / 1000)


def test_the_same_thresholds_in_force_leave_no_error(tmp_path: Path) -> None:
    with running(tmp_path, "in-force", GRPC) as tiny:
        tiny.services["s1"].set_runtime({FAILS: 20})
        assert share_of_errors(tiny.send(1000, 30)) == 0
        assert tiny.counters()["upstream_rq_retry_overflow"] == 0
        assert tiny.counters()["upstream_rq_retry"] > 100


def test_a_budget_lets_more_retries_through_under_load(tmp_path: Path) -> None:
    with running(tmp_path, "retries-budget", GRPC) as tiny:
        tiny.services["s1"].set_runtime({FAILS: 20, LATE: 100, LATE_MS: 20})
        tiny.send(600, 60)
        assert tiny.counters()["upstream_rq_retry"] > 0
        assert tiny.counters()["upstream_rq_retry_overflow"] > 0


@pytest.mark.parametrize("node", [REST, GRPC], ids=["rest", "grpc"])
def test_tight_breakers_open(node: Node, tmp_path: Path) -> None:
    with running(tmp_path, "breakers-tight", node) as tiny:
        tiny.services["s1"].set_runtime({LATE: 100, LATE_MS: 50})
        assert share_of_errors(tiny.send(8, 4)) == 0
        answers = tiny.send(200, 40)
        counters = tiny.counters()
        rejected = counters["upstream_rq_pending_overflow"] + counters.get("upstream_rq_active_overflow", 0)
        assert rejected == sum(answer.status != 200 for answer in answers) > 0
        assert {answer.status for answer in answers} == {200, 614 if node.protocol == "grpc" else 503}


@pytest.mark.parametrize("node", [REST, GRPC], ids=["rest", "grpc"])
def test_a_rate_limit_lets_its_number_through(node: Node, tmp_path: Path) -> None:
    with running(tmp_path, "rate-limit", node) as tiny:
        answers: list[Answer] = []

        def limited() -> list[Answer]:
            return [answer for answer in answers if answer.status != 200]

        def is_limited() -> bool:
            # A busy machine may need seconds for so many, and the limit is one of requests per second.
            answers.extend(tiny.send(600, 8))
            return bool(limited())

        assert wait_until(is_limited, 60, 0, SystemClock())
        assert {answer.status for answer in limited()} == {608 if node.protocol == "grpc" else 429}
        counters = tiny.counters()
        assert counters["inbound.http_local_rate_limit.rate_limited"] == len(limited())
        assert counters["upstream_rq_total"] == counters["inbound.http_local_rate_limit.ok"] >= 150
        tiny.sidecars["s1"].set_runtime({"local_rate_limit_enforced": 0})
        assert share_of_errors(tiny.send(200, 8)) == 0


def test_a_request_that_hangs_is_given_up(tmp_path: Path) -> None:
    with running(tmp_path, "timeouts", REST) as tiny:
        tiny.services["s1"].set_runtime({LATE: 100, LATE_MS: 5000})
        assert {answer.status for answer in tiny.send(2, 2)} == {504}
        assert tiny.counters()["upstream_rq_timeout"] == 2


@pytest.mark.parametrize("node", [REST, GRPC], ids=["rest", "grpc"])
def test_an_outlier_is_ejected_and_comes_back(node: Node, tmp_path: Path) -> None:
    with running(tmp_path, "outliers", node) as tiny:
        tiny.services["s1"].set_runtime({FAILS: 100})
        tiny.send(5, 1)
        assert tiny.counters()["outlier_detection.ejections_detected_consecutive_5xx"] == 1

        def rejects() -> bool:
            # Its workers hear of an ejection a moment after it was made.
            tiny.send(1, 1)
            return tiny.counters()["upstream_cx_none_healthy"] > 0

        assert wait_until(rejects, 5, 0.01, SystemClock())
        assert tiny.counters()["outlier_detection.ejections_enforced_total"] >= 1
        tiny.services["s1"].set_runtime({FAILS: 0})
        assert wait_until(lambda: share_of_errors(tiny.send(1, 1)) == 0, 10, 0.2, SystemClock())


def test_a_late_answer_is_hedged(tmp_path: Path) -> None:
    def late(answers: list[Answer]) -> int:
        """On a busy machine other answers may be late, too."""
        return sum(answer.took_s > HEDGED_AFTER_S for answer in answers)

    with running(tmp_path, "hedging", GRPC) as tiny:
        answers = tiny.send(20, 1)
        assert share_of_errors(answers) == 0
        assert tiny.counters()["upstream_rq_retry"] <= late(answers)
        before = tiny.counters()["upstream_rq_retry"]
        tiny.services["s1"].set_runtime({LATE: 50, LATE_MS: 500})
        tiny.send(20, 4)
        assert 0 < tiny.counters()["upstream_rq_retry"] - before <= 20
        tiny.services["s1"].set_runtime({LATE: 0, FAILS: 100})
        before = tiny.counters()["upstream_rq_retry"]
        answers = tiny.send(20, 1)
        assert share_of_errors(answers) == 1
        assert tiny.counters()["upstream_rq_retry"] - before <= late(answers)


def test_envoys_own_faults_are_counted(tmp_path: Path) -> None:
    with running(tmp_path, "passthrough", GRPC, faults=True) as tiny:
        assert share_of_errors(tiny.send(20, 2)) == 0
        tiny.sidecars["s1"].set_runtime({FAILS: 100, LATE: 100, LATE_MS: 1})
        assert {answer.status for answer in tiny.send(20, 2)} == {614}
        counters = tiny.counters()
        assert counters["http.inbound.fault.aborts_injected"] == counters["http.inbound.fault.delays_injected"] == 20
        tiny.sidecars["s1"].set_runtime({FAILS: "", LATE: "", LATE_MS: ""})
        assert share_of_errors(tiny.send(20, 2)) == 0


def test_on_the_way_out_the_caller_retries_and_its_attempt_arrives(tmp_path: Path) -> None:
    caller, called = Node("s1", "rest", True, {"s2": "rest"}), Node("s2", "rest", False, {})
    with running(tmp_path, "retries", caller, called, side="both") as tiny:
        tiny.services["s2"].set_runtime({FAILS: 20})
        answers = tiny.send(200, 1)
        assert share_of_errors(answers) == 0
        retries = tiny.sidecars["s1"].counters()["cluster.outbound-s2.upstream_rq_retry"]
        assert retries > 20
        assert sum(answer.attempt for answer in answers) == 200 + retries
        assert tiny.counters("s2")["upstream_rq_retry"] == 0
        assert tiny.counters("s2")["upstream_rq_total"] == 200 + retries


class Recorder(Admin):
    """Keeps what it was answered."""

    def __init__(self, port: int) -> None:
        super().__init__(port)
        self.answers: dict[str, tuple[int, str]] = {}

    def _request(self, method: str, path: str) -> str:
        text = super()._request(method, path)
        if path == "/server_info":
            # The rest is a hundred kilobytes of names of extensions.
            text = json.dumps({"version": json.loads(text)["version"]})
        self.answers[f"{method} {path}"] = (200, text)
        return text


def test_what_tests_without_containers_replay(tmp_path: Path) -> None:
    with running(tmp_path, "retries+rate-limit", GRPC, faults=True) as tiny:
        tiny.services["s1"].set_runtime({FAILS: 20})

        def limited() -> bool:
            # A busy machine may need more than a second for so many, and the limit is one of requests per second.
            tiny.send(300, 8)
            return tiny.sidecars["s1"].counters()["inbound.http_local_rate_limit.rate_limited"] > 0

        assert wait_until(limited, 60, 0, SystemClock())
        recorder = Recorder(tiny.sidecars["s1"].port)
        recorder.set_runtime({FAILS: 20})
        assert recorder.ready()
        assert recorder.version() == images.versions()["ENVOY_VERSION"]
        assert recorder.runtime()[FAILS] == "20"
        assert recorder.counters()["inbound.http_local_rate_limit.rate_limited"] > 0
        if os.environ.get("RECORD"):
            fixture = paths.ROOT / "tests/fixtures/sidecars/admin.json"
            write_packed(fixture, json.dumps(recorder.answers, indent=1) + "\n")
