"""A telemetry variant on real containers, for the contract tests."""

import json
import time
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab import workshop
from lab.backends import Backend
from lab.ports import port
from lab.spec import Level
from lab.system import System

# And quick to deliver: an SDK would hold a batch for five seconds.
QUICK_START = {"JAVA_OPTS": "-XX:TieredStopAtLevel=1", "OTEL_BSP_SCHEDULE_DELAY": "1000"}


def parameters(names: Iterable[str]) -> list[object]:
    """Variants to try. A version of an instrumentation is left to `pytest -m long`: each takes up to a minute."""
    return [pytest.param(name, marks=[pytest.mark.long] if "@" in name else []) for name in names]


@contextmanager
def running(level: Level, topology: str, out: Path) -> Iterator[tuple[System, Backend]]:
    """The system at one level, ready; removed afterwards."""
    system = workshop.system(topology)
    backend = system.backend(level)
    system.driver.remove()
    try:
        system.create(level, out, {})
        system.start(level, out)
        yield system, backend
    finally:
        system.driver.remove()


def ask(route: str, calls: int = 60) -> float:
    """Asks the gateway once for what makes so many calls; returns how long it took, in seconds."""
    start_s = time.perf_counter()
    with urllib.request.urlopen(f"http://127.0.0.1:{port('GATEWAY_PORT')}/{route}", timeout=30) as answer:
        body = json.loads(answer.read())
    assert body["calls"] == calls
    return time.perf_counter() - start_s
