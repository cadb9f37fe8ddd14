"""The lab's server of the page, which answers with what a test gives it."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from threading import Event, Thread
from typing import Any

from lab.page.answers import HTML, Answer, Wrong, json_answer
from lab.page.policy import API, REPORT_HEADERS, PageRequest
from lab.page.server import Handler, Server
from lab.page.site import asset
from tests import page_system
from tests.repository import ROOT

ASSETS = ROOT / "lab" / "page" / "assets"
TOKEN = "0123456789abcdef" * 4
REPORT = "<!doctype html><title>r</title><style>h1 { color: rgb(1, 2, 3) }</style><h1>What does tracing cost?</h1>"
REPORT_PATH = "/report/ticket"


class PageServer:
    """The answers, which a test may change at any time, and the requests."""

    def __init__(self) -> None:
        self.state = page_system.state()
        self.answers = page_system.answers()
        self.requests: list[str] = []
        self.changes: list[dict[str, Any]] = []
        self.before_change: Callable[[], None] = lambda: None
        # A test clears it to keep a request waiting.
        self.answering = Event()
        self.answering.set()
        self._server: Server | None = None
        self._port = 0

    @property
    def url(self) -> str:
        """The page's address, without the token."""
        return f"http://127.0.0.1:{self._port}/"

    def start(self) -> None:
        """Listen: the first time on any port, then on the same."""
        self._server = Server(self._port, TOKEN, self.find)
        self._server.RequestHandlerClass = _rejecting(self.requests)
        self._port = self._server.server_port
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def stop(self) -> None:
        """Listen no more."""
        self.answering.set()
        if self._server:
            self._server.shutdown()
            self._server.server_close()
            self._server = None

    def count(self, request: str) -> int:
        """How often there was a request, such as `GET /api/state`."""
        return self.requests.count(request)

    def change(self, settings: dict[str, Any]) -> None:
        """Make settings true, as the page, another browser or a command does."""
        for control in self.state["controls"]:
            control["value"] = settings.get(control["name"], control["value"])
        self.state["version"] += 1

    def find(self, request: PageRequest, body: bytes) -> Answer:
        """Return what one request gets that the lab's server has checked."""
        if request.path == REPORT_PATH:
            return Answer(200, HTML, REPORT.encode(), REPORT_HEADERS)
        if not request.path.startswith(API):
            return asset(ASSETS, request.path)
        self.requests.append(f"{request.method} {request.path}")
        self.answering.wait(30)
        return self._changed(json.loads(body)) if request.method == "POST" else self._found(request.path)

    def _found(self, path: str) -> Answer:
        answers = {"/api/state": self.state, "/api/report": {"url": REPORT_PATH}, **self.answers}
        if path not in answers:
            raise Wrong(404, f"There is no {path}.")
        return json_answer(answers[path])

    def _changed(self, change: dict[str, Any]) -> Answer:
        self.before_change()
        if change["version"] != self.state["version"]:
            raise Wrong(409, "the state has changed since: look at it again", {"state": self.state})
        self.changes.append(change)
        self.change(change["settings"])
        self.state["phase"] = "changing"
        return json_answer(self.state, 202)


def _rejecting(requests: list[str]) -> type[Handler]:
    """The lab's handler, which also notes what it rejects for its token: that does not come to `find`."""

    class Rejecting(Handler):
        # A kept connection would be served after the server has stopped: here it is a thread, and not a process.
        protocol_version = "HTTP/1.0"

        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            if code == HTTPStatus.UNAUTHORIZED:
                requests.append(f"{self.command} {self.path}")

    return Rejecting


@contextmanager
def page_server() -> Iterator[PageServer]:
    """Yield a server that listens."""
    server = PageServer()
    server.start()
    try:
        yield server
    finally:
        server.stop()
