"""A server on 127.0.0.1 with the page's files, which answers as the lab does, from what a test gives it."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import urlsplit

from tests import page_system
from tests.repository import ROOT

ASSETS = ROOT / "lab" / "page" / "assets"
TOKEN = "0123456789abcdef" * 4
POLICY = "; ".join(
    (
        "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
        "frame-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
    )
)  # fmt: skip
REPORT_POLICY = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'"
REPORT = "<!doctype html><title>r</title><style>h1 { color: rgb(1, 2, 3) }</style><h1>What does tracing cost?</h1>"
KINDS = {".html": "text/html", ".css": "text/css", ".js": "text/javascript"}

Answer = tuple[int, Any]


class PageServer:
    """The answers, which a test may change at any time, and what was asked."""

    def __init__(self) -> None:
        self.state = page_system.state()
        self.answers = page_system.answers()
        self.asked: list[str] = []
        self.changes: list[dict[str, Any]] = []
        self.before_change: Callable[[], None] = lambda: None
        self.most_at_once = 0
        # A test clears it to keep a request waiting.
        self.answering = Event()
        self.answering.set()
        self._at_once = 0
        self._lock = Lock()
        self._server: _Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """The page's address, without the token."""
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        """Listen: the first time on any port, then on the same."""
        self._server = _Server(("127.0.0.1", self._port), _handler(self))
        self._port = self._server.server_address[1]
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        """Listen no more."""
        self.answering.set()
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def count(self, asked: str) -> int:
        """How often something was asked, such as `GET /api/state`."""
        return self.asked.count(asked)

    def change(self, settings: dict[str, Any]) -> None:
        """Make settings true, as the page, another browser or a command does."""
        for control in self.state["controls"]:
            control["value"] = settings.get(control["name"], control["value"])
        self.state["version"] += 1

    def answer(self, asked: str, token: str | None, body: bytes) -> Answer:
        """Return what one request gets, and count how many there are at once."""
        with self._lock:
            self.asked.append(asked)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            self.answering.wait(30)
            return self._answer(asked, token, body)
        finally:
            with self._lock:
                self._at_once -= 1

    def _answer(self, asked: str, token: str | None, body: bytes) -> Answer:
        method, path = asked.split()
        if token != f"Bearer {TOKEN}":
            return 401, {"error": "the token is missing or wrong: open the address that `make up` prints"}
        if method == "POST":
            return self._changed(json.loads(body))
        if path == "/api/state":
            return 200, self.state
        if path == "/api/report":
            return 200, {"url": "/report/ticket"}
        return (200, self.answers[path]) if path in self.answers else (404, {"error": f"There is no {path}."})

    def _changed(self, change: dict[str, Any]) -> Answer:
        self.before_change()
        if change["version"] != self.state["version"]:
            return 409, {"error": "the state has changed since: look at it again", "state": self.state}
        self.changes.append(change)
        self.change(change["settings"])
        self.state["phase"] = "changing"
        return 202, self.state


class _Server(ThreadingHTTPServer):
    # A browser asks for all modules at once. A connection too many waits for seconds.
    request_queue_size = 64

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a page that was closed while it waited."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def page_server() -> Iterator[PageServer]:
    """Yield a server that listens."""
    server = PageServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _handler(page: PageServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = urlsplit(self.path).path
            if path.startswith("/api/"):
                self._api("GET", b"")
            elif path == "/report/ticket":
                self._send(200, "text/html", REPORT.encode(), REPORT_POLICY)
            else:
                self._file("index.html" if path == "/" else path.removeprefix("/assets/"))

        def do_POST(self) -> None:
            self._api("POST", self.rfile.read(int(self.headers["Content-Length"])))

        def _api(self, method: str, body: bytes) -> None:
            asked = f"{method} {urlsplit(self.path).path}"
            status, answer = page.answer(asked, self.headers["Authorization"], body)
            self._send(status, "application/json", json.dumps(answer).encode(), POLICY)

        def _file(self, name: str) -> None:
            found = {path.name: path for path in ASSETS.iterdir()}.get(name)
            if found is None:
                self._send(404, "text/plain", b"", POLICY)
            else:
                self._send(200, KINDS[found.suffix], found.read_bytes(), POLICY)

        def _send(self, status: int, kind: str, body: bytes, policy: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Content-Security-Policy", policy)
            self.send_header("X-Content-Type-Options", "nosniff")
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    return Handler
