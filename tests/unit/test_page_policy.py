"""Who may request what of the page: each rule of a request, and the headers of every answer."""

from collections.abc import Mapping

import pytest

from lab.page.answers import Wrong
from lab.page.policy import HEADERS, MOST_BODY_BYTES, REPORT_HEADERS, PageRequest, body_bytes, check, headers_of

TOKEN = "0123456789abcdef"
OURS = {"host": "127.0.0.1:8070", "authorization": f"Bearer {TOKEN}"}
JSON = {"content-type": "application/json"}


def status(path: str = "/api/state", method: str = "GET", **headers: str) -> int:
    """What a request is rejected with; 200 if it is not. Headers: `-` for a minus is `_`; "" leaves one out."""
    given = {**OURS, **{name.replace("_", "-"): text for name, text in headers.items()}}
    try:
        check(PageRequest(method, path, {}, {name: text for name, text in given.items() if text}), 8070, TOKEN)
    except Wrong as wrong:
        assert wrong.error
        return wrong.status
    return 200


@pytest.mark.parametrize("host", ["127.0.0.1:8070", "localhost:8070"])
def test_the_page_is_at_two_names(host: str) -> None:
    assert status(host=host) == 200
    assert status(host=host, origin=f"http://{host}") == 200


@pytest.mark.parametrize(
    "host",
    [
        "",
        "127.0.0.1",
        "127.0.0.1:80",
        "127.0.0.1:8071",
        "evil.example:8070",
        "127.0.0.1.evil.example:8070",
        "localhost.evil.example:8070",
        "LOCALHOST:8070",
        "[::1]:8070",
        "0.0.0.0:8070",
        "127.0.0.1:8070,evil.example",
    ],
)
@pytest.mark.parametrize("path", ["/", "/api/state", "/assets/main.js", "/report/00"])
def test_any_other_host_is_rejected(host: str, path: str) -> None:
    assert status(path, host=host) == 403


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://evil.example",
        "https://127.0.0.1:8070",
        "http://127.0.0.1",
        "http://127.0.0.1:8071",
        "http://localhost:8070",
        "http://127.0.0.1:8070.evil.example",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_an_origin_is_the_host(origin: str, method: str) -> None:
    assert status(method=method, origin=origin) == 403


@pytest.mark.parametrize(
    "authorization",
    ["", TOKEN, f"Basic {TOKEN}", "Bearer ", f"Bearer {TOKEN[:-1]}", f"Bearer {TOKEN}0", f"bearer {TOKEN}", "Bearer é"],
)
@pytest.mark.parametrize("path", ["/api/state", "/api/change", "/api/runs", "/api/nothing"])
def test_every_call_needs_the_token(authorization: str, path: str) -> None:
    assert status(path, authorization=authorization) == 401


@pytest.mark.parametrize("path", ["/", "/assets/main.js", "/report/00", "/api"])
def test_what_holds_no_data_needs_none(path: str) -> None:
    assert status(path, authorization="") == 200


@pytest.mark.parametrize("method", ["OPTIONS", "PUT", "DELETE", "HEAD", "PATCH"])
def test_only_two_methods(method: str) -> None:
    assert status(method=method) == 405


def length(method: str, **headers: str) -> int:
    """The length of a body, or what it is rejected with."""
    given = {name.replace("_", "-"): text for name, text in headers.items()}
    try:
        return body_bytes(PageRequest(method, "/api/change", {}, given))
    except Wrong as wrong:
        return wrong.status


@pytest.mark.parametrize(
    ("method", "headers", "wanted"),
    [
        ("GET", {}, 0),
        ("GET", {"content_length": "0"}, 0),
        ("GET", {"content_length": "1"}, 413),
        ("POST", {}, 411),
        ("POST", {**JSON, "content_length": "17"}, 17),
        ("POST", {"content_type": "application/json; charset=utf-8", "content_length": "17"}, 17),
        ("POST", {"content_type": "application/json", "content_length": str(MOST_BODY_BYTES)}, MOST_BODY_BYTES),
        ("POST", {"content_type": "application/json", "content_length": str(MOST_BODY_BYTES + 1)}, 413),
        ("POST", {"content_type": "application/json", "content_length": "0" * 10 + "99999"}, 413),
        ("POST", {"content_type": "application/json", "content_length": "-1"}, 411),
        ("POST", {"content_type": "application/json", "content_length": "²"}, 411),
        ("POST", {"content_type": "application/json", "content_length": "1,2"}, 411),
        ("POST", {"content_type": "application/json", "transfer_encoding": "chunked", "content_length": "1"}, 411),
        ("POST", {"content_type": "text/plain", "content_length": "17"}, 415),
        ("POST", {"content_length": "17"}, 415),
    ],
)
def test_a_body_is_short_and_json(method: str, headers: Mapping[str, str], wanted: int) -> None:
    given = {name.replace("-", "_"): text for name, text in headers.items()}
    assert length(method, **given) == wanted


def test_no_other_site_may_frame_read_or_script_the_page() -> None:
    policy = dict(part.split(" ", 1) for part in HEADERS["Content-Security-Policy"].split("; "))
    assert policy["default-src"] == policy["frame-ancestors"] == policy["base-uri"] == policy["form-action"] == "'none'"
    assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
    assert not any("unsafe" in sources for sources in policy.values())
    assert HEADERS["X-Content-Type-Options"] == "nosniff"
    assert HEADERS["X-Frame-Options"] == "DENY"
    assert not any(name.startswith("Access-Control") or name == "Set-Cookie" for name in HEADERS)


def test_a_report_is_in_a_sandbox_without_scripts() -> None:
    headers = headers_of(REPORT_HEADERS)
    policy = headers["Content-Security-Policy"].split("; ")
    assert policy[0] == "sandbox"
    assert "default-src 'none'" in policy
    assert "frame-ancestors 'self'" in policy
    assert not any(part.startswith("script-src") for part in policy)
    assert "X-Frame-Options" not in headers
    assert headers["X-Content-Type-Options"] == "nosniff"
