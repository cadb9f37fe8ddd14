"""A tiny experiment on real containers, as a user runs one."""

import itertools
import json
import re
import signal
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from lab.analysis import metrics
from lab.command import paths
from lab.engine.clock import SystemClock, wait_until
from lab.record.data import read_trial
from lab.record.summary import read_manifest
from tests.command_line import LAB, lab
from tests.e2e.tiny import containers
from tests.labs import MESH

pytestmark = [pytest.mark.containers, pytest.mark.alone, pytest.mark.timeout(900)]

# Reasons that a machine gives on which other things run; what the lab itself may do wrong is not among them.
THE_MACHINE = re.compile(
    "stole|programs outside the lab|not steady|still warming up|requests ended in the window"
    "|the lab's containers used|after the gap that follows their turn|its set was rejected"
)


def rejected_for_the_machine(folder: Path) -> bool:
    """Whether all rejected trials were rejected for other activity on this machine: no defect of the lab."""
    trials = [json.loads(path.read_text()) for path in folder.glob("trials/*/trial.json")]
    reasons = [reason for trial in trials for reason in trial["reasons"]]
    return bool(reasons) and all(THE_MACHINE.search(reason) for reason in reasons)


@dataclass(frozen=True)
class Course:
    """An experiment that a user interrupts after its first trial, and then goes on with."""

    interrupted: subprocess.CompletedProcess[str]
    left: Sequence[str]
    """Containers that the interruption left."""
    kept: Mapping[Path, str]
    """Records of trials that it left, by their files."""
    done: subprocess.CompletedProcess[str]
    folder: Path


@pytest.fixture(scope="module")
def course(tiny: Path) -> Course:
    # A shell's background jobs ignore Ctrl-C, and so does what they start: `env` gives it back its meaning.
    words = ["env", "--default-signal=INT", *LAB, "experiment", str(tiny)]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert running.stdout is not None
    for line in running.stdout:
        if line.startswith("[  1/3]"):
            break
    # The second trial is under way: wait until its containers are there, then interrupt.
    assert wait_until(lambda: bool(containers()), 60, 0.2, SystemClock())
    running.send_signal(signal.SIGINT)
    out, errors = running.communicate(timeout=60)
    interrupted = subprocess.CompletedProcess(words, running.returncode, out, errors)
    folder = (paths.RESULTS / "tiny" / "latest").resolve()
    kept = {path: path.read_text() for path in folder.glob("trials/*/trial.json")}
    return Course(interrupted, containers(), kept, lab("experiment", str(tiny), "--resume"), folder)


def test_ctrl_c_leaves_nothing_running_and_loses_no_trial(course: Course) -> None:
    assert course.interrupted.returncode == 130
    assert "error: interrupted" in course.interrupted.stderr.splitlines()
    assert course.left == []
    assert len(course.kept) == 1


def test_resuming_goes_on(course: Course) -> None:
    ((path, measured),) = course.kept.items()
    valid = json.loads(measured)["valid"]
    assert valid or rejected_for_the_machine(course.folder), measured
    # A trial that was rejected for other activity is measured again, and its record stays beside the new one.
    assert ("1 of 3 trials were run before" in course.done.stdout) == valid
    assert path.read_text() == measured


def test_an_experiment_ends_with_a_table_and_a_report(course: Course) -> None:
    done, folder = course.done, course.folder
    assert done.returncode == 0 or rejected_for_the_machine(folder), done.stdout + done.stderr
    assert "otel-manual" in done.stdout
    assert "placebo" in done.stdout
    assert "\x1b" not in done.stdout
    assert (folder / "report.html").stat().st_size > 20_000
    manifest = read_manifest(folder)
    assert manifest["finished"]
    assert manifest["versions"]["java"].startswith("25")
    assert manifest["images"]["services"].startswith("sha256:")


def test_every_trial_has_records_and_the_predicted_spans(course: Course) -> None:
    folder = course.folder
    trials = {path.parent: json.loads(path.read_text()) for path in folder.glob("trials/*/trial.json")}
    assert {trial["level"] for trial in trials.values()} == {"baseline", "placebo", "otel-manual"}
    for path, trial in trials.items():
        assert trial["valid"] or rejected_for_the_machine(folder), trial["reasons"]
        assert (path / "counters.jsonl").exists()
        assert (path / "requests.csv").exists()
        assert (path / "logs" / "gateway.log").exists()
        if trial["level"] == "otel-manual":
            requests = len((path / "requests.csv").read_text().splitlines()) - 2
            assert trial["spans_in_trace"] == 123
            # Requests that were in flight at the end made spans, too, but no row.
            assert requests * 123 <= trial["backend"]["accepted_spans"] <= (requests + trial["found"]["users"]) * 123


def test_bytes_distinguish_the_planes(course: Course) -> None:
    trials = [read_trial(path) for path in course.folder.glob("trials/*")]
    by_level = {data.trial.level: metrics.values(data, MESH.judgement.metrics) for data in trials}
    assert by_level["baseline"]["bytes_per_request_telemetry"] < 100
    assert by_level["otel-manual"]["bytes_per_request_telemetry"] > 1000
    # traceparent is at least 55 characters on each of 61 calls.
    added = by_level["otel-manual"]["bytes_per_request_app"] - by_level["baseline"]["bytes_per_request_app"]
    assert 61 * 55 < added < 61 * 200


def test_nothing_is_left_running(course: Course) -> None:
    assert course
    assert containers() == []


def test_analysis_and_report_can_be_done_again(course: Course) -> None:
    folder = course.folder
    before = (folder / "summary.json").read_text()
    assert lab("analyse", str(folder)).returncode == 0
    assert (folder / "summary.json").read_text() == before
    assert lab("report", str(folder)).returncode == 0


def test_levels_side_by_side_are_whole_trials_of_one_window(tiny: Path) -> None:
    settings = ("side_by_side=true", "retries=0", "warm_up_requests=30", "window_s=12")
    done = lab("run", str(tiny), *(word for setting in settings for word in ("--set", setting)))
    folder = (paths.RESULTS / "tiny" / "latest").resolve()
    assert "3 systems are running side by side" in done.stdout, done.stderr
    trials = [read_trial(path.parent) for path in folder.glob("trials/*/trial.json")]
    assert {data.trial.level for data in trials} == {"baseline", "placebo", "otel-manual"}
    assert len({(data.trial.window_start_ns, data.trial.window_end_ns) for data in trials}) == 1
    assert all(data.trial.valid for data in trials) or rejected_for_the_machine(folder)
    for data in trials:
        # Each has a backend and networks of its own, so that nothing of the others is counted as its own.
        traced = data.trial.level == "otel-manual"
        assert data.trial.spans_in_trace == (123 if traced else None)
        assert (metrics.values(data, MESH.judgement.metrics)["bytes_per_request_telemetry"] > 1000) == traced
        assert data.trial.cores_side_by_side > 0
    assert containers() == []


def test_systems_that_take_turns_are_one_set_of_valid_trials(tiny: Path) -> None:
    schedule = "{generator: open-loop, schedule: {kind: slices, requests: 6, measure_s: 5}}"
    settings = (f"load={schedule}", "protocol.window_s=null", "retries=0", "warm_up_requests=40")
    done = lab("run", str(tiny), *(word for setting in settings for word in ("--set", setting)))
    folder = (paths.RESULTS / "tiny" / "latest").resolve()
    assert "3 systems are warm; measuring what a request of each costs" in done.stdout, done.stderr
    trials = [read_trial(path.parent) for path in folder.glob("trials/*/trial.json")]
    assert {data.trial.level for data in trials} == {"baseline", "placebo", "otel-manual"}
    assert all(data.trial.valid for data in trials) or rejected_for_the_machine(folder)
    turns = sorted((turn.start_ns, turn.next_ns) for data in trials for turn in data.trial.slices)
    assert all(before[1] == after[0] for before, after in itertools.pairwise(turns))
    for data in trials:
        window = data.requests.ended_in(data.trial.window_start_ns, data.trial.window_end_ns)
        assert len(window) == 6 * len(data.trial.slices)
        assert data.trial.spans_in_trace == (123 if data.trial.level == "otel-manual" else None)
    assert containers() == []
