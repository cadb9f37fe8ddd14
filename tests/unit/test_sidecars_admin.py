"""Calling Envoy: answers that a real one gave, and what is said when it does not answer, or rejects."""

import json
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from lab.engine.compose import ComposeDriver
from lab.engine.envoy_check import reject_invalid
from lab.errors import UserError
from lab.record import read_text
from lab.record.trial import RETRIES
from lab.target.mesh.sidecars import Admin

# Recorded from two Envoys, one behind the other, with `retries` and `rate-limit`, by tests/contract.
RECORDED = json.loads(read_text(Path(__file__).parents[1] / "fixtures/sidecars/admin.json"))


@contextmanager
def answering(answers: dict[str, tuple[int, str]]) -> Iterator[Admin]:
    """An administration page that gives these answers, by `<method> <path>`; 404 for anything else."""

    class Page(BaseHTTPRequestHandler):
        def answer(self) -> None:
            status, text = answers.get(f"{self.command} {self.path}", (404, "no such page"))
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        do_GET = do_POST = answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Admin(server.server_address[1])
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture
def envoy() -> Iterator[Admin]:
    with answering({question: (status, text) for question, (status, text) in RECORDED.items()}) as admin:
        yield admin


def test_a_real_ones_counters_have_envoys_names_and_are_whole_numbers(envoy: Admin) -> None:
    counters = envoy.counters()
    assert {f"cluster.inbound.{name}" for name in RETRIES} <= counters.keys()
    assert all(type(value) is int for value in counters.values())
    assert counters["http.inbound.downstream_rq_total"] > 0
    assert counters["cluster.inbound.upstream_rq_retry"] > 0
    assert counters["inbound.http_local_rate_limit.rate_limited"] > 0
    assert not any(name.startswith(("server.", "cluster_manager.", "http.admin.")) for name in counters)


def test_attempts_are_first_requests_and_retries(envoy: Admin) -> None:
    counters = envoy.counters()
    passed = counters["inbound.http_local_rate_limit.ok"]
    assert counters["cluster.inbound.upstream_rq_total"] == passed + counters["cluster.inbound.upstream_rq_retry"]


def test_a_real_one_is_ready_and_says_its_version(envoy: Admin) -> None:
    assert envoy.ready()
    assert envoy.version() == "1.40.0"


def test_runtime_values_are_set_by_name(envoy: Admin) -> None:
    envoy.set_runtime({"fault.http.abort.abort_percent": 20})
    assert envoy.runtime()["fault.http.abort.abort_percent"] == "20"


def test_a_blank_in_a_runtime_value_reaches_envoy_as_one() -> None:
    with answering({"POST /runtime_modify?a.b=1%20of%202": (200, "OK\n")}) as admin:
        admin.set_runtime({"a.b": "1 of 2"})


LIVE = (200, "LIVE\n")
HOSTS = "GET /stats?format=json&type=Gauges&filter=membership_healthy$"


@pytest.mark.parametrize(
    ("hosts", "page", "ready"),
    [(1, LIVE, True), (0, LIVE, False), (1, (503, "PRE_INITIALIZING\n"), False)],
)
def test_it_is_ready_once_it_is_live_and_knows_all_hosts(hosts: int, page: tuple[int, str], ready: bool) -> None:
    stats = json.dumps({"stats": [{"name": "cluster.outbound-s2.membership_healthy", "value": hosts}]})
    with answering({HOSTS: (200, stats), "GET /ready": page}) as admin:
        assert admin.ready() is ready


def test_a_bad_answer_and_none_are_an_os_error() -> None:
    with answering({}) as admin:
        with pytest.raises(OSError, match="answered with 404: no such page"):
            admin.counters()
        with pytest.raises(OSError, match="runtime_modify"):
            admin.set_runtime({"a": 1})
    with pytest.raises(ConnectionRefusedError):
        admin.counters()
    assert not admin.ready()


@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `docker` command made of a script that a test writes."""
    script = tmp_path / "docker"
    script.touch(mode=0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return script


def says(script: Path, *lines: str) -> None:
    script.write_text("\n".join(["#!/bin/sh", f'echo "$@" >>{script.parent}/calls', *lines]))


def test_what_envoy_says_of_a_wrong_configuration_is_shown(docker: Path) -> None:
    said = "[critical] error initializing configuration 'all/s1.json': no such  field:\\n 'clutser'"
    says(docker, f'''printf "all/s1.json\\n{said}\\n\\n"''')
    with pytest.raises(UserError) as rejected:
        reject_invalid({"all/s1.json": "{}"}, "tollbooth/envoy:1")
    assert rejected.value.message == "Envoy rejects the configuration all/s1.json: no such field: 'clutser'"


def test_nothing_is_said_where_envoy_takes_all(docker: Path, tmp_path: Path) -> None:
    says(docker, f"tar -t >{tmp_path}/given")
    reject_invalid({"all/s1.json": "{}", "all/s2.json": "{}"}, "tollbooth/envoy:1")
    assert (tmp_path / "given").read_text().split() == ["all/s1.json", "all/s2.json"]
    assert "--network none" in (tmp_path / "calls").read_text()


def test_an_envoy_that_is_not_there_is_named_with_what_to_do(docker: Path) -> None:
    says(docker, "echo 'No such image: tollbooth/envoy:1' >&2", "exit 125")
    with pytest.raises(UserError, match="No such image") as missing:
        reject_invalid({"all/s1.json": "{}"}, "tollbooth/envoy:1")
    assert "lab images" in missing.value.hint


def test_the_driver_finds_the_port_that_the_engine_chose(docker: Path, tmp_path: Path) -> None:
    says(docker, "echo 127.0.0.1:49153")
    driver = ComposeDriver(tmp_path, tmp_path)
    driver.ids = {"s1": "0123"}
    assert driver.published_port("s1", 9901) == 49153
    assert (tmp_path / "calls").read_text() == "port 0123 9901/tcp\n"
