"""What the page has at which path. A request that comes here was checked (`policy.py`)."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lab.page.answers import HTML, Answer, Wrong, json_answer
from lab.page.policy import REPORT_HEADERS, PageRequest
from lab.page.runs import Runs
from lab.page.state import State, View
from lab.page.tickets import Tickets

TYPES = {".html": HTML, ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8"}
INDEX = "index.html"
ASSET = re.compile(r"/assets/([a-z][a-z0-9_-]*\.(?:css|js))")
TRACE = re.compile(r"/api/traces/([0-9a-f]{1,32})")
REPORT = re.compile(r"/report/([0-9a-f]{32})")
NOTHING = "there is nothing at this address"

Data = Mapping[str, Any]


class Figures(Protocol):
    """The running system's figures: see `Live`."""

    def containers(self) -> Data:
        """Return what each container uses."""

    def marks(self) -> Data:
        """Return what changes did."""

    def graph(self, view: View) -> Data:
        """Return the picture with figures."""

    def traces(self, view: View) -> Data:
        """Return the newest traces."""

    def trace(self, view: View, trace_id: str) -> Data:
        """Return one trace."""


@dataclass(frozen=True)
class Site:
    """Everything that is served. `assets` is the folder of the files that hold no data."""

    state: State
    live: Figures
    runs: Runs
    assets: Path
    tickets: Tickets = field(default_factory=Tickets)

    def find(self, request: PageRequest, body: bytes) -> Answer:
        """Return the answer to a request. Raises `Wrong`."""
        if request.method == "POST":
            return self._post(request, body)
        gets: Mapping[str, Callable[[], Data]] = {
            "/api/state": lambda: self.state.view().shown(),
            "/api/graph": lambda: self.live.graph(self.state.view()),
            "/api/containers": self.live.containers,
            "/api/marks": self.live.marks,
            "/api/traces": lambda: self.live.traces(self.state.view()),
            "/api/runs": lambda: {"runs": self.runs.listed()},
            "/api/report": lambda: self._link(request.query.get("folder", "")),
        }
        if request.path in gets:
            return json_answer(gets[request.path]())
        if found := TRACE.fullmatch(request.path):
            return json_answer(self.live.trace(self.state.view(), found[1]))
        if found := REPORT.fullmatch(request.path):
            return self._report(found[1])
        return asset(self.assets, request.path)

    def _post(self, request: PageRequest, body: bytes) -> Answer:
        if request.path != "/api/change":
            raise Wrong(404, NOTHING)
        try:
            data = json.loads(body)
        except (ValueError, RecursionError):
            raise Wrong(400, "the body is not JSON") from None
        if not isinstance(data, dict) or data.keys() != {"version", "settings"}:
            raise Wrong(400, "the body is an object with `version` and `settings`")
        return json_answer(self.state.change(data["version"], data["settings"]).shown(), 202)

    def _link(self, folder: str) -> Data:
        return {"url": f"/report/{self.tickets.give(self.runs.report(folder))}"}

    def _report(self, ticket: str) -> Answer:
        path = self.tickets.take(ticket)
        try:
            if path is not None:
                return Answer(200, HTML, path.read_bytes(), REPORT_HEADERS)
        except OSError:
            pass
        raise Wrong(404, "this address was used, or is too old: open the report again")


def asset(folder: Path, path: str) -> Answer:
    """Return the file of a path, which holds no data. Raises `Wrong`. Its name has no part of another folder's."""
    named = ASSET.fullmatch(path)
    name = INDEX if path == "/" else named[1] if named else ""
    file = folder / name
    if not name or not file.is_file():
        raise Wrong(404, NOTHING)
    return Answer(200, TYPES[file.suffix], file.read_bytes())
