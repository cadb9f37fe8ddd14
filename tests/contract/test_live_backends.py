"""The suite that every backend passes (tests/backend_kit.py), on real containers.

`RECORD=1` keeps their answers in tests/fixtures/backends, which tests/unit replays.
"""

import json
import os
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.backend import BACKENDS, Backend
from lab.backend.http import Http
from lab.command import paths
from lab.engine import images, ports
from lab.engine.clock import SystemClock, wait_until
from lab.engine.driver import Stack
from lab.record import write_packed
from tests import backend_kit as kit
from tests.contract.deployed import Remembering

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(180)]

OWN_PROJECT = "tollbooth-backends"

# Where the first of a backend's services takes spans, by protocol: port, path, and how it wants them.
TAKES = {"otlp": (4318, "/v1/traces", kit.as_otlp), "zipkin": (9411, "/api/v2/spans", kit.as_zipkin)}
# Prometheus is its own service: what it scrapes here are its own metrics.
ITSELF = {"SCRAPE": "9090/metrics"}


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    images.ensure(sorted({image for backend in BACKENDS.values() for image in backend.images}), print)


@contextmanager
def running(name: str, out: Path, intake: int | None = None) -> Iterator[tuple[Backend, int]]:
    """The backend alone, ready, and the port on 127.0.0.1 behind which its first service listens at `intake`.

    Removed afterwards. The engine chooses all ports, so that it may run beside what has the lab to itself.
    """
    driver, kind = Remembering(paths.ROOT, out, OWN_PROJECT), BACKENDS[name]
    backend, first = kind(ports.chosen(kind.services, driver.published_port)), kind.services[0]
    for path, text in backend.files(["prometheus"], ITSELF).items():
        (out / path).parent.mkdir(parents=True)
        (out / path).write_text(text)
    published = {"ports": [f"127.0.0.1::{intake}"]} if intake else {}
    variables = {"TRIAL_DIR": str(out), **ports.engines_choice()}
    driver.remove()
    try:
        driver.create(Stack(kind.services, {"services": {first: published}}, variables))
        driver.start(kind.services)
        assert wait_until(backend.ready, 60, 0.1, SystemClock()), driver.last_log_lines(first, 20)
        yield backend, driver.published_port(first, intake) if intake else 0
    finally:
        driver.remove()


def post(port: int, path: str, body: bytes) -> None:
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status in (200, 202)


class Recorder:
    """Sends requests with `Http.send`, and keeps the last answer to each."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers = dict[str, tuple[int, str]]()
        sent = Http.send

        def send(
            http: Http, method: str, port_variable: str, path: str, body: bytes | None = None
        ) -> tuple[int, bytes]:
            status, answer = sent(http, method, port_variable, path, body)
            self.answers[f"{method} {port_variable} {path}"] = (status, answer.decode())
            return status, answer

        monkeypatch.setattr(Http, "send", send)

    def taken(self) -> dict[str, tuple[int, str]]:
        """What was kept since the last time."""
        answers, self.answers = self.answers, {}
        return answers


@pytest.mark.parametrize(
    ("name", "protocol"),
    [
        ("jaeger", "otlp"),
        ("jaeger", "zipkin"),
        ("jaeger-badger", "otlp"),
        ("collector", "otlp"),
        ("collectors", "otlp"),
        ("zipkin", "zipkin"),
        ("sink", "zipkin"),
    ],
)
def test_a_backend_says_what_it_took(name: str, protocol: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    port, path, encode = TAKES[protocol]
    with running(name, tmp_path, port) as (backend, here):
        recorder = Recorder(monkeypatch)
        kit.is_fresh(backend)
        kit.finds(backend, {})
        fresh = recorder.taken()
        # Whole microseconds, which is what Jaeger and Zipkin keep.
        start_ns = time.time_ns() // 1000 * 1000
        for trace in (kit.SMALL, kit.LARGE):
            post(here, path, encode(trace, start_ns))
        assert wait_until(lambda: backend.accepted_spans() == kit.SENT_SPANS, 60, 0.1, SystemClock())
        assert wait_until(lambda: kit.shown(backend) == kit.as_record(kit.LARGE, start_ns), 60, 0.1, SystemClock())
        kit.took(backend, name, start_ns)
        record(f"{name}-{protocol}", name, start_ns, fresh, recorder.taken())


def test_prometheus_says_how_many_metrics_it_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running("prometheus", tmp_path) as (backend, _):
        recorder = Recorder(monkeypatch)
        kit.is_fresh(backend)
        fresh = recorder.taken()
        assert wait_until(lambda: bool(backend.counters()), 40, 0.5, SystemClock())
        kit.took(backend, "prometheus", 0)
        record("prometheus", "prometheus", 0, fresh, recorder.taken())


def record(case: str, backend: str, start_ns: int, fresh: object, after: object) -> None:
    """Keeps the answers if RECORD is set."""
    if os.environ.get("RECORD"):
        kit.RECORDED.mkdir(parents=True, exist_ok=True)
        recording = {"backend": backend, "start_ns": start_ns, "fresh": fresh, "after": after}
        write_packed(kit.RECORDED / f"{case}.json", json.dumps(recording, indent=1) + "\n")
