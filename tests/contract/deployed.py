"""A telemetry variant on real containers, for the contract tests: a Compose project of its own beside all others."""

import json
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from lab.backend import Backend
from lab.command.prepare import place
from lab.engine import ports
from lab.engine.compose import PROJECT, ComposeDriver
from lab.target.mesh.settings import MeshLevel
from lab.target.mesh.system import System
from tests.labs import MESH, ROOT

# And quick to deliver: an SDK would hold a batch for five seconds.
QUICK_START = {"JAVA_OPTS": "-XX:TieredStopAtLevel=1", "OTEL_BSP_SCHEDULE_DELAY": "1000"}


def parameters(names: Iterable[str]) -> list[object]:
    """Variants to try. A version of an instrumentation is left to `pytest -m long`: each takes up to a minute."""
    return [pytest.param(name, marks=[pytest.mark.long] if "@" in name else []) for name in names]


@contextmanager
def running(level: MeshLevel, out: Path) -> Iterator[tuple[System, Backend]]:
    """The system at one level, ready, with ports that the engine chose; removed afterwards."""
    name = f"{PROJECT}-contract-{Path(level.settings.topology_name).stem}"
    driver = ComposeDriver(ROOT, out.parent / "scratch", name)
    system = MESH.system(level, replace(place(), driver=driver, alone=False), out)
    system.driver.remove()
    try:
        system.create({})
        system.start()
        yield system, system.backend
    finally:
        system.driver.remove()


def ask(system: System, route: str, count: int, calls: int = 60) -> list[float]:
    """Asks the gateway so often, each time for what makes so many calls; returns how long each took, in seconds."""
    port = ports.chosen(("gateway",), system.driver.published_port)("GATEWAY_PORT")
    return [_ask(f"http://127.0.0.1:{port}/{route}", calls) for _ in range(count)]


def _ask(url: str, calls: int) -> float:
    start_s = time.perf_counter()
    with urllib.request.urlopen(url, timeout=30) as answer:
        body = json.loads(answer.read())
    assert body["calls"] == calls
    return time.perf_counter() - start_s
