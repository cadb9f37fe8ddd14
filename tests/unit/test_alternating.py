"""Systems that take turns: who gets load when, what is counted, and what rejects a set."""

import json
from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from lab.analysis import checks
from lab.analysis.components import Components
from lab.analysis.metrics.alternating import BUSY
from lab.analysis.metrics.jvm import SETTLED_JIT_FRACTION
from lab.backend import BACKENDS
from lab.command.expected import _advice, _sentence, expected_lines
from lab.command.keep import keep
from lab.command.slices import slices_of
from lab.engine import StartFailed
from lab.errors import UserError
from lab.record import SECOND_NS, Slice, SliceCost, TrialData, TrialRecord, read_trial_record
from lab.record.data import read_trial
from lab.record.requests import read_requests
from lab.report import findings
from lab.report.facts import order, shared_machine
from lab.run.runner import Run
from lab.run.settling import BLOCK_REQUESTS, QUIET_BLOCKS
from lab.run.start import Context
from lab.spec.problems import SpecError
from tests import benches, synthetic
from tests.benches import complete
from tests.fake_turns import SilentBackend, Turns, systems
from tests.labs import LAB, MESH, analyse, parse
from tests.streams import with_streams
from tests.synthetic.truth import EPOCH_NS

SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: Does it run?
target: {kind: mesh, topology: mesh}
load: {generator: open-loop, schedule: {kind: slices, requests: 10, measure_s: 20, gap_s: 0.1}}
factors:
  telemetry:
    baseline: {telemetry: baseline}
    otel-manual: {telemetry: otel-manual}
    zipkin: {telemetry: otel-manual}
baseline: baseline
protocol: {warm_up_requests: 20, repetitions: 2, retries: 0, seed: 7}
"""
BACKEND = "jaeger"


def without_engine(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(BACKENDS, BACKEND, SilentBackend)
    benches.without_images(patch)


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    without_engine(monkeypatch)


def alternating(spec: str = SPEC) -> tuple[Context, list[Turns]]:
    drivers = systems(4)
    return benches.together(drivers, spec), drivers


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Context, Run, str]:
    """Return the context of a complete run, the run, and what was said. The tests only read it, or analyse it."""
    with pytest.MonkeyPatch.context() as patch:
        without_engine(patch)
        on, _ = alternating()
        return on, *complete(on, tmp_path_factory.mktemp("finished"))


def test_one_system_has_load_at_a_time(finished: tuple[Context, Run, str]) -> None:
    _, run, said = finished
    trials = [read_trial_record(path.parent) for path in sorted(run.folder.glob("trials/*/trial.json"))]
    assert [trial.reasons for trial in trials] == [[]] * 8
    for block in (0, 1):
        turns = sorted(
            (turn.start_ns, turn.next_ns, trial.level)
            for trial in trials
            if trial.block == block
            for turn in trial.slices
        )
        assert all(before[1] == after[0] for before, after in pairwise(turns))
        assert {len(trial.slices) for trial in trials if trial.block == block} == {int(trials[0].found["rounds"])}
    assert "4 systems are warm; measuring what a request of each costs" in said


def test_interleaved_systems_share_each_round_and_the_machine(tmp_path: Path) -> None:
    interleaved = SPEC.replace("requests: 10,", "requests: 10, interleaved: true,")
    run, _ = complete(alternating(interleaved)[0], tmp_path)
    trials = [read_trial_record(path.parent) for path in sorted(run.folder.glob("trials/*/trial.json"))]
    assert [trial.reasons for trial in trials] == [[]] * 8
    per_s = run.manifest["calibration"]["requests_per_s"]
    # All four, and the backends of three, take some 200 ms of two CPUs, of which half shall be used.
    assert per_s == pytest.approx(0.5 * 2 * 1000 / 200, rel=0.3)
    one_set = [trial for trial in trials if trial.block == 0]
    apart_ns = round(SECOND_NS / per_s / 4)
    for number, slices in enumerate(zip(*(trial.slices for trial in one_set), strict=True)):
        assert {turn.round for turn in slices} == {number}
        first, *others = sorted(turn.start_ns for turn in slices)
        assert [later - first for later in others] == [apart_ns, 2 * apart_ns, 3 * apart_ns]
    # Half of two CPUs, as it was to be: what all used is divided by the time that all shared.
    assert one_set[0].alternating_cores == pytest.approx(1.0, rel=0.1)
    assert "latencies include waiting for the other systems" in shared_machine(run.manifest)[0]
    assert "requests go to one level after the other" in order(run.manifest, trials)


def cost_requests_start_ns(run: Run) -> set[int]:
    """Return when each system of the first set began to get the requests that say what one costs."""
    records = [path.parent for path in run.folder.glob("trials/*/trial.json")]
    first = [folder for folder in records if read_trial_record(folder).block == 0]
    # After the warm-up, of 20.
    return {int(np.sort(read_requests(folder / "requests.csv").start_ns)[20]) for folder in first}


def test_the_rate_is_found_with_the_load_that_is_measured(tmp_path: Path, finished: tuple[Context, Run, str]) -> None:
    """Alone, one system after the other; interleaved, all at once."""
    assert len(cost_requests_start_ns(finished[1])) == 4
    interleaved = SPEC.replace("requests: 10,", "requests: 10, interleaved: true,")
    assert len(cost_requests_start_ns(complete(alternating(interleaved)[0], tmp_path)[0])) == 1


def test_requests_of_the_window_are_those_of_the_slices(finished: tuple[Context, Run, str]) -> None:
    run = finished[1]
    folder = next(run.folder.glob("trials/*-baseline"))
    trial, requests = read_trial_record(folder), read_requests(folder / "requests.csv")
    assert len(requests) == 20 + 30 + 10 * len(trial.slices)  # warm-up, cost, slices
    assert len(requests.ended_in(trial.window_start_ns, trial.window_end_ns)) == 10 * len(trial.slices)
    assert trial.window_start_ns == trial.slices[0].start_ns - trial.slices[0].position * turn_ns(trial.slices[0])


def test_systems_warm_up_one_at_a_time_where_they_are_to(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    on, drivers = alternating(SPEC.replace("requests: 10,", "requests: 10, warm_up_in_turns: true,"))
    sent, answer = list[tuple[int, int]](), Turns._answer
    times_s = list[float]()

    def noted(driver: Turns, path: Path, starts: list[int], takes_ns: int) -> None:
        sent.append((id(driver), len(starts)))
        times_s.append(driver.clock.now_s())
        answer(driver, path, starts, takes_ns)

    monkeypatch.setattr(Turns, "_answer", noted)
    run, _ = complete(on, tmp_path)
    # 20 requests are two turns of 10 for each system.
    assert sent[:8] == [(id(driver), 10) for driver in drivers] * 2
    assert all(earlier < later for earlier, later in pairwise(times_s[:8]))
    folder = next(run.folder.glob("trials/*-baseline"))
    trial, requests = read_trial_record(folder), read_requests(folder / "requests.csv")
    assert len(requests) == 2 * 10 + 30 + 10 * len(trial.slices)


def turn_ns(turn: Slice) -> int:
    return turn.next_ns - turn.start_ns


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sequence[TrialRecord], str, Turns]:
    """Return the trials of one set that waited until its systems had settled, what was said, and one of its engines."""
    with pytest.MonkeyPatch.context() as patch:
        without_engine(patch)
        on, drivers = alternating(
            SPEC.replace("seed: 7", "seed: 7, until_settled: true").replace("repetitions: 2", "repetitions: 1")
        )
        run, said = complete(on, tmp_path_factory.mktemp("settled"))
    return [read_trial_record(path.parent) for path in run.folder.glob("trials/*/trial.json")], said, drivers[0]


def test_a_set_waits_until_its_systems_have_settled(settled: tuple[Sequence[TrialRecord], str, Turns]) -> None:
    trials, said, _ = settled
    assert "of 4 systems have settled" in said
    assert len(trials) == 4
    for trial in trials:
        assert trial.settled is True
        assert len(trial.jit_cpu_fractions) >= QUIET_BLOCKS
        assert all(fraction <= SETTLED_JIT_FRACTION for fraction in trial.jit_cpu_fractions[-QUIET_BLOCKS:])


def test_systems_settle_in_the_turns_that_are_measured(settled: tuple[Sequence[TrialRecord], str, Turns]) -> None:
    first_set = settled[2].loads_sent[:4]
    assert ["turns" if "starts_ns" in load else load["requests"] for load in first_set] == [20, 30, "turns", "turns"]
    assert [len(load["starts_ns"]) * 10 for load in first_set[2:3]] == [QUIET_BLOCKS * BLOCK_REQUESTS]


def test_a_set_that_never_settles_is_kept_and_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.run.warming.LONGEST_S", 0.0)
    on, _ = alternating(SPEC.replace("seed: 7", "seed: 7, until_settled: true"))
    run, _ = complete(on, tmp_path)
    summary = analyse(run.folder)
    assert all(trial.valid and trial.settled is False for trial in summary.trials)
    assert {(level.trials, level.rejected, level.not_settled) for level in summary.levels.values()} == {(0, 0, 2)}
    assert not summary.estimates
    assert summary.alternating
    assert findings.remarks(summary)[-1] == "Sets that had not settled, and are left out: 2."
    assert "zipkin (0 rejected, 2 not settled)" in findings.cautions(summary)[0]
    assert findings.cautions(summary)[1].startswith("At most one block counts")


def test_a_run_that_is_kept_without_records_keeps_the_cost_of_its_slices(
    finished: tuple[Context, Run, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Where a made-up observer samples is not where the analysis takes an increase: the proof is tested with real runs.
    monkeypatch.setattr("lab.command.keep.different", lambda *_: iter(()))
    on, run, _ = finished
    summary, kept = analyse(run.folder), tmp_path / "kept"
    keep(run.folder, kept, LAB, records=False)
    names = {path.name.removesuffix(".xz") for path in kept.rglob("*")}
    assert names == {"manifest.json", "summary.json", "slices.json"}
    raw, small = (slices_of(folder, summary) for folder in (run.folder, kept))
    assert len(raw) == sum(len(read_trial_record(one.parent).slices) for one in run.folder.glob("trials/*/trial.json"))
    assert [replace(one, cpu_ms=0.0) for one in small] == [replace(one, cpu_ms=0.0) for one in raw]
    assert [one.cpu_ms for one in small] == pytest.approx([one.cpu_ms for one in raw], rel=1e-5)
    assert expected_lines(on.experiment, kept) == expected_lines(on.experiment, run.folder)


def test_the_rate_is_found_once_for_all_sets(finished: tuple[Context, Run, str]) -> None:
    _, run, said = finished
    found = run.manifest["calibration"]
    trials = [read_trial_record(path.parent) for path in run.folder.glob("trials/*/trial.json")]
    assert all(trial.found == found for trial in trials)
    assert said.count("measuring what a request of each costs") == 1
    # The dearest of QUICK takes some 52 ms and its backend 5, of two CPUs of which half shall be used.
    assert found["requests_per_s"] == pytest.approx(0.5 * 2 * 1000 / 57, rel=0.25)


def test_a_container_that_is_not_seen_while_the_rate_is_found_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    observe = Turns._observe

    def unseen(driver: Turns) -> None:
        """Leave out what the observer's own container used after the first seconds."""
        observe(driver)
        path = driver._out / "counters.jsonl"
        lines = path.read_text().splitlines(keepends=True)
        gone = [line for line in lines if '"kind": "container"' in line and '"name": "observer"' in line]
        early = {line for line in gone if json.loads(line)["t_ns"] < EPOCH_NS}
        path.write_text("".join(line for line in lines if line not in gone or line in early))

    monkeypatch.setattr(Turns, "_observe", unseen)
    on, drivers = alternating()
    with pytest.raises(UserError, match="the observer did not see the calibration to its end"):
        complete(on, tmp_path)
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 4


def test_a_rate_of_the_file_is_not_measured(tmp_path: Path) -> None:
    on, _ = alternating(SPEC.replace("measure_s: 20", "measure_s: 20, requests_per_s: 25"))
    run, _ = complete(on, tmp_path)
    assert run.manifest["calibration"]["requests_per_s"] == 25


def test_ratios_are_those_of_the_systems(finished: tuple[Context, Run, str]) -> None:
    run = finished[1]
    truth = synthetic.QUICK["otel-manual"].cpu_ms / synthetic.QUICK["baseline"].cpu_ms
    rows = {(row.metric, row.level): row for row in analyse(run.folder).estimates}
    assert rows["cpu_per_request_services_ms", "otel-manual"].ratio == pytest.approx(truth, rel=0.05)
    assert rows["cpu_per_request_without_idle_services_ms", "otel-manual"].ratio == pytest.approx(truth, rel=0.05)
    assert rows["cpu_idle_services_cores", "baseline"].mean == pytest.approx(0, abs=0.01)


def test_a_plan_says_what_the_last_run_lets_expect(finished: tuple[Context, Run, str], tmp_path: Path) -> None:
    on, run, _ = finished
    assert expected_lines(on.experiment, tmp_path) == []
    analyse(run.folder)
    *levels, advice = expected_lines(on.experiment, run.folder)
    rounds = int(run.manifest["calibration"]["rounds"])
    assert [line.split(":")[0] for line in levels] == ["otel-manual", "zipkin"]
    assert all(f"with 2 sets of {rounds} rounds" in line for line in levels)
    assert "(a round takes" in advice or "is not known" in advice


def test_a_plan_is_for_the_rounds_that_are_planned() -> None:
    # Sets scatter by 0.01, and their 8 independent rounds by 0.08.
    known = Components("zipkin", 1.4, 0.08, 0.03, 3, 8)
    as_in_the_run = _sentence(known, parse(SPEC), "last run")
    # Four systems have squares of four rounds. 12.7062 is Student's t: 1.4 * 12.7062 * sqrt((0.01² + 0.08² / 336) / 2).
    planned = _sentence(known, parse(SPEC.replace("measure_s: 20", "rounds: 333")), "last run")
    assert as_in_the_run.startswith("zipkin: expected half-width ±37.7 points with 2 sets of 8 rounds (last run: ")
    assert planned.startswith("zipkin: expected half-width ±13.7 points with 2 sets of 336 rounds (last run: ")
    assert _sentence(known, parse(SPEC.replace("repetitions: 2", "repetitions: 1")), "last run").endswith("no interval")
    balanced = _sentence(replace(known, mean_sd=0.02), parse(SPEC), "last run")
    assert balanced.endswith("means of 8 rounds by 2.0%, less than independent rounds would)")


def test_a_plan_says_what_the_kept_run_lets_expect_where_the_last_one_has_one_set(
    finished: tuple[Context, Run, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on, run, _ = finished
    analyse(run.folder)
    kept, newest = tmp_path / "docs" / "results" / on.experiment.name, tmp_path / "newest"
    kept.parent.mkdir(parents=True)
    kept.symlink_to(run.folder)
    newest.mkdir()
    (newest / "trials").symlink_to(run.folder / "trials")
    summary = json.loads((run.folder / "summary.json").read_text())
    first = [trial for trial in summary["trials"] if trial["block"] == 0]
    (newest / "summary.json").write_text(json.dumps({**summary, "trials": first}))
    monkeypatch.setattr("lab.command.expected.ROOT", tmp_path)
    *levels, _ = expected_lines(on.experiment, newest)
    assert len(levels) == 2
    assert all("(kept run: " in line for line in levels)


def test_one_rejected_system_rejects_its_set(tmp_path: Path) -> None:
    on, drivers = alternating()
    drivers[2].slow_ns = 5 * SECOND_NS
    run, said = complete(on, tmp_path)
    trials = [read_trial_record(path.parent) for path in sorted(run.folder.glob("trials/*/trial.json"))]
    assert not any(trial.valid for trial in trials)
    assert said.count("measuring what a request of each costs") == 2
    assert "calibration" not in run.manifest
    late = "answered after the gap that follows their turn"
    slow = {trial.level for trial in trials if any(late in why for why in trial.reasons)}
    others = [trial for trial in trials if trial.level not in slow]
    assert slow
    assert all(trial.reasons[0].startswith("its set was rejected because of") for trial in others)


def test_a_system_that_does_not_start_ends_the_run_and_all_are_removed(tmp_path: Path) -> None:
    on, drivers = alternating()
    drivers[1].dies_at_start = "a2"
    with pytest.raises(StartFailed, match="a2 ended with exit code 1"):
        complete(on, tmp_path)
    assert [driver.done[-1] for driver in drivers] == ["remove"] * 4


@pytest.fixture(scope="module")
def data(finished: tuple[Context, Run, str]) -> TrialData:
    return read_trial(next(finished[1].folder.glob("trials/*-otel-manual")))


def test_a_busy_machine_rejects(data: TrialData) -> None:
    busy = data.trial.model_copy(update={"alternating_cores": 1.5})
    (reason,) = checks.machine_had_room(replace(data, trial=busy))
    assert reason == "the lab's containers used 75 % of the host's CPUs (limit 70 %)"
    assert not list(checks.machine_had_room(data))


def test_a_request_that_is_never_answered_rejects_where_its_time_ends_after_the_window(data: TrialData) -> None:
    requests = data.requests
    given_up_ns = np.append(requests.end_ns[:-1], data.trial.window_end_ns + SECOND_NS)
    hung = replace(requests, end_ns=given_up_ns, status=np.append(requests.status[:-1], 0))
    measured = requests.ended_in(data.trial.window_start_ns, data.trial.window_end_ns)
    assert len(hung.ended_in(data.trial.window_start_ns, data.trial.window_end_ns)) == len(measured) - 1
    (reason,) = checks.answers_right(with_streams(data, requests=hung))
    assert reason.startswith(f"1 of {len(measured)} requests failed")
    assert list(checks.turns_kept(with_streams(data, requests=hung)))
    assert not [*checks.answers_right(data), *checks.turns_kept(data)]


def test_sets_do_not_take_longer_where_one_between_them_does_not_count() -> None:
    def advice(*begun_s: int) -> str:
        # Interleaved slices of a round begin within a moment.
        costs = [
            SliceCost(number, level, True, count, place, None, 20.0, (start_s + 3 * count) * SECOND_NS + place)
            for number, start_s in enumerate(begun_s)
            for count in range(8)
            for place, level in enumerate(("otel-manual", "otel-agent"))
        ]
        return _advice([Components("otel-manual", 1.4, 0.08, 0.03, 3, 8)], costs)

    assert advice(0, 100, 300) == advice(0, 100, 200)
    # Between two sets are 100 s, of which 8 rounds take 24: Cochran's optimum is sqrt(76 / 3) * 0.08 / 0.01.
    assert advice(0, 100, 300) == "About 40 rounds a set give most precision for the time (a round takes 3 s)."


@pytest.mark.parametrize(("cores", "at_once", "busy"), [(1.2, 0.9, 0.6), (0.0, 0.9, 0.45), (0.0, 0.0, None)])
def test_the_share_of_the_machine_is_that_of_systems_that_ran_at_once(
    cores: float, at_once: float, busy: float | None, data: TrialData
) -> None:
    trial = data.trial.model_copy(update={"alternating_cores": cores, "cores_at_once": at_once})
    assert MESH.judgement.metrics[BUSY].compute(replace(data, trial=trial)) == busy


def test_lost_spans_reject(data: TrialData) -> None:
    made = 123 * len(data.requests)
    for accepted, rejected in ((made, False), (round(made * 0.9995), False), (round(made * 0.998), True)):
        backend = {"accepted_spans": accepted, "counters": {}}
        trial = type(data.trial).model_validate(
            {**data.trial.model_dump(), "backend": backend, "expected_spans_per_request": 123.0}
        )
        assert bool(list(checks.spans_delivered(replace(data, trial=trial)))) == rejected


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("warm_up_requests: 20, ", ""), "levels are warm at different times"),
        (("retries: 0", "retries: 1"), "a single trial cannot be repeated"),
        (("repetitions: 2", "repetitions: 2, window_s: 8"), "the window of slices is as long as they take"),
        (("repetitions: 2", "repetitions: 2, side_by_side: true"), "slices are sent to one system at a time"),
        (("question: Does", "profile: true\nquestion: Does"), "a profiled trial needs a load of its own"),
    ],
)
def test_contradictions_are_named(change: tuple[str, str], message: str) -> None:
    with pytest.raises((SpecError, UserError), match=message):
        parse(SPEC.replace(*change))


def test_the_mesh_has_the_checks_of_turns() -> None:
    stages = [check for stage in MESH.judgement.checks for check in stage]
    assert {checks.turns_kept, checks.spans_delivered, checks.machine_had_room} <= set(stages)
