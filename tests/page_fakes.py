"""A page without containers: what it depends on, and requests to it."""

import http.client
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any

from lab.command.choice import chosen, recorded
from lab.command.running import Running
from lab.page.known import Known
from lab.page.runs import Runs
from lab.page.server import Server
from lab.page.site import Site
from lab.page.state import State, View
from tests.labs import LAB

TOKEN = "0123456789abcdef"
NOW_S = 1_000_000.0


def running_system(*overrides: str, fault: str | None = None, **fields: Any) -> Running:
    """The record of a system that is up."""
    spec = recorded(chosen(LAB, "mesh", overrides, fault))
    return Running(**{"id": "one", "spec": spec, "ready": True, "ports": {"GATEWAY_PORT": 9000}, **fields})


@dataclass
class FakeChange:
    """A change that goes on until a test ends it."""

    said: str | None = None
    ended: bool = False

    def running(self) -> bool:
        return not self.ended

    def error(self) -> str | None:
        return self.said


@dataclass
class FakeWorld:
    """What the state depends on; `begun` are the changes so far."""

    current: Running | None = None
    old_s: float = 0.0
    is_gone: bool = False
    is_left: bool = False
    time_s: float = NOW_S
    begun: list[tuple[Sequence[str], Mapping[str, str]]] = field(default_factory=list)
    change: FakeChange = field(default_factory=FakeChange)
    was_known: Known | None = None

    def running(self) -> Running | None:
        return self.current

    def age_s(self) -> float:
        return self.old_s

    def known(self, of: Running) -> Known:
        if self.was_known is None or self.was_known.of != of:
            self.was_known = Known(LAB, of)
            # What would call the engine.
            self.was_known.__dict__["links"] = [{"name": "jaeger", "url": "http://127.0.0.1:16686/api/services"}]
        return self.was_known

    def gone(self, of: Running) -> bool:
        return self.is_gone

    def fault_left(self) -> bool:
        return self.is_left

    def begin(self, words: Sequence[str], variables: Mapping[str, str]) -> FakeChange:
        self.begun.append((words, variables))
        self.change = FakeChange()
        return self.change

    def now_s(self) -> float:
        return self.time_s


class FakeFigures:
    """Figures that say which was requested."""

    def containers(self) -> dict[str, Any]:
        return {"requested": "containers"}

    def marks(self) -> dict[str, Any]:
        return {"requested": "marks"}

    def graph(self, view: View) -> dict[str, Any]:
        return {"requested": "graph"}

    def traces(self, view: View) -> dict[str, Any]:
        return {"requested": "traces"}

    def trace(self, view: View, trace_id: str) -> dict[str, Any]:
        return {"requested": trace_id}


@dataclass(frozen=True)
class Said:
    """An answer as a client has it."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True)
class Client:
    """Calls a page at a port, with the token unless given another."""

    port: int

    def request(
        self, path: str, method: str = "GET", body: bytes | None = None, headers: Mapping[str, str] | None = None
    ) -> Said:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=10)
        try:
            all_headers = {"Authorization": f"Bearer {TOKEN}", **(headers or {})}
            connection.request(method, path, body, {name: text for name, text in all_headers.items() if text})
            answer = connection.getresponse()
            return Said(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            connection.close()

    def change(self, version: object, settings: object) -> Said:
        body = json.dumps({"version": version, "settings": settings}).encode()
        return self.request("/api/change", "POST", body, {"Content-Type": "application/json"})


@contextmanager
def served(folder: Path, world: FakeWorld) -> Iterator[Client]:
    """A page with this world, whose results and assets are below `folder`."""
    site = Site(State(world), FakeFigures(), Runs(folder / "results", folder), folder / "assets")
    server = Server(0, TOKEN, site.find)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield Client(server.server_port)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
