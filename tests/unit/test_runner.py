"""An experiment's life on an engine that takes no time: order, verdicts, retries, resumption, what is left behind."""

import errno
import io
import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from rich.console import Console

from lab.backend import BACKENDS
from lab.engine.driver import EngineGone, StartFailed
from lab.errors import UserError
from lab.record.requests import read_requests
from lab.record.trial import StartPart, WindowPart, read_trial_record
from lab.run import runner
from lab.run.measure import Measured, StartInterrupted
from lab.run.progress import Progress
from lab.run.start import Context
from lab.run.stopping import FIRST_STAGE_BLOCKS
from lab.spec.level import Level
from tests import benches, synthetic
from tests.fake import FakeBackend, FakeDriver
from tests.interrupting import signal_at_second_reading

ROOT = Path(__file__).resolve().parents[2]
SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: Does it run?
target: {kind: mesh, topology: mesh}
load:
  generator: locust
  schedule: {kind: closed-loop, users: calibrated, baseline_cpu_fraction: 0.4, think_time_s: [1.0, 1.1]}
factors:
  telemetry:
    baseline: {telemetry: baseline}
    otel-manual: {telemetry: otel-manual}
baseline: baseline
protocol: {warm_up_s: 10, window_s: 15, repetitions: 2, retries: 2, seed: 7}
"""

COUNTED = """
format: tollbooth.experiment
version: 2
title: Test
question: Does it run?
target: {kind: mesh, topology: fan-out}
load: {generator: ghz, schedule: {kind: counted, requests: 200, concurrency: 4}}
factors:
  error_probability: {p-0: {error_probability: 0}, p-0.2: {error_probability: 0.2}}
baseline: p-0
protocol: {warm_up_s: 1, repetitions: 1, retries: 0, without_restart: [error_probability]}
"""


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "jaeger", FakeBackend)
    benches.without_images(monkeypatch)


def context(driver: FakeDriver, spec: str = SPEC) -> Context:
    return benches.context(driver, spec)


def complete(on: Context, results: Path, run: runner.Run | None = None) -> tuple[runner.Run, str]:
    said = io.StringIO()
    run = run or runner.new_run(on, results, ["lab", "run", "test"], {})
    runner.complete(on, run, Progress(Console(file=said, width=200)))
    return run, said.getvalue()


def trials(run: runner.Run) -> dict[str, dict[str, Any]]:
    return {path.parent.name: json.loads(path.read_text()) for path in sorted(run.folder.glob("trials/*/trial.json"))}


def test_every_level_and_the_placebo_run_once_per_block_in_the_planned_order(tmp_path: Path) -> None:
    run, said = complete(context(FakeDriver()), tmp_path)
    found = trials(run)
    assert [trial["level"] for trial in found.values()] == [planned["level"] for planned in run.manifest["order"]]
    assert len(found) == 6
    assert all(trial["valid"] for trial in found.values())
    assert json.loads((run.folder / "manifest.json").read_text())["finished"]
    assert (tmp_path / "test" / "latest").resolve() == run.folder.resolve()
    assert "[  6/6]" in said
    assert "left" in said.splitlines()[3]


def test_the_load_is_calibrated_once_and_kept(tmp_path: Path) -> None:
    run, said = complete(context(FakeDriver()), tmp_path)
    # The synthetic baseline takes 40 ms a request. Generator and observer use 0.155 cores at 12 users, of whom each
    # sends a request every 1.11 s. So 0.4 of 2 CPUs carry 14.7 requests/s.
    cost_ms = 40 + 155 / (12 / 1.11)
    assert run.manifest["calibration"]["cpu_per_request_ms"] == pytest.approx(cost_ms, rel=0.03)
    assert run.manifest["calibration"]["users"] == pytest.approx(0.4 * 2 * 1000 / cost_ms * 1.11, abs=1.5)
    assert [trial["found"] for trial in trials(run).values()] == 6 * [{"users": run.manifest["calibration"]["users"]}]
    assert (run.folder / "calibration" / "requests.csv").exists()
    assert "users: a request took" in said


def test_a_warm_up_by_requests_ends_with_the_last_of_them_and_the_window_begins_two_seconds_later(
    tmp_path: Path,
) -> None:
    run, _ = complete(context(FakeDriver(), SPEC.replace("warm_up_s: 10", "warm_up_requests: 20")), tmp_path)
    for name, trial in trials(run).items():
        requests = read_requests(run.folder / "trials" / name / "requests.csv")
        assert trial["window"]["start_ns"] == requests.end_ns[19] + 2 * 10**9
        assert trial["window"]["end_ns"] == requests.end_ns[19] + 17 * 10**9


def test_a_rejected_trial_is_kept_with_its_reason_and_tried_again(tmp_path: Path) -> None:
    def stolen_once(trial: synthetic.Trial, load: int) -> synthetic.Trial:
        return replace(trial, steal_fraction=0.2) if load == 3 else trial

    run, said = complete(context(FakeDriver(change=stolen_once)), tmp_path)
    found = trials(run)
    rejected = [name for name, trial in found.items() if not trial["valid"]]
    assert len(rejected) == 1
    assert found[f"{rejected[0]}-try2"]["valid"]
    assert "stole" in str(found[rejected[0]]["reasons"])
    assert "because" in said


def test_retries_are_bounded(tmp_path: Path) -> None:
    def always_stolen(trial: synthetic.Trial, load: int) -> synthetic.Trial:
        return replace(trial, steal_fraction=0.2) if load > 1 else trial

    driver = FakeDriver(change=always_stolen)
    run, _ = complete(context(driver), tmp_path)
    assert driver.loads == 1 + 6 * 3
    assert not any(trial["valid"] for trial in trials(run).values())


def test_no_trial_is_begun_that_the_budget_does_not_allow_and_the_manifest_says_so(tmp_path: Path) -> None:
    driver = FakeDriver()
    # A trial on the fake engine takes 32 s: the calibration and two trials fit into two minutes.
    run, said = complete(context(driver, SPEC.replace("seed: 7", "seed: 7, budget_min: 2")), tmp_path)
    assert len(trials(run)) == 2
    assert driver.clock.now_s() <= 120
    assert run.manifest["stopped"] == "the budget of 2 min allows no further trial"
    assert "stopped: the budget" in said
    assert run.manifest["finished"]
    assert run.manifest["versions"] == {"java": "25.0.3"}


def test_time_spent_before_an_interruption_counts(tmp_path: Path) -> None:
    driver = FakeDriver()
    on = context(driver, SPEC.replace("seed: 7", "seed: 7, budget_min: 3.1"))
    run = runner.new_run(on, tmp_path, ["lab"], {})
    driver.change = lambda trial, load: (driver.fail.update(wait=EngineGone("gone")) or trial) if load == 3 else trial
    with pytest.raises(EngineGone):
        complete(on, tmp_path, run)
    complete(on, tmp_path, runner.unfinished_run(on, tmp_path, {}))
    assert len(trials(run)) == 4


def test_a_run_ends_after_the_block_that_makes_its_intervals_narrow_enough(tmp_path: Path) -> None:
    spec = SPEC.replace("repetitions: 2", "repetitions: 30").replace("seed: 7", "seed: 7, half_width: 0.2")
    run, _ = complete(context(FakeDriver(), spec), tmp_path)
    assert len(trials(run)) == 3 * FIRST_STAGE_BLOCKS
    assert run.manifest["stopped"] == "every interval is within ±20 points"


@pytest.mark.parametrize("error", [KeyboardInterrupt(), EngineGone("gone"), OSError(28, "No space left on device")])
def test_whatever_ends_a_run_leaves_nothing_running_and_resuming_does_the_rest(
    tmp_path: Path, error: Exception
) -> None:
    driver = FakeDriver()
    on = context(driver)
    run = runner.new_run(on, tmp_path, ["lab"], {})
    driver.change = lambda trial, load: (driver.fail.update(wait=error) or trial) if load == 3 else trial
    with pytest.raises(type(error)):
        complete(on, tmp_path, run)
    assert driver.done[-1] == "remove"
    assert driver.deployment is None
    kept = trials(run)
    assert len(kept) == 2

    resumed = runner.unfinished_run(on, tmp_path, {})
    assert resumed.folder == run.folder
    _, said = complete(on, tmp_path, resumed)
    assert "2 of 6 trials were run before" in said
    assert len(trials(run)) == 6
    assert {name: trial for name, trial in trials(run).items() if name in kept} == kept
    assert not (run.folder / ".in-progress").exists()


def test_ctrl_c_keeps_the_trials_of_a_start_that_were_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def cut_short(
        _context: Context, levels: Sequence[Level[Any]], _found: Mapping[str, float], _seed: int, out: Path
    ) -> list[Measured]:
        starts.append([level.name for level in levels])
        measured = [_synthetic(out, level.name) for level in levels]
        if len(levels) == 2:
            raise StartInterrupted(measured[:1])
        return measured

    starts: list[list[str]] = []
    monkeypatch.setattr("lab.run.runner.run_start", cut_short)
    on = context(FakeDriver(), COUNTED)
    run = runner.new_run(on, tmp_path, ["lab"], {})
    with pytest.raises(KeyboardInterrupt):
        complete(on, tmp_path, run)
    first, second = starts[-1]
    assert first in {trial["level"] for trial in trials(run).values()}
    complete(on, tmp_path, runner.unfinished_run(on, tmp_path, {}))
    # One start is left of it, and the placebo's where that was not before it.
    assert [second] in starts
    assert [first] not in starts
    assert sorted(str(trial["level"]) for trial in trials(run).values()) == ["p-0", "p-0.2", "placebo"]


def test_a_signal_while_a_trial_is_read_keeps_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signal_at_second_reading(monkeypatch, "lab.run.measure")
    on = context(FakeDriver(), SPEC.replace("users: calibrated, baseline_cpu_fraction: 0.4", "users: 12"))
    run = runner.new_run(on, tmp_path, ["lab"], {})
    with pytest.raises(KeyboardInterrupt):
        complete(on, tmp_path, run)
    assert [trial["valid"] for trial in trials(run).values()] == [True, True]


def _synthetic(out: Path, level: str) -> Measured:
    """Leave what a trial of the level would have left."""
    shutil.rmtree(out, ignore_errors=True)
    truth = synthetic.QUICK["baseline"]
    with tempfile.TemporaryDirectory() as folder:
        written = synthetic.write_trial(Path(folder), synthetic.Trial(1, 0, level, truth), np.random.default_rng(1))
        shutil.copytree(written, out)
    record = read_trial_record(out)
    start = StartPart(**{name: getattr(record, name) for name in StartPart.model_fields})
    return Measured(out, out / "requests.csv", record.found, [WindowPart(window=record.window), start])


@pytest.mark.parametrize("failing", [{}, {"wait": EngineGone("a container died of it")}])
def test_a_disk_that_fills_up_is_named_whatever_it_broke(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failing: dict[str, Exception]
) -> None:
    def fills_up(trial: synthetic.Trial, load: int) -> synthetic.Trial:
        if load == 3:
            driver.fail.update(failing)
            monkeypatch.setattr("shutil.disk_usage", lambda _: SimpleNamespace(free=4096))
        return trial

    driver = FakeDriver(change=fills_up)
    with pytest.raises(UserError) as caught:
        complete(context(driver), tmp_path)
    assert caught.value.message.endswith("is full")
    assert "--resume" in caught.value.hint
    assert len(list(tmp_path.glob("test/2*/trials/*/trial.json"))) == 1
    assert driver.deployment is None


def test_resuming_with_another_specification_is_rejected(tmp_path: Path) -> None:
    runner.new_run(context(FakeDriver()), tmp_path, ["lab"], {})
    changed = context(FakeDriver(), SPEC.replace("window_s: 15", "window_s: 16"))
    with pytest.raises(Exception, match="another specification"):
        runner.unfinished_run(changed, tmp_path, {})


@pytest.mark.parametrize("changed", ["images", "topologies"])
def test_resuming_with_another_system_is_rejected(
    changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = runner.new_run(context(FakeDriver()), tmp_path, ["lab"], {})
    on = context(FakeDriver())
    assert runner.unfinished_run(on, tmp_path, {}).folder == run.folder
    if changed == "images":
        monkeypatch.setattr("lab.engine.provenance.resolved", lambda _: {"services": "sha256:2"})
    else:
        run.manifest["topologies"]["mesh"]["nodes"] = {}
        run.save()
    with pytest.raises(UserError, match=f"measured other .*{changed} than there are now"):
        runner.unfinished_run(on, tmp_path, {})


def test_a_run_that_was_interrupted_before_its_manifest_is_passed_over(tmp_path: Path) -> None:
    on = context(FakeDriver())
    run = runner.new_run(on, tmp_path, ["lab"], {})
    (tmp_path / "test" / "2999-01-01T000000Z").mkdir()
    assert runner.unfinished_run(on, tmp_path, {}).folder == run.folder


def test_a_calibration_that_could_not_be_recorded_is_made_again(tmp_path: Path) -> None:
    on = context(FakeDriver())
    run = runner.new_run(on, tmp_path, ["lab"], {})
    with pytest.MonkeyPatch.context() as patch, pytest.raises(OSError, match="disk full"):
        patch.setattr(runner.Run, "save", Mock(side_effect=OSError(errno.ENOSPC, "disk full")))
        complete(on, tmp_path, run)
    complete(on, tmp_path, runner.unfinished_run(on, tmp_path, {}))
    assert len(trials(run)) == 6


def test_a_run_that_its_budget_ended_goes_on_with_a_larger_one(tmp_path: Path) -> None:
    small, large = (SPEC.replace("seed: 7", f"seed: 7, budget_min: {minutes}") for minutes in (2, 30))
    driver = FakeDriver()
    run, _ = complete(context(driver, small), tmp_path)
    assert len(trials(run)) == 2
    with pytest.raises(Exception, match="no interrupted run of test to continue"):
        runner.unfinished_run(context(driver, small), tmp_path, {})
    on = context(driver, large)
    run, said = complete(on, tmp_path, runner.unfinished_run(on, tmp_path, {}))
    assert "2 of 6 trials were run before" in said
    assert len(trials(run)) == 6
    assert run.manifest["stopped"] is None
    assert run.manifest["spec"]["protocol"]["budget_min"] == 30


def test_a_run_with_an_end_goes_on_with_more_repetitions_and_not_with_fewer(tmp_path: Path) -> None:
    driver = FakeDriver()
    run, _ = complete(context(driver), tmp_path)
    before = trials(run)
    more, fewer = (context(driver, SPEC.replace("repetitions: 2", f"repetitions: {n}")) for n in (3, 1))
    with pytest.raises(Exception, match="no interrupted run of test to continue"):
        runner.unfinished_run(fewer, tmp_path, {})
    run, said = complete(more, tmp_path, runner.unfinished_run(more, tmp_path, {}))
    assert "6 of 9 trials were run before" in said
    found = trials(run)
    assert before.items() <= found.items()
    assert [trial["level"] for trial in found.values()] == [planned["level"] for planned in run.manifest["order"]]
    assert len(found) == 9


def test_a_finished_run_goes_on_where_a_trial_was_deleted(tmp_path: Path) -> None:
    on = context(FakeDriver())
    run, _ = complete(on, tmp_path)
    before = trials(run)
    gone = list(before)[2]
    shutil.rmtree(run.folder / "trials" / gone)
    run, said = complete(on, tmp_path, runner.unfinished_run(on, tmp_path, {}))
    assert "5 of 6 trials were run before" in said
    again = trials(run)
    assert list(again) == list(before)
    assert {name for name in before if again[name] != before[name]} <= {gone}
    assert json.loads((run.folder / "manifest.json").read_text())["finished"]
    with pytest.raises(UserError, match="no interrupted run of test to continue"):
        runner.unfinished_run(on, tmp_path, {})


def test_there_must_be_something_to_resume(tmp_path: Path) -> None:
    complete(context(FakeDriver()), tmp_path)
    with pytest.raises(Exception, match="no interrupted run of test to continue"):
        runner.unfinished_run(context(FakeDriver()), tmp_path, {})


@pytest.mark.parametrize(
    ("driver", "message"),
    [
        (FakeDriver(never_ready="a3"), "container a3 was not ready after 180 s"),
        (FakeDriver(dies_at_start="a2"), "container a2 ended with exit code 1 instead of becoming ready"),
    ],
)
def test_a_container_that_does_not_come_up_is_named_with_its_last_log_lines(
    tmp_path: Path, driver: FakeDriver, message: str
) -> None:
    with pytest.raises(StartFailed) as caught:
        complete(context(driver), tmp_path)
    assert caught.value.message == message
    assert "line two" in caught.value.hint
    assert driver.deployment is None


def test_a_trial_goes_through_its_phases_in_order(tmp_path: Path) -> None:
    driver = FakeDriver()
    run, _ = complete(context(driver), tmp_path)
    assert driver.done[:6] == ["create", "start", "start", "wait", "stop", "remove"]
    assert set(next(iter(trials(run).values()))["phases_s"]) == {"create", "start", "load", "collect", "remove"}
