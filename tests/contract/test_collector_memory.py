"""A ramp that is too much for a Collector's memory: its end is the first error, and the trial is valid."""

import socket
from dataclasses import replace
from pathlib import Path

import pytest

from lab.analysis.checks import judge
from lab.command.paths import ROOT
from lab.command.prepare import context
from lab.engine import PROJECT, ComposeDriver, images
from lab.run.measure import run_start
from lab.run.plan import make_plan
from lab.run.runner import gather
from lab.target import delays
from tests.labs import LAB, parse

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(180)]

# A hundred kilobytes are on their way for each worker. On a busy machine traces take long, but none times out in the
# ramp's 20 s.
RAMP = """
format: tollbooth.experiment
version: 2
title: What is the first error of a Collector with hardly any memory?
question: None of its workers' traces is small.
target: {kind: collector, pipeline: basic, returns: true}
load:
  generator: traces
  schedule: {kind: ramp, workers: 500, workers_per_s: 25}
factors:
  memory:
    little:
      memory_mib: 64
      spans: [100, 100]
      span_duration_ms: [0, 0]
      attributes: [10, 10]
      attribute_bytes: [100, 100]
      send_timeout_ms: 20000
      receive_timeout_ms: 20000
baseline: little
protocol: {repetitions: 1, seed: 1}
observer: {rate_hz: 4}
"""


@pytest.fixture
def own_ports(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ports of its own for the Collector, so that it may run beside any other."""
    for variable in ("COLLECTOR_PORT", "COLLECTOR_METRICS_PORT"):
        with socket.create_server(("127.0.0.1", 0)) as free:
            monkeypatch.setenv(variable, str(free.getsockname()[1]))


@pytest.mark.usefixtures("own_ports")
def test_a_collector_that_runs_out_of_memory_ends_a_ramp(tmp_path: Path) -> None:
    images.ensure(["collector", "traces", "observer"], print)
    experiment = parse(RAMP)
    driver = ComposeDriver(ROOT, tmp_path / "scratch", f"{PROJECT}-contract-memory")
    shared = context(LAB, experiment)
    shared = replace(shared, place=replace(shared.place, driver=driver))
    (level, *_), (trial, *_) = experiment.levels(), make_plan(experiment).trials
    (measured,) = run_start(shared, [level], {}, trial.seed, tmp_path / "start")
    gather(measured.folder, None, tmp_path / "trial")
    data = judge(tmp_path / "trial", measured.record(trial, level, 1), shared.target.judgement)
    assert data.trial.containers["collector"].oom_killed
    # Other tests may use the machine's CPUs at the same time.
    assert [reason for reason in data.trial.reasons if "collector" in reason.lower()] == []
    found = delays.reached(data)
    assert found.outcome == delays.ENDED
    assert 0 < found.workers < 500
    assert found.traces_per_s > 0
