"""Every backend passes one suite, on answers that a real one gave (recorded by the contract on containers)."""

import json
import socket
import threading
from typing import Any

import pytest

from lab.backend import BACKENDS, settled
from lab.backend.backend import SETTLED_BOUND_S
from lab.backend.collector import Collector
from lab.backend.http import Http
from lab.backend.jaeger import total
from lab.backend.prometheus import TARGETS, Prometheus, metrics_by_service, targets
from lab.backend.sink import Sink
from lab.errors import UserError
from lab.record import read_text
from tests import backend_kit as kit
from tests.fake import FakeClock

CASES = sorted(path.name.removesuffix(".json.xz") for path in kit.RECORDED.glob("*.json.xz"))
RECORDED = {case: json.loads(read_text(kit.RECORDED / f"{case}.json")) for case in CASES}


def replay(monkeypatch: pytest.MonkeyPatch, answers: dict[str, Any]) -> None:
    def send(_: Http, method: str, port_variable: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        status, text = answers[f"{method} {port_variable} {path}"]
        return status, text.encode()

    monkeypatch.setattr(Http, "send", send)


@pytest.fixture
def silence(monkeypatch: pytest.MonkeyPatch) -> None:
    def send(_: Http, method: str, port_variable: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        raise ConnectionRefusedError

    monkeypatch.setattr(Http, "send", send)


def test_every_backend_was_recorded() -> None:
    assert {recording["backend"] for recording in RECORDED.values()} == BACKENDS.keys() - {"none"}


@pytest.mark.parametrize("name", BACKENDS)
def test_its_services_images_and_pages_exist(name: str) -> None:
    kit.is_described(name)


@pytest.mark.parametrize("name", BACKENDS)
def test_its_files_stay_within_the_trials_folder(name: str) -> None:
    kit.has_files(BACKENDS[name](), ["gateway", "a1"], {"SCRAPE": "9464/metrics"})


@pytest.mark.parametrize("recording", RECORDED.values(), ids=RECORDED)
def test_a_fresh_one_has_nothing(recording: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    replay(monkeypatch, recording["fresh"])
    backend = BACKENDS[recording["backend"]]()
    kit.is_fresh(backend)
    kit.finds(backend, {})


@pytest.mark.parametrize("recording", RECORDED.values(), ids=RECORDED)
def test_it_says_what_it_took(recording: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    replay(monkeypatch, recording["after"])
    name = recording["backend"]
    kit.took(BACKENDS[name](), name, recording["start_ns"])


@pytest.mark.parametrize("name", BACKENDS.keys() - {"none"})
def test_one_that_does_not_answer_is_not_ready(name: str, silence: None) -> None:
    backend = BACKENDS[name]()
    assert not backend.ready()
    with pytest.raises(OSError):
        backend.counters()


def test_a_level_without_a_backend_waits_for_nothing() -> None:
    absent = BACKENDS["none"]()
    assert absent.ready()
    assert (absent.accepted_spans(), absent.counters(), absent.newest_trace("gateway"), absent.pages()) == (
        None,
        {},
        None,
        [],
    )


def test_a_status_from_400_on_is_no_answer_to_get(monkeypatch: pytest.MonkeyPatch) -> None:
    replay(monkeypatch, {"GET SINK_PORT /counters": (503, "busy"), "GET SINK_PORT /healthz": (503, "busy")})
    with pytest.raises(OSError, match="SINK_PORT was answered with HTTP status 503"):
        Sink().counters()
    assert not Sink().ready()


@pytest.mark.parametrize("duplicates", [{}, {"duplicate_spans": 2}])
def test_a_sink_may_count_duplicates(duplicates: dict[str, float], monkeypatch: pytest.MonkeyPatch) -> None:
    counted = {"accepted_spans": 7, "refused_spans": 0, "requests": 3, "bytes": 900, **duplicates}
    replay(monkeypatch, {"GET SINK_PORT /counters": (200, json.dumps({"format": "tollbooth.sink", **counted}))})
    assert Sink().counters() == counted


def test_the_collector_takes_spans_only_when_its_receiver_and_jaeger_do(monkeypatch: pytest.MonkeyPatch) -> None:
    healthy, receiver = "GET JAEGER_HEALTH_PORT /", "GET COLLECTOR_PORT /v1/traces"
    for answers, expected in (
        ({healthy: (200, ""), receiver: (405, "")}, True),
        ({healthy: (503, ""), receiver: (405, "")}, False),
        ({healthy: (200, ""), receiver: (503, "")}, False),
    ):
        replay(monkeypatch, answers)
        assert Collector().ready() is expected


def test_prometheus_finds_every_node_where_the_variant_says() -> None:
    assert targets(["gateway", "a1"], "8080/actuator/prometheus") == [
        {"targets": ["gateway:8080"], "labels": {"service": "gateway", "__metrics_path__": "/actuator/prometheus"}},
        {"targets": ["a1:8080"], "labels": {"service": "a1", "__metrics_path__": "/actuator/prometheus"}},
    ]
    written = Prometheus().files(["a1"], {"SCRAPE": "9464/metrics"})
    assert json.loads(written[TARGETS]) == targets(["a1"], "9464/metrics")


@pytest.mark.parametrize("scrape", ["", "metrics", "9464", "9464/", "/metrics", "port/metrics"])
def test_a_variant_that_does_not_say_where_is_named(scrape: str) -> None:
    with pytest.raises(UserError) as rejected:
        Prometheus().files(["a1"], {"SCRAPE": scrape} if scrape else {})
    assert f"SCRAPE is '{scrape}'" in rejected.value.message
    assert "SCRAPE: 9464/metrics" in rejected.value.hint


def test_a_metric_counts_once_for_each_service() -> None:
    described = [
        {"target": {"service": service, "instance": f"{service}:1"}, "metric": metric, "type": "counter"}
        for service, metric in [("a1", "x"), ("a1", "x"), ("a1", "y"), ("a2", "x")]
    ]
    assert metrics_by_service(json.dumps({"data": described}).encode()) == {"a1": {"x", "y"}, "a2": {"x"}}


def test_prometheus_that_scraped_nothing_says_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    replay(monkeypatch, {"GET PROMETHEUS_PORT /api/v1/targets/metadata": (200, '{"data": []}')})
    assert Prometheus().counters() == {}


METRICS = """
# TYPE otelcol_receiver_accepted_spans_total counter
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 246
otelcol_receiver_accepted_spans_total{receiver="zipkin",transport="http"} 1.23e+06
otelcol_receiver_refused_spans{receiver="otlp",transport="grpc"} 7
plain 3
"""


def test_a_counter_has_settled_once_it_was_the_same_for_a_second() -> None:
    clock = FakeClock()
    assert settled(lambda: 40 if clock.now_s() < 0.7 else 86, clock) == 86
    growing = FakeClock()
    assert settled(lambda: round(growing.now_s()), growing) == SETTLED_BOUND_S
    assert settled(lambda: None, clock) is None


def test_a_counter_is_summed_over_its_labels() -> None:
    assert total(METRICS, "otelcol_receiver_accepted_spans") == 246 + 1_230_000
    assert total(METRICS, "otelcol_receiver_refused_spans") == 7
    assert total(METRICS, "plain") == 3
    assert total(METRICS, "receiver_refused_spans") == 0
    assert total("", "plain") == 0


def test_an_answer_that_ends_in_the_middle_is_no_answer() -> None:
    def answers_in_part(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection:
            connection.recv(4096)
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")

    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=answers_in_part, args=[server])
        thread.start()
        http = Http(lambda _: server.getsockname()[1])
        with pytest.raises(OSError, match="GET /counters was answered in part"):
            http.get("SINK_PORT", "/counters")
        thread.join()
