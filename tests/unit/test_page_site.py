"""The page over HTTP: what is at which path, what it takes to get it, and that nothing else can be had."""

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.page.policy import HEADERS
from lab.page.tickets import GOOD_FOR_S, Tickets
from tests.fake import FakeClock
from tests.page_fakes import Client, FakeWorld, running_system, served

RUN = "results/quick/2026-01-01T000000Z"
REPORT = "<!doctype html><title>a report</title>"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with assets, and a run with a report."""
    (tmp_path / "assets").mkdir()
    for name, text in {
        "index.html": "<!doctype html>",
        "main.js": "export {};",
        "page.css": "",
        "data.json": "{}",
    }.items():
        (tmp_path / "assets" / name).write_text(text)
    run = tmp_path / RUN
    run.mkdir(parents=True)
    (run / "summary.json").write_text("{}")
    (run / "report.html").write_text(REPORT)
    (tmp_path / "secret.js").write_text("secret")
    return tmp_path


@pytest.fixture
def page(folder: Path) -> Iterator[Client]:
    with served(folder, FakeWorld(running_system())) as client:
        yield client


@pytest.mark.parametrize(
    "path", ["/api/state", "/api/graph", "/api/containers", "/api/marks", "/api/traces", "/api/runs"]
)
def test_each_call_needs_the_token_and_is_json(page: Client, path: str) -> None:
    assert page.request(path).status == 200
    assert page.request(path).headers["Content-Type"] == "application/json"
    rejected = page.request(path, headers={"Authorization": ""})
    assert rejected.status == 401
    assert set(rejected.json()) == {"error"}


@pytest.mark.parametrize(
    ("path", "type_"),
    [
        ("/", "text/html; charset=utf-8"),
        ("/assets/main.js", "text/javascript; charset=utf-8"),
        ("/assets/page.css", "text/css; charset=utf-8"),
    ],
)
def test_assets_need_no_token_and_have_their_types(page: Client, path: str, type_: str) -> None:
    answer = page.request(path, headers={"Authorization": ""})
    assert (answer.status, answer.headers["Content-Type"]) == (200, type_)


@pytest.mark.parametrize("path", ["/", "/api/state", "/api/nothing", "/nothing"])
def test_every_answer_has_the_headers_and_none_of_cors(page: Client, path: str) -> None:
    answer = page.request(path, headers={"Origin": f"http://127.0.0.1:{page.port}"})
    assert HEADERS.items() <= answer.headers.items()
    assert not any(name.lower().startswith(("access-control", "set-cookie")) for name in answer.headers)
    assert "Python" not in answer.headers["Server"]


@pytest.mark.parametrize(
    "path",
    [
        "/assets/",
        "/assets/data.json",
        "/assets/nothing.js",
        "/assets/../secret.js",
        "/assets/%2e%2e/secret.js",
        "/assets/..%2fsecret.js",
        "/assets/main.js/",
        "//etc/passwd",
        "/secret.js",
        "/api/traces/../state",
        "/api/traces/xyz",
        "/report/" + "0" * 32,
    ],
)
def test_there_is_nothing_else(page: Client, path: str) -> None:
    assert page.request(path).status == 404


def test_another_site_is_rejected_even_with_the_token(page: Client) -> None:
    assert page.request("/api/state", headers={"Origin": "http://evil.example"}).status == 403
    assert page.request("/api/state", headers={"Host": f"evil.example:{page.port}"}).status == 403
    assert page.request("/api/state", "OPTIONS", headers={"Origin": "http://evil.example"}).status == 403


def test_it_listens_on_one_address_only(page: Client) -> None:
    # All of 127.0.0.0/8 is loopback.
    with socket.socket() as other, pytest.raises(ConnectionRefusedError):
        other.connect(("127.0.0.2", page.port))


def test_a_trace_is_requested_by_its_id(page: Client) -> None:
    assert page.request("/api/traces/00ff").json() == {"requested": "00ff"}


# --- changes ----------------------------------------------------------------------------------------------------------


def test_a_change_answers_with_the_new_state(page: Client) -> None:
    version = page.request("/api/state").json()["version"]
    answer = page.change(version, {"telemetry": "zipkin"})
    assert (answer.status, answer.json()["phase"], answer.json()["version"]) == (202, "changing", version + 1)
    late = page.change(version, {"telemetry": "zipkin"})
    assert late.status == 409
    assert set(late.json()) == {"error", "state"}


@pytest.mark.parametrize(
    ("body", "type_", "status"),
    [
        (b"{", "application/json", 400),
        (b"[" * 4000, "application/json", 400),
        (b"[]", "application/json", 400),
        (b'{"version": 1}', "application/json", 400),
        (b'{"version": 1, "settings": {}, "command": "id"}', "application/json", 400),
        (b'{"version": 1, "settings": {}}', "text/plain", 415),
        (b" " * 5000, "application/json", 413),
    ],
)
def test_a_change_that_is_not_one(page: Client, body: bytes, type_: str, status: int) -> None:
    answer = page.request("/api/change", "POST", body, {"Content-Type": type_})
    assert answer.status == status
    assert set(answer.json()) == {"error"}


def test_nothing_else_takes_a_body(page: Client) -> None:
    assert page.request("/api/state", "POST", b"{}", {"Content-Type": "application/json"}).status == 404
    assert page.request("/api/change").status == 404


# --- reports ----------------------------------------------------------------------------------------------------------


def test_a_report_is_served_once_in_a_sandbox(page: Client) -> None:
    url = page.request(f"/api/report?folder={RUN}").json()["url"]
    answer = page.request(url, headers={"Authorization": ""})
    assert answer.body.decode() == REPORT
    assert answer.headers["Content-Security-Policy"].startswith("sandbox; default-src 'none'")
    assert "X-Frame-Options" not in answer.headers
    assert page.request(url).status == 404


@pytest.mark.parametrize(
    "name", ["", "results", "results/quick", f"{RUN}/", f"{RUN}/../{RUN[8:]}", "../secret.js", "/etc", f"{RUN}%00"]
)
def test_a_report_is_of_a_run_that_is_listed(page: Client, name: str) -> None:
    assert page.request(f"/api/report?folder={name}").status == 404
    assert page.request(f"/api/report?folder={RUN}", headers={"Authorization": ""}).status == 401


def test_a_report_that_is_a_link_is_none(page: Client, folder: Path) -> None:
    (folder / RUN / "report.html").unlink()
    (folder / RUN / "report.html").symlink_to(folder / "secret.js")
    assert page.request(f"/api/report?folder={RUN}").status == 404


def test_a_ticket_does_not_last(tmp_path: Path) -> None:
    clock = FakeClock()
    tickets = Tickets(clock.now_s)
    early, late = tickets.give(tmp_path), tickets.give(tmp_path)
    clock.sleep(GOOD_FOR_S - 1)
    assert tickets.take(early) == tmp_path
    clock.sleep(1)
    assert tickets.take(late) is None
    assert early != late


def test_a_fault_of_the_labs_own_is_an_answer(page: Client, folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # A summary that is none of the lab's leaves its run out; a folder that cannot be read is a fault.
    assert page.request("/api/runs").json() == {"runs": []}
    (folder / RUN / "summary.json").write_text(json.dumps({"format": "tollbooth.summary", "version": 99}))
    assert page.request("/api/runs").json() == {"runs": []}
    assert "Traceback" not in capfd.readouterr().err
