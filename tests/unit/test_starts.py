"""Trials that share a start of the containers: planned together, loaded in turn, each with its own records."""

import errno
import json
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock, Mock

import pytest

from lab.cli import LAB
from lab.contract import Deployment
from lab.engine.driver import Container
from lab.errors import UserError
from lab.load import GENERATORS, LoadPlan, Stage
from lab.load import Loaded as LeftByLoad
from lab.load.ghz import Ghz
from lab.load.schedule import Counted
from lab.record import read_requests
from lab.record.files import read_json
from lab.record.trial import WindowPart
from lab.run.calibration import calibrate
from lab.run.measure import Load, StartInterrupted, _measure, run_start
from lab.run.plan import make_plan
from lab.run.runner import gather
from lab.run.start import Context, Start
from lab.spec.experiment import Experiment
from lab.spec.level import Level
from lab.spec.parse import load_experiment
from lab.spec.problems import SpecError
from tests.benches import place
from tests.fake import FakeClock, FakeDriver
from tests.labs import MESH, parse

ROOT = Path(__file__).parents[2]
CALIBRATED = "{generator: locust, schedule: {kind: closed-loop, users: calibrated, think_time_s: [1.0, 1.1]}}"
SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: Does it run?
target: {kind: mesh, topology: fan-out}
load: {generator: ghz, schedule: {kind: counted, requests: 200, concurrency: 4}}
factors:
  sidecar: {none: {}, envoy: {sidecar: published}}
  error_probability: {p-0: {error_probability: 0}, p-0.2: {error_probability: 0.2}, p-0.02: {error_probability: 0.02}}
baseline: none/p-0
protocol: {warm_up_s: 1, repetitions: 40, without_restart: [error_probability]}
"""


def experiment(spec: str = SPEC) -> Experiment:
    return parse(spec, "test")


def test_the_trials_of_a_start_follow_each_other_and_the_placebo_has_its_own() -> None:
    plan = make_plan(experiment())
    starts = [[trial.level for trial in start] for start in plan.starts()]
    assert len(starts) == 40 * 3
    assert {len(start) for start in starts} == {1, 3}
    for start in starts:
        assert len({level.partition("/")[0] for level in start}) == 1
        assert (start == ["placebo"]) == (len(start) == 1)
    assert [trial.number for trial in plan.trials] == list(range(1, 40 * 7 + 1))


def test_starts_and_the_trials_in_them_are_both_in_random_order() -> None:
    starts = [tuple(trial.level for trial in start) for start in make_plan(experiment()).starts()]
    firsts = [start[0].partition("/")[0] for start in starts[::3]]
    # Binomial with n = 40 and p = 1/3: four standard deviations are 12.
    assert all(abs(firsts.count(name) - 40 / 3) < 12 for name in ("none", "envoy", "placebo"))
    assert len({start for start in starts if start[0].startswith("none")}) == 6


def test_every_start_of_a_block_meets_the_same_draws() -> None:
    plan = make_plan(experiment())
    assert all(len({trial.seed for trial in plan.trials if trial.block == block}) == 1 for block in range(40))


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "[error_probability]",
            "[error_probabilty]",
            "no factor is called 'error_probabilty'; did you mean 'error_prob",
        ),
        ("[error_probability]", "[sidecar]", "its level 'envoy' sets sidecar, which needs a restart"),
        (
            "repetitions: 40,",
            "repetitions: 40, window_s: 9,",
            "the window of ghz is as long as its requests take; leave it out",
        ),
    ],
)
def test_what_cannot_share_a_start_is_rejected(old: str, new: str, says: str) -> None:
    with pytest.raises(SpecError) as caught:
        experiment(SPEC.replace(old, new))
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        (
            {"concurrency: 4": "concurrency: null, requests_per_s: 50", "none: {}": "none: {users_fraction: 0.5}"},
            "level 'none/p-0': users_fraction: this load has no users",
        ),
        (
            {
                "fan-out": "duo",
                "{generator: ghz, schedule: {kind: counted, requests: 200, concurrency: 4}}": CALIBRATED,
                "warm_up_s: 1,": "warm_up_s: 1, window_s: 20,",
                ", without_restart: [error_probability]": "",
            },
            "locust cannot ask for errors",
        ),
        (
            {"none: {}": "none: {telemetry: otel-manual, backend: sink}"},
            "level 'none/p-0' is traced, and a backend counts the spans of a whole start",
        ),
    ],
)
def test_what_a_load_would_ignore_or_confuse_is_rejected(changes: Mapping[str, str], says: str) -> None:
    text = SPEC
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    with pytest.raises(SpecError) as caught:
        experiment(text)
    assert says in str(caught.value)


def test_a_probability_above_1_is_rejected_before_anything_starts() -> None:
    with pytest.raises(SpecError, match=r"error_probability: got 1.2, expected a number from 0 to 1"):
        experiment(SPEC.replace("error_probability: 0.2}", "error_probability: 1.2}"))


def test_the_published_sweep_is_its_six_probabilities_twice_in_two_shapes() -> None:
    sweep = load_experiment(ROOT / "experiments" / "sidecar-resilience.yaml", LAB.grammar)
    assert len(sweep.levels()) == 6 * 2 * 2
    assert {level.settings.error_probability for level in sweep.levels()} == {0, 0.000035, 0.0002, 0.002, 0.02, 0.2}
    assert {level.settings.topology for level in sweep.levels()} == {"fan-out", "chain"}


def test_an_open_loop_may_have_no_bound_but_has_a_rate() -> None:
    bound = "requests: 200, concurrency: 4"
    load = experiment(SPEC.replace(bound, "requests: 200, concurrency: null, requests_per_s: 50")).load
    assert isinstance(load.schedule, Counted)
    assert (load.schedule.concurrency, load.schedule.expected_s()) == (None, 4)
    with pytest.raises(
        SpecError, match=r"load.schedule.concurrency: null is for an open loop, which needs requests_per_s"
    ):
        experiment(SPEC.replace(bound, "requests: 200, concurrency: null"))


def test_envoys_runtime_values_need_no_restart() -> None:
    factor = "error_probability: {p-0: {error_probability: 0}, "
    values = "envoy_runtime: {local_rate_limit_enforced: 0}"
    proxied = SPEC.replace("none: {}", "none: {sidecar: passthrough}")
    spec = proxied.replace(factor, f"error_probability: {{p-0: {{error_probability: 0, {values}}}, ")
    level = experiment(spec).baseline_level()
    assert level.recorded()["envoy_runtime"] == {"local_rate_limit_enforced": 0}
    with pytest.raises(SpecError, match="local rate"):
        experiment(spec.replace("local_rate_limit_enforced", "'local rate'"))


class Answering(FakeClock):
    """A clock in whose time a load generator's container takes loads and answers."""

    def __init__(self, out: Path, answers: bool = True) -> None:
        super().__init__()
        self.out, self.answers = out, answers

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        for load in self.out.glob("load-*.json") if self.answers else ():
            answer = self.out / load.name.replace("load", "requests").replace("json", "csv")
            if not answer.exists():
                rows = "".join(f"0,work,{at},{at},{at + 5},200,0\n" for at in (1000, 1010, 1020))
                columns = "user,target,intended_ns,start_ns,end_ns,status,bytes"
                answer.write_text(f"# tollbooth.requests v1\n{columns}\n{rows}")


class Loaded(FakeDriver):
    """An engine on which nothing runs but a load generator."""

    alive = True

    def start(self, services: object) -> None:
        self._do("start")

    def wait(self, service: str, timeout_s: float) -> int:
        self._do("wait")
        return 0

    def containers(self) -> dict[str, Container]:
        return {"ghz": Container("0", "ghz", "x", self.alive, 0 if self.alive else 1, 0, False)}


def deployment(driver: Loaded, out: Path) -> Deployment:
    return MESH.deployment(experiment().baseline_level(), place(driver), out)


def stage(out: Path, driver: Loaded, answers: bool = True) -> tuple[LoadPlan, Stage]:
    spec, endpoint = experiment(), deployment(driver, out).endpoint()
    assert endpoint is not None
    plan = LoadPlan(spec.load, spec.protocol, endpoint, users=4, seed=7)
    return plan, Stage(driver, Answering(out, answers), out, lambda name, what: UserError(f"container {name} {what}"))


def test_ghz_reads_files_and_its_warm_up_is_recorded_with_the_first_load(tmp_path: Path) -> None:
    driver, ghz = Loaded(), GENERATORS["ghz"]
    plan, where = stage(tmp_path, driver)
    ghz.begin(plan, where)
    assert read_json(tmp_path / "load-0.json", "tollbooth.load", 1)["duration_s"] == 1
    assert not (tmp_path / "requests-0.csv").exists()
    warm_up, measured = 3, 3
    level = next(level for level in experiment().levels() if level.settings.error_probability == 0.2)
    loaded = ghz.measure(plan, where, deployment(driver, tmp_path).request(level))
    load = json.loads((tmp_path / "load-1.json").read_text())
    names = ("target", "operation", "requests", "concurrency", "error_probability", "first_counter")
    assert tuple(load[name] for name in names) == ("s1:9090", "work", 200, 4, 0.2, 1)
    assert (loaded.window_start_ns, loaded.window_end_ns) == (1000, 1026)
    assert loaded.requests is not None
    assert len(read_requests(loaded.requests)) == warm_up + measured
    assert len(read_requests(tmp_path / "requests-1.csv")) == measured
    ghz.end(where)
    assert json.loads((tmp_path / "load-2.json").read_text())["requests"] == 0
    assert driver.done == ["start", "wait"]


@pytest.mark.parametrize(
    ("alive", "says"), [(False, "ghz ended before its load"), (True, "ghz had not ended its load")]
)
def test_a_generator_that_does_not_answer_is_named(alive: bool, says: str, tmp_path: Path) -> None:
    driver = Loaded()
    driver.alive = alive
    plan, where = stage(tmp_path, driver, answers=False)
    with pytest.raises(UserError, match=says):
        GENERATORS["ghz"].measure(plan, where, {})


def without_containers(patch: pytest.MonkeyPatch) -> None:
    for name in ("create", "start", "collect", "remove"):
        patch.setattr(Start, name, lambda _start: None)
    patch.setattr(Start, "parts", lambda _start: [])
    for name in ("begin", "end"):
        patch.setattr(Ghz, name, lambda *_: None)


def test_the_trials_of_a_start_have_each_their_own_number_of_requests_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_once = "at_once: {c-1: {users_fraction: 0.26}, c-2: {users_fraction: 0.4}, c-4: {users_fraction: 1}}"
    on = experiment(
        SPEC.replace("factors:", f"factors:\n  {at_once}")
        .replace("baseline: none/p-0", "baseline: c-1/none/p-0")
        .replace("[error_probability]", "[at_once, error_probability]")
    )
    levels = [level for level in on.levels() if level.name.endswith("none/p-0")]
    assert len({level.start for level in levels}) == 1
    sent = []

    def load(start: Start, _generator: object, level: Level[Any]) -> Load:
        sent.append(Ghz().fields(start.plan)["concurrency"])
        return Load(None, [])

    monkeypatch.setattr("lab.run.measure._measure", load)
    without_containers(monkeypatch)
    found = on.load.schedule.fixed()
    assert found is not None
    measured = run_start(Context(on, MESH, place(Loaded())), levels, found, 7, tmp_path)
    assert sent == [1, 2, 4]
    assert [one.found["users"] for one in measured] == [1, 2, 4]


class Started(Exception):
    """The calibration's start, with the settings of its level."""


def test_a_calibration_meets_no_fault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def start(_context: Context, levels: Sequence[Level[Any]], *_: object) -> None:
        raise Started(levels[0].settings)

    monkeypatch.setattr("lab.run.calibration.run_start", start)
    head, _, _ = SPEC.partition("target:")
    fault = "{kind: frozen, target: a2, start_s: 5, length_s: 5}"
    on = experiment(
        f"{head}target: {{kind: mesh, topology: duo}}\nload: {CALIBRATED}\nbaseline: frozen\n"
        f"factors: {{telemetry: {{frozen: {{faults: [{fault}]}}, traced: {{telemetry: otel-manual}}}}}}\n"
        "protocol: {warm_up_s: 1, window_s: 20, repetitions: 2}\n"
    )
    assert on.baseline_level().settings.faults
    with pytest.raises(Started) as found:
        calibrate(Context(on, MESH, place(FakeDriver())), tmp_path, print)
    assert found.value.args[0].faults == ()


@pytest.mark.parametrize(("whole", "order"), [(True, [5, "load", 20]), (False, ["load", 20])])
def test_counters_are_sampled_right_before_a_load_that_is_its_window(whole: bool, order: list[object]) -> None:
    done: list[object] = []
    start, generator = MagicMock(), MagicMock(whole=whole)
    start.place.driver.time_ns.return_value = 5
    start.await_observed.side_effect = done.append
    start.deployment.measuring.return_value.__enter__.return_value.parts.return_value = []

    def sent(*_: object) -> LeftByLoad:
        done.append("load")
        return LeftByLoad(None, 10, 10, 20)

    generator.measure.side_effect = sent
    (part,) = _measure(start, generator, experiment().levels()[0]).parts
    assert done == order
    assert isinstance(part, WindowPart)
    assert part.window is not None
    assert part.window.apart == whole


def test_a_second_signal_keeps_the_trials_before_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_containers(monkeypatch)
    monkeypatch.setattr("lab.run.measure._measure", Mock(side_effect=[Load(None, []), KeyboardInterrupt]))
    monkeypatch.setattr(Start, "parts", lambda _: signal.raise_signal(signal.SIGINT) or [])
    on = experiment()
    with pytest.raises(KeyboardInterrupt) as cut:
        run_start(Context(on, MESH, place(Loaded())), on.levels()[:2], {}, 7, tmp_path)
    assert isinstance(cut.value, StartInterrupted)
    assert len(cut.value.measured) == 1


def test_a_trials_folder_has_what_its_start_left_but_only_its_own_load(tmp_path: Path) -> None:
    start = tmp_path / "start"
    (start / "logs").mkdir(parents=True)
    loads = ("joined-requests-1.csv", "requests-1.csv", "requests-2.csv", "load-1.json")
    for name in ("counters.jsonl", "logs/s1.log", *loads):
        (start / name).write_text(name)
    gather(start, start / "requests-2.csv", tmp_path / "trial")
    found = {
        path.relative_to(tmp_path / "trial").as_posix() for path in (tmp_path / "trial").rglob("*") if path.is_file()
    }
    assert found == {"counters.jsonl", "logs/s1.log", "requests.csv"}
    assert (tmp_path / "trial" / "requests.csv").read_text() == "requests-2.csv"
    # The first load, with the warm-up's requests.
    gather(start, start / "joined-requests-1.csv", tmp_path / "first")
    assert sorted(path.name for path in (tmp_path / "first").iterdir()) == ["counters.jsonl", "logs", "requests.csv"]
    assert (tmp_path / "first" / "requests.csv").read_text() == "joined-requests-1.csv"


def test_where_the_kernel_allows_no_link_a_trials_folder_has_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    start = tmp_path / "start"
    (start / "logs").mkdir(parents=True)
    for name in ("counters.jsonl", "logs/s1.log", "requests-1.csv"):
        (start / name).write_text(name)
    gather(start, start / "requests-1.csv", tmp_path / "linked")
    monkeypatch.setattr("os.link", Mock(side_effect=PermissionError(errno.EPERM, "Operation not permitted")))
    gather(start, start / "requests-1.csv", tmp_path / "copied")
    linked, copied = (
        {path.relative_to(folder).as_posix(): path.read_text() for path in folder.rglob("*") if path.is_file()}
        for folder in (tmp_path / "linked", tmp_path / "copied")
    )
    assert copied == linked
    assert copied.keys() == {"counters.jsonl", "logs/s1.log", "requests.csv"}
    assert not (start / "counters.jsonl").samefile(tmp_path / "copied" / "counters.jsonl")
