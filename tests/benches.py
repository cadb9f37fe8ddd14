"""A context whose engine takes no time, for the tests of runs."""

import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.run import runner
from lab.run.progress import Progress
from lab.run.start import Context
from tests.fake import FakeDriver
from tests.labs import MESH, parse

ROOT = Path(__file__).resolve().parents[1]


def place(driver: FakeDriver, alone: bool = True) -> Place:
    """Return a place on an engine that takes no time."""
    return Place(ROOT, CpuSplit((0, 1), (0, 1)), driver, driver.clock, ROOT / ".lab" / "faults.json", alone)


def without_images(patch: pytest.MonkeyPatch) -> None:
    """Let runs start without an engine: they record no machine, no revision and no images."""
    patch.setattr("lab.engine.provenance.collect", lambda *_: {"versions": {}, "images": {}})
    patch.setattr("lab.engine.provenance.resolved", dict)


def complete(on: Context, results: Path) -> tuple[runner.Run, str]:
    """Run an experiment to its end; return the run and what it printed."""
    said = io.StringIO()
    run = runner.new_run(on, results, ["lab", "run", "test"], {})
    runner.complete(on, run, Progress(Console(file=said, width=200)))
    return run, said.getvalue()


def context(driver: FakeDriver, spec: str) -> Context:
    """Return the context of an experiment called `test`."""
    return Context(parse(spec), MESH, place(driver))


def together(drivers: Sequence[FakeDriver], spec: str) -> Context:
    """Return the context of an experiment whose systems run at the same time, each on a driver of its own."""
    on = context(FakeDriver(drivers[0].clock), spec)
    return replace(on, places=tuple(place(driver, alone=False) for driver in drivers))
