"""A benchmark's fork in its container leaves the record that the lab reads; one that fails leaves its reason."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from lab.command import paths
from lab.engine import OBSERVER, images
from lab.engine.compose import PROJECT, ComposeDriver
from lab.record import observed_until_ns, read_json, write_targets
from lab.record.jmh import FORMAT, VERSION, read_jmh
from lab.target.jmh.deployment import RECORD, JmhDeployment
from lab.target.jmh.settings import JmhLevel, JmhLevelSettings
from tests.contract.deployed import apart

# The image is built from all services, which takes a minute.
pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.long, pytest.mark.timeout(600)]

FIXTURE = paths.ROOT / "fixtures" / "jmh.v1.json"


@contextmanager
def ended(out: Path, benchmark: str, **parameters: str) -> Iterator[JmhDeployment]:
    """A short fork of a benchmark that has ended; removed afterwards."""
    images.ensure(["benchmarks", "observer"], print)
    driver = ComposeDriver(paths.ROOT, out.parent / "scratch", f"{PROJECT}-contract-benchmark")
    settings = {"benchmark": benchmark, "parameters": parameters}
    short = {"warm_up_iterations": 1, "iterations": 2, "iteration_ms": 100}
    level = JmhLevel("x", JmhLevelSettings.model_validate({**settings, **short}))
    fork = JmhDeployment(level, apart(driver, out), out)
    driver.remove()
    try:
        fork.deploy({}, (OBSERVER,))
        # As a run does: the observer sees what is listed.
        names = {container.id: name for name, container in driver.containers().items()}
        write_targets(out / "targets.json", names, driver.networks())
        fork.ready((OBSERVER,))
        yield fork
    finally:
        driver.remove()


def test_a_fork_leaves_what_the_fixture_has(tmp_path: Path) -> None:
    with ended(tmp_path / "out", "CallerBenchmark", tracer="sdk-discard", attributes="10") as fork:
        assert fork.place.driver.containers()["benchmark"].running
        path = fork.out / RECORD
        new, known = (read_json(one, FORMAT, VERSION) for one in (path, FIXTURE))
        (run,) = read_jmh(path).results
    assert new["failed"] is None
    (result,), (expected,) = new["results"], known["results"]
    assert expected.keys() <= result.keys()
    assert expected["secondaryMetrics"].keys() <= result["secondaryMetrics"].keys()
    assert run.primary.unit == "ns/op"
    assert run.window.start_ns < run.window.end_ns


def test_the_window_is_seen_by_the_observer(tmp_path: Path) -> None:
    with (
        ended(tmp_path / "out", "BurstBenchmark", tracer="late", threads="2") as fork,
        fork.measuring(fork.level, 1, 0.0) as measuring,
    ):
        (part,) = measuring.parts()
        assert part.window.end_ns < observed_until_ns(fork.out)  # type: ignore[attr-defined]
        (run,) = read_jmh(fork.out / RECORD).results
    counted = {name: sum(run.secondary[name].iterations) for name in ("bursts", "operations", "spans")}
    assert counted["spans"] == 4_000 * counted["bursts"] > 0
    assert counted["bursts"] <= counted["operations"]


def test_a_benchmark_that_fails_leaves_its_reason(tmp_path: Path) -> None:
    with ended(tmp_path / "out", "CallerBenchmark", tracer="unknown", attributes="10") as fork:
        record = read_jmh(fork.out / RECORD)
    assert record.results == []
    assert record.failed is not None and "unknown" in record.failed
