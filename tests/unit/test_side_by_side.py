"""All levels of a block at once: one window for all, nothing left behind, and each trial a complete one."""

import errno
import io
import json
import os
import shutil
import signal
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from lab.analysis import checks
from lab.analysis.checks import judge
from lab.analysis.metrics.window import cpu_cores
from lab.backend import BACKENDS
from lab.command import prepare
from lab.engine.driver import EngineGone, EngineRejected, Stack, StartFailed
from lab.errors import UserError
from lab.record.data import TrialData, read_trial
from lab.record.files import write_json_atomic
from lab.record.requests import read_requests
from lab.record.series import Series
from lab.record.trial import read_trial_record
from lab.report.build import build
from lab.report.terminal import print_results
from lab.run import runner
from lab.run.progress import Progress
from lab.run.start import Context
from lab.spec.problems import SpecError
from tests import benches, synthetic
from tests.benches import complete
from tests.fake import FakeBackend, FakeClock, FakeDriver
from tests.interrupting import signal_at_second_reading
from tests.labs import MESH, analyse, parse
from tests.streams import with_streams

SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: Does it run?
target: {kind: mesh, topology: mesh}
load: {generator: locust, schedule: {kind: closed-loop, users: 12, think_time_s: [1.0, 1.1]}}
factors:
  telemetry:
    baseline: {telemetry: baseline}
    otel-manual: {telemetry: otel-manual}
baseline: baseline
protocol: {warm_up_requests: 20, window_s: 15, repetitions: 2, retries: 0, seed: 7, side_by_side: true}
"""


USERS = "{generator: locust, schedule: {kind: closed-loop, users: 12, think_time_s: [1.0, 1.1]}}"


class Created(FakeDriver):
    """Keeps every stack that it created."""

    def create(self, deployment: Stack) -> None:
        super().create(deployment)
        self.deployments = [*getattr(self, "deployments", []), deployment]


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "jaeger", FakeBackend)
    benches.without_images(monkeypatch)


def side_by_side(spec: str = SPEC) -> tuple[Context, list[Created]]:
    clock = FakeClock()
    # Three systems at a third of the load of a system alone: more would saturate the machine.
    drivers = [
        Created(clock, records_at_start=True, change=lambda trial, _: replace(trial, users=trial.users // 3))
        for _ in range(3)
    ]
    return benches.together(drivers, spec), drivers


def test_a_block_is_one_window_of_all_levels(tmp_path: Path) -> None:
    on, drivers = side_by_side()
    run, said = complete(on, tmp_path)
    found = [read_trial_record(path.parent) for path in sorted(run.folder.glob("trials/*/trial.json"))]
    assert [trial.level for trial in found] == [planned["level"] for planned in run.manifest["order"]]
    assert all(trial.valid for trial in found)
    for block in (0, 1):
        windows = {(one.window_start_ns, one.window_end_ns) for one in found if one.block == block}
        ((start_ns, end_ns),) = windows
        assert end_ns - start_ns == 15 * 10**9
        warm_ns = [
            read_requests(path / "requests.csv").end_ns[19]
            for path in run.folder.glob("trials/*")
            if read_trial_record(path).block == block
        ]
        assert start_ns == max(warm_ns) + 2 * 10**9
    assert [trial.found for trial in found] == 6 * [{"users": 4}]
    assert "3 systems are running side by side, warming up" in said
    assert "measured for 15 s" in said
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 3


@pytest.mark.parametrize(("users", "full", "half"), [(12, 4, 2), (3, 2, 1)])
def test_a_level_with_half_of_the_load_has_half_of_its_share(users: int, full: int, half: int, tmp_path: Path) -> None:
    spec = SPEC.replace("users: 12", f"users: {users}")
    on, _ = side_by_side(spec.replace("otel-manual: {telemetry", "otel-manual: {users_fraction: 0.5, telemetry"))
    run, _ = complete(on, tmp_path)
    found = [read_trial_record(path.parent) for path in run.folder.glob("trials/*/trial.json")]
    assert {trial.level: trial.found["users"] for trial in found} == {
        "baseline": full,
        "placebo": full,
        "otel-manual": half,
    }


CALIBRATED = SPEC.replace("users: 12", "users: calibrated, baseline_cpu_fraction: 0.4")


def test_the_load_is_calibrated_on_all_systems_with_all_their_containers(tmp_path: Path) -> None:
    on, drivers = side_by_side(CALIBRATED)
    run, said = complete(on, tmp_path)
    found = run.manifest["calibration"]
    levels = [synthetic.QUICK[name] for name in ("baseline", "baseline", "otel-manual")]
    services_ms = sum(level.cpu_ms + level.backend_cpu_ms for level in levels) / 3
    # Generator and observer of a system use 0.155 cores; its four users send 3.6 requests/s.
    instruments_ms = 155 / (4 / 1.11)
    assert found["cpu_per_request_ms"] == pytest.approx(services_ms + instruments_ms, rel=0.03)
    assert found["systems"] == 3
    per_s = 0.4 * 2 * 1000 / found["cpu_per_request_ms"]
    assert found["users"] == pytest.approx(per_s * (1.05 + found["latency_mean_ms"] / 1000), abs=0.5)
    trials = [read_trial_record(path.parent) for path in run.folder.glob("trials/*/trial.json")]
    assert [trial.found for trial in trials] == 6 * [{"users": round(found["users"] / 3)}]
    assert all((run.folder / "calibration" / str(place) / "requests.csv").exists() for place in range(3))
    assert "users: a request took" in said
    assert [driver.done.count("remove") for driver in drivers] == [3] * 3


def test_users_of_levels_with_less_load_are_counted_as_if_they_had_all(tmp_path: Path) -> None:
    less = CALIBRATED.replace("otel-manual: {telemetry", "otel-manual: {users_fraction: 0.5, telemetry")
    on, _ = side_by_side(less)
    found = complete(on, tmp_path)[0].manifest["calibration"]
    per_s = 0.4 * 2 * 1000 / found["cpu_per_request_ms"] / ((1 + 1 + 0.5) / 3)
    assert found["users"] == pytest.approx(per_s * (1.05 + found["latency_mean_ms"] / 1000), abs=0.5)


def test_a_saturated_machine_rejects_all_trials_of_the_block(tmp_path: Path) -> None:
    on, drivers = side_by_side()
    for driver in drivers:
        driver.change = lambda trial, _: trial  # three times as many users as each should have
    run, _ = complete(on, tmp_path)
    trials = [read_trial_record(path.parent) for path in run.folder.glob("trials/*/trial.json")]
    assert len(trials) == 6
    assert all("of the host's CPUs (limit 70 %)" in trial.reasons[0] for trial in trials)


def test_the_spinner_is_idle_time_of_the_machine(tmp_path: Path) -> None:
    on, _ = side_by_side()
    run, _ = complete(on, tmp_path)
    for folder in run.folder.glob("trials/*"):
        data = read_trial(folder)
        used = cpu_cores(data, data.trial.containers) + data.trial.cores_side_by_side
        assert data.trial.cores_at_once == pytest.approx(used)


def test_loads_that_differ_by_less_than_a_user_are_rejected(tmp_path: Path) -> None:
    few = SPEC.replace("users: 12", "users: 3")
    on, _ = side_by_side(few.replace("otel-manual: {telemetry", "otel-manual: {users_fraction: 0.9, telemetry"))
    with pytest.raises(UserError, match=r"of 3 users shared by 3 systems, the users_fractions 0\.9 and 1 are not"):
        complete(on, tmp_path)


def test_each_system_has_ports_of_its_own_and_one_spinner_keeps_the_cpus_awake(tmp_path: Path) -> None:
    on, drivers = side_by_side(SPEC.replace("side_by_side: true", "side_by_side: true, keep_cpus_awake: true"))
    run, _ = complete(on, tmp_path)
    for driver in drivers:
        assert {one.environment["GATEWAY_PORT"] for one in driver.deployments} == {"0"}
    with_spinner = ["spinner" in driver.deployments[0].services for driver in drivers]
    assert with_spinner == [True, False, False]
    assert not list(run.folder.glob("trials/*/speed.jsonl"))


def test_what_the_others_use_beside_a_trial_is_the_labs_own(tmp_path: Path) -> None:
    on, _ = side_by_side()
    run, _ = complete(on, tmp_path)
    folder = next(run.folder.glob("trials/*-baseline"))
    data = read_trial(folder)
    beside = [
        read_trial(path.parent)
        for path in run.folder.glob("trials/*/trial.json")
        if path.parent != folder and read_trial_record(path.parent).block == data.trial.block
    ]
    used = sum(cpu_cores(other, other.trial.containers) for other in beside)
    assert data.trial.cores_side_by_side == pytest.approx(used)
    assert used > 0


def test_a_neighbour_is_distinguished_from_the_systems_side_by_side(tmp_path: Path) -> None:
    on, _ = side_by_side()
    run, _ = complete(on, tmp_path)
    data = read_trial(next(run.folder.glob("trials/*-baseline")))
    user = data.counters.host["cpu_user_ns"]
    busier = Series(user.t_ns, user.values + (user.t_ns - user.t_ns[0]) // 2)  # by half a core
    data = with_streams(data, counters=replace(data.counters, host={**data.counters.host, "cpu_user_ns": busier}))

    def reasons(cores: float) -> list[str]:
        trial = data.trial.model_copy(update={"cores_side_by_side": cores})
        return checks.reasons(replace(data, trial=trial), MESH.judgement.checks)

    assert any("programs outside the lab used" in reason for reason in reasons(0.0))
    assert reasons(0.5) == []


def test_ratios_are_those_of_the_systems(tmp_path: Path) -> None:
    on, _ = side_by_side()
    run, _ = complete(on, tmp_path)
    truth = synthetic.QUICK["otel-manual"].cpu_ms / synthetic.QUICK["baseline"].cpu_ms
    (row,) = [
        row
        for row in analyse(run.folder).estimates
        if (row.metric, row.level) == ("cpu_per_request_services_ms", "otel-manual")
    ]
    assert row.ratio == pytest.approx(truth, rel=0.1)
    assert row.n == 2


def test_report_and_terminal_say_that_levels_shared_the_machine(tmp_path: Path) -> None:
    on, _ = side_by_side()
    run, _ = complete(on, tmp_path)
    write_json_atomic(run.folder / "summary.json", analyse(run.folder).model_dump(mode="json"))
    shown = io.StringIO()
    print_results(run.folder, Console(file=shown, width=400))
    assert "measured at the same time, side by side" in shown.getvalue()
    assert " % of the machine, without the spinner (limit 70 %)." in shown.getvalue()
    page = build(run.folder).read_text()
    assert "measured at the same time, side by side" in page
    assert " % of the machine, without the spinner (limit 70 %)." in page
    assert "and measures all in one window. The number is the trial's" in page


def test_a_system_that_does_not_start_ends_the_run_and_all_are_removed(tmp_path: Path) -> None:
    on, drivers = side_by_side()
    drivers[1].dies_at_start = "a2"
    with pytest.raises(StartFailed, match="a2 ended with exit code 1"):
        complete(on, tmp_path)
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 3


@pytest.mark.parametrize("failure", [EngineRejected, EngineGone])
def test_an_engine_that_does_not_remove_a_system_loses_nothing_that_was_measured(
    failure: type[UserError], tmp_path: Path
) -> None:
    on, drivers = side_by_side()
    drivers[1].fail["remove"] = failure("the engine holds networks in use", "restart the engine")
    run = runner.new_run(on, tmp_path, ["lab", "run", "test"], {})
    with pytest.raises(UserError, match="holds networks in use") as failed:
        runner.complete(on, run, silent())
    assert (failed.value.hint, failed.value.exit_code) == ("restart the engine", failure.exit_code)
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 3
    assert_first_block_is_kept_and_the_second_follows(on, drivers, tmp_path)


def test_ctrl_c_while_systems_are_removed_loses_nothing_that_was_measured(tmp_path: Path) -> None:
    on, drivers = side_by_side()
    drivers[1].fail["remove"] = KeyboardInterrupt()
    run = runner.new_run(on, tmp_path, ["lab", "run", "test"], {})
    with pytest.raises(KeyboardInterrupt):
        runner.complete(on, run, silent())
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 3
    assert_first_block_is_kept_and_the_second_follows(on, drivers, tmp_path)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_a_block_is_judged_keeps_all_its_trials(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(folder: Path, *rest: Any) -> TrialData:
        judgements.append(folder)
        if len(judgements) == 2:
            os.kill(os.getpid(), number)
        return judge(folder, *rest)

    judgements: list[Path] = []
    monkeypatch.setattr(runner, "judge", judged)
    on, drivers = side_by_side()
    run = runner.new_run(on, tmp_path, ["lab", "run", "test"], {})
    with pytest.raises(KeyboardInterrupt):
        runner.complete(on, run, silent())
    assert len(judgements) == 3
    assert_first_block_is_kept_and_the_second_follows(on, drivers, tmp_path)


def test_a_signal_while_a_block_is_read_keeps_all_its_trials(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    signal_at_second_reading(monkeypatch, "lab.run.at_once")
    on, drivers = side_by_side()
    run = runner.new_run(on, tmp_path, ["lab", "run", "test"], {})
    with pytest.raises(KeyboardInterrupt):
        runner.complete(on, run, silent())
    assert_first_block_is_kept_and_the_second_follows(on, drivers, tmp_path)


def test_a_block_of_which_a_trial_was_deleted_is_measured_again_only_as_a_whole(tmp_path: Path) -> None:
    on, drivers = side_by_side()
    run, _ = complete(on, tmp_path)
    first, *others = sorted(run.folder.glob("trials/00[1-3]-*"))
    level = read_trial_record(first).level
    shutil.rmtree(first)
    with pytest.raises(UserError) as rejected:
        runner.complete(on, runner.unfinished_run(on, tmp_path, {}), silent())
    assert rejected.value.message == f"block 1 has no trial of {level}, and its levels are measured together"
    assert rejected.value.hint == "delete the folders of the block's other trials, too"
    assert [driver.done.count("create") for driver in drivers] == [2] * 3
    for other in others:
        shutil.rmtree(other)
    runner.complete(on, runner.unfinished_run(on, tmp_path, {}), silent())
    assert [driver.done.count("create") for driver in drivers] == [3] * 3
    assert len(list(run.folder.glob("trials/*/trial.json"))) == 6


def test_a_block_of_which_one_trial_cannot_be_judged_is_measured_again_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def judged(folder: Path, *rest: Any) -> TrialData:
        judgements.append(folder)
        if len(judgements) == 2:
            raise OSError(errno.EIO, "the disk does not answer")
        return judge(folder, *rest)

    judgements: list[Path] = []
    monkeypatch.setattr(runner, "judge", judged)
    on, drivers = side_by_side()
    run = runner.new_run(on, tmp_path, ["lab", "run", "test"], {})
    with pytest.raises(OSError, match="the disk does not answer"):
        runner.complete(on, run, silent())
    assert not list(run.folder.glob("trials/*"))
    runner.complete(on, runner.unfinished_run(on, tmp_path, {}), silent())
    assert [driver.done.count("create") for driver in drivers] == [3] * 3
    assert not list(run.folder.glob(".judged/*"))


def assert_first_block_is_kept_and_the_second_follows(on: Context, drivers: Sequence[Created], tmp_path: Path) -> None:
    run = runner.unfinished_run(on, tmp_path, {})
    kept = sorted(run.folder.glob("trials/*"))
    assert len(kept) == 3
    assert all(json.loads((trial / "trial.json").read_text())["valid"] for trial in kept)
    runner.complete(on, run, silent())
    assert [driver.done.count("create") for driver in drivers] == [2] * 3


def silent() -> Progress:
    return Progress(Console(file=io.StringIO()))


def test_one_that_is_never_warm_is_named(tmp_path: Path) -> None:
    on, drivers = side_by_side()
    drivers[2].records_at_start = False
    with pytest.raises(StartFailed, match=r"locust of level .* was not warm within"):
        complete(on, tmp_path)
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 3


def test_one_whose_load_ends_by_itself_is_named_long_before_all_should_be_warm(tmp_path: Path) -> None:
    on, drivers = side_by_side()
    drivers[2].records_at_start, drivers[2].dies_at_start = False, "locust"
    with pytest.raises(StartFailed, match=r"locust of level .* ended before it was stopped"):
        complete(on, tmp_path)
    assert on.place.clock.now_s() < 120
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 3


def test_an_engine_with_too_little_memory_is_reported_before_anything_starts() -> None:
    prepare.reject_small_memory(8, 1 << 30, 8 << 30)
    prepare.reject_small_memory(8, 1 << 30, None)
    with pytest.raises(UserError, match="8 systems at once"):
        prepare.reject_small_memory(8, 1 << 30, (8 << 30) - 1)
    with pytest.raises(UserError, match=r"8 systems at once may need 8\.0 GiB, the engine has 7\.9 GiB") as caught:
        prepare.reject_small_memory(8, 1 << 30, (8 << 30) - (100 << 20))
    assert "--levels" in caught.value.hint


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "otel-manual: {telemetry",
            "otel-manual: {sidecar: passthrough, telemetry",
            "sidecars' counters are read around one trial",
        ),
        ("retries: 0", "retries: 1", "a single trial cannot be repeated; expected 0"),
        ("warm_up_requests: 20", "warm_up_s: 10", "levels are warm at different times"),
        (
            "\nbaseline: baseline",
            "\nbaseline: baselin",
            "no level is called \"baselin\"; did you mean 'baseline'? (there are: baseline, otel-manual)",
        ),
        (USERS, "{generator: ghz, schedule: {kind: counted, requests: 200}}", "needs users, who continue"),
    ],
)
def test_what_does_not_go_together_is_rejected(old: str, new: str, message: str) -> None:
    assert old in SPEC
    with pytest.raises(SpecError) as caught:
        parse(SPEC.replace(old, new), "test")
    assert any(message in problem.text for problem in caught.value.problems)


def test_more_levels_than_the_engine_has_networks_for_are_rejected() -> None:
    levels = "".join(f"    level-{number}: {{}}\n" for number in range(11))
    spec = SPEC.replace("    otel-manual: {telemetry: otel-manual}\n", levels)
    with pytest.raises((SpecError, UserError)) as caught:
        parse(spec, "test")
    assert isinstance(caught.value, SpecError)
    assert "13 levels with the placebo; at most 12" in caught.value.problems[0].text
