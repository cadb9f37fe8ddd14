"""A context whose engine takes no time, for the tests of runs."""

from pathlib import Path

from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.run.start import Context
from tests.fake import FakeDriver
from tests.labs import MESH, parse

ROOT = Path(__file__).resolve().parents[1]


def place(driver: FakeDriver, alone: bool = True) -> Place:
    """Return a place on an engine that takes no time."""
    return Place(ROOT, CpuSplit((0, 1), (0, 1)), driver, driver.clock, ROOT / ".lab" / "faults.json", alone)


def context(driver: FakeDriver, spec: str) -> Context:
    """Return the context of an experiment called `test`."""
    return Context(parse(spec), MESH, place(driver))
