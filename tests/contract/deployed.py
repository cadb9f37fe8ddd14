"""A mesh on real containers for the contract tests, in a separate Compose project."""

import json
import time
import urllib.request
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from lab.backend import Backend
from lab.command.prepare import place
from lab.engine import images, ports
from lab.engine.compose import PROJECT, ComposeDriver
from lab.engine.place import Place
from lab.target.mesh.settings import MeshLevel
from lab.target.mesh.system import System
from lab.target.mesh.topology import load_topology
from tests.labs import MESH, ROOT

FOLDER = Path(__file__).parent
# Short delays of delivery too: by default an SDK holds a batch for five seconds.
QUICK_START = {"JAVA_OPTS": "-XX:TieredStopAtLevel=1", "OTEL_BSP_SCHEDULE_DELAY": "1000"}


class Remembering(ComposeDriver):
    """Reads all ports from the engine once after each start: a process of `docker` costs what many requests cost."""

    def __init__(self, root: Path, scratch: Path, project: str) -> None:
        super().__init__(root, scratch, project)
        self._ports: dict[tuple[str, int], int] = {}

    def start(self, services: Sequence[str]) -> None:
        """See `Driver.start`. The engine may choose other ports."""
        self._ports = {}
        super().start(services)

    def published_port(self, service: str, port: int) -> int:
        """See `Driver.published_port`."""
        # A fault may start a container at the same time.
        known = self._ports
        if (service, port) not in known:
            known = self._ports = dict(self._published())
        return known[service, port]

    def _published(self) -> Iterator[tuple[tuple[str, int], int]]:
        for item in json.loads(self._docker("inspect", "--type", "container", *self.ids.values())):
            name = item["Config"]["Labels"]["com.docker.compose.service"]
            for inside, outside in (item["NetworkSettings"]["Ports"] or {}).items():
                for address in outside or ():
                    yield (name, int(inside.partition("/")[0])), int(address["HostPort"])


@cache
def provide(*names: str) -> None:
    """Provides images; looks once at each combination."""
    images.ensure(names, print)


def apart(driver: ComposeDriver, out: Path) -> Place:
    """The place of a system beside others, such as the lab's own: with its ports, and with its journal of faults."""
    return replace(place(), driver=driver, alone=False, journal=out.parent / "journal.json")


def parameters(names: Iterable[str]) -> list[object]:
    """Variants to test. Versions of an instrumentation only run with `pytest -m long`: each takes up to a minute."""
    return [pytest.param(name, marks=[pytest.mark.long] if "@" in name else []) for name in names]


def system_with(topology: Path, level: MeshLevel, at: Place, out: Path) -> System:
    """The system of a level with the topology of a file, not yet created."""
    system = MESH.deployment(level, at, out)
    return replace(system, parts=replace(system.parts, topology=load_topology(topology)))


@contextmanager
def running(
    level: MeshLevel, topology: Path, out: Path, name: str = "", kind: type[Remembering] = Remembering
) -> Iterator[tuple[System, Backend]]:
    """The system of a level, ready, with ports that the engine chose; removed afterwards.

    `name` distinguishes it from others that run at the same time, if not its topology does. `kind`: of its driver.
    """
    driver = kind(ROOT, out.parent / "scratch", f"{PROJECT}-contract-{name or topology.stem}")
    system = system_with(topology, level, apart(driver, out), out)
    system.driver.remove()
    try:
        system.deploy({})
        system.ready()
        yield system, system.backend
    finally:
        system.driver.remove()


def timed_requests(system: System, route: str, count: int, calls: int = 60) -> list[float]:
    """Sends `count` requests, each of which makes so many calls; returns how long each took, in seconds."""
    port = ports.chosen(("gateway",), system.driver.published_port)("GATEWAY_PORT")
    return [_timed_request(f"http://127.0.0.1:{port}/{route}", calls) for _ in range(count)]


def _timed_request(url: str, calls: int) -> float:
    start_s = time.perf_counter()
    with urllib.request.urlopen(url, timeout=30) as answer:
        body = json.loads(answer.read())
    assert body["calls"] == calls
    return time.perf_counter() - start_s
