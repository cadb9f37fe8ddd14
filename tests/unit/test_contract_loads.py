"""Every load generator and every schedule passes one suite, with a program that answers at once."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from lab.contract import Endpoint
from lab.engine.absent import AbsentDriver
from lab.engine.driver import Container
from lab.engine.image_recipes import TABLE
from lab.load import GENERATORS, LOADS, LoadGenerator, LoadPlan, Stage
from lab.load.open_loop import OpenLoopHttp
from lab.load.traces import COUNTED
from lab.record.requests import REQUESTS_COLUMNS, REQUESTS_FIRST_LINE, read_requests
from lab.spec.experiment import Protocol
from lab.spec.load import Capability, EntryProtocol, Load
from lab.target.mesh.example import LOADS as LIGHT_LOADS
from tests import composing

ROOT = Path(__file__).resolve().parents[2]
SCHEDULES: Mapping[str, Mapping[str, Any]] = {
    "closed-loop": {"users": 12, "think_time_s": [1.0, 1.1]},
    "counted": {"requests": 200, "concurrency": 5},
    "open-loop": {"requests_per_s": 100},
    "saturated": {"connections": 12},
    "slices": {"requests": 10, "requests_per_s": 20, "measure_s": 30},
    "ramp": {"workers": 100, "workers_per_s": 5},
    "workers": {"workers": 10},
    "trace-rate": {"traces_per_s": 100},
    "search": {"lowest_traces_per_s": 10, "highest_traces_per_s": 1000, "delay_p99_ms": 500},
    "span-rate": {"spans_per_s": 100, "workers": 2},
    "none": {},
}
"""One of each kind."""
WRONG: Sequence[tuple[str, Mapping[str, Any]]] = [
    ("closed-loop", {"users": 12, "think_time_s": [2.0, 1.0]}),
    ("counted", {"requests": 200, "concurrency": None}),
    ("ramp", {"workers": 10, "workers_per_s": 5}),
    ("search", {"lowest_traces_per_s": 10, "highest_traces_per_s": 10, "delay_p99_ms": 500}),
]
EPOCH_NS = 1_700_000_000 * 10**9
REQUESTS = 600
EVERY_NS = 10**8


def kinds_of(model: type[Load]) -> list[str]:
    """Return the kinds of schedules that a load may have; the first is the usual one."""
    schedule: Any = model.model_fields["schedule"].annotation
    kinds = [get_args(one.model_fields["kind"].annotation) for one in get_args(schedule) or (schedule,)]
    return [str(kind) for (kind,) in kinds]


def example(model: type[Load], name: str, kind: str) -> Load:
    return model.model_validate({"generator": name, "schedule": {"kind": kind, **SCHEDULES[kind]}})


ALL = {
    (name, kind): example(model, name, kind)
    for model in LOADS
    for name in get_args(model.model_fields["generator"].annotation)
    for kind in kinds_of(model)
}
EXAMPLES = {name: load for (name, kind), load in ALL.items() if kind == kinds_of(type(load))[0]}
each_load = pytest.mark.parametrize("load", ALL.values(), ids=map(" ".join, ALL))
alternating = pytest.mark.parametrize("load", [load for load in ALL.values() if load.schedule.alternates], ids=str)
each_generator = pytest.mark.parametrize("name", GENERATORS)
EXPLORED = sorted(str(parts["load"]["generator"]) for parts in LIGHT_LOADS)  # type: ignore[index]
"""What `lab up` uses."""


class Failed(Exception):
    """What a stage says of a container."""


@dataclass
class Program(AbsentDriver):
    """The engine and the clock of a generator whose container answers at once. `exit_code`: of its container."""

    out: Path
    exit_code: int = 0
    silent: bool = False
    time_s: float = 0.0
    running: set[str] = field(default_factory=set)
    answered: dict[str, int] = field(default_factory=dict)

    def start(self, services: Sequence[str]) -> None:
        self.running |= set(services)

    def wait(self, service: str, timeout_s: float) -> int:
        if not list(self.out.glob("load-*.json")):
            self._answer("requests.csv", REQUESTS)
        self.running -= {service}
        return self.exit_code

    def containers(self) -> dict[str, Container]:
        return {
            name: Container(
                id=name,
                name=name,
                image="x",
                running=name in self.running,
                exit_code=self.exit_code,
                restarts=0,
                oom_killed=False,
            )
            for name in GENERATORS
        }

    def now_s(self) -> float:
        return self.time_s

    def time_ns(self) -> int:
        return EPOCH_NS + round(self.time_s * 1e9)

    def last_log_lines(self, service: str, count: int) -> list[str]:
        """What a generator that records no requests says of its workers."""
        return [f'traces generated {{"worker": {worker}, "traces": 500}}' for worker in range(2)]

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds
        for path in [] if self.silent else self.out.glob("load-*.json"):
            load, number = json.loads(path.read_text()), path.stem.removeprefix("load-")
            if load.get("requests") != 0:
                self._answer(f"requests-{number}.csv", load.get("requests") or REQUESTS)
                self._count(f"generator-{number}.jsonl")

    def _count(self, name: str) -> None:
        """Answers as the generator of traces does."""
        header = {"format": "tollbooth.generator", "version": 1, "t_ns": EPOCH_NS}
        reading = {"t_ns": EPOCH_NS, **dict.fromkeys(COUNTED.values(), 0)}
        (self.out / name).write_text(f"{json.dumps(header)}\n{json.dumps(reading)}\n")

    def _answer(self, name: str, count: int) -> None:
        self.answered[name] = count
        starts = [EPOCH_NS + EVERY_NS * number for number in range(count)]
        rows = [f"0,/a1,{start},{start},{start + EVERY_NS // 2},200,100" for start in starts]
        (self.out / name).write_text("\n".join([REQUESTS_FIRST_LINE, ",".join(REQUESTS_COLUMNS), *rows, ""]))


def plan(name: str, **protocol: Any) -> LoadPlan:
    load = EXAMPLES[name]
    window = {} if load.can("counted") else {"window_s": 15}
    lasts = Protocol.model_validate({"repetitions": 1, "warm_up_s": 5, **window, **protocol})
    endpoint = Endpoint("entry", 8080, load.protocol or "http", ("/a1",))
    return LoadPlan(load, lasts, endpoint, int((load.schedule.fixed() or {}).get("users", 0)), 7)


def stage(program: Program) -> Stage:
    return Stage(program, program, program.out, lambda container, what: Failed(f"{container} {what}"))


def generator(name: str) -> LoadGenerator:
    return GENERATORS[name]


def test_every_schedule_has_an_example() -> None:
    assert {kind for model in LOADS for kind in kinds_of(model)} == SCHEDULES.keys()


@each_load
def test_a_load_survives_its_record(load: Load) -> None:
    assert type(load).model_validate(json.loads(load.model_dump_json())) == load
    assert type(load).__doc__


@each_load
def test_it_says_what_it_can_do(load: Load) -> None:
    assert load.capabilities <= set(get_args(Capability))
    assert load.protocol is None or load.protocol in get_args(EntryProtocol)
    assert load.can("calibratable") or load.schedule.fixed() is not None


@each_load
@pytest.mark.parametrize("change", [{"generator": "other"}, {"further": 1}, {"schedule": {"kind": "other"}}])
def test_a_wrong_load_is_rejected(load: Load, change: Mapping[str, Any]) -> None:
    with pytest.raises(ValidationError):
        type(load).model_validate({**load.model_dump(mode="json"), **change})


@each_load
def test_a_schedule_without_contradictions_has_no_problem(load: Load) -> None:
    assert list(load.schedule.problems()) == []
    assert load.schedule.expected_s() >= 0


@pytest.mark.parametrize(("kind", "fields"), WRONG, ids=[kind for kind, _ in WRONG])
def test_contradictions_of_a_schedule_are_found(kind: str, fields: Mapping[str, Any]) -> None:
    model, name = next((type(load), name) for (name, of), load in ALL.items() if of == kind)
    load = model.model_validate({"generator": name, "schedule": {"kind": kind, **fields}})
    assert list(load.schedule.problems())


@each_load
def test_a_schedule_finds_what_it_does_not_know(load: Load) -> None:
    """What is guessed first, and what follows from a request's cost, have the same names."""
    if not load.can("calibratable"):
        return
    unknown = {**load.schedule.model_dump(mode="json"), "users": "calibrated"}
    schedule = type(load.schedule).model_validate(unknown)
    assert schedule.fixed() is None
    guess = schedule.guess(2)
    assert guess
    assert guess.keys() <= schedule.from_cost(2, 40.0, 0.1).keys()
    assert schedule.from_cost(4, 40.0, 0.1)["users"] > schedule.from_cost(2, 40.0, 0.1)["users"]


@each_generator
def test_its_service_and_image_exist(name: str) -> None:
    compose = (ROOT / "compose.yaml").read_text()
    services = composing.services()
    assert generator(name).service in services
    assert generator(name).service in TABLE
    variables = generator(name).environment(plan(name))
    assert all(isinstance(value, str) for value in variables.values())
    assert all(f"${{{variable}" in compose for variable in variables)


@each_generator
@pytest.mark.parametrize("warm_up", [{"warm_up_s": 5}, {"warm_up_s": None, "warm_up_requests": 20}])
def test_a_trial_has_a_window_with_requests(name: str, warm_up: Mapping[str, Any], tmp_path: Path) -> None:
    program, of = Program(tmp_path), plan(name, **warm_up)
    generator(name).begin(of, stage(program))
    loaded = generator(name).measure(of, stage(program), {})
    generator(name).end(stage(program))
    assert loaded.load_start_ns == EPOCH_NS
    assert loaded.load_start_ns <= loaded.window_start_ns < loaded.window_end_ns
    if loaded.requests is None:
        assert list(tmp_path.glob("results-*.json"))
    else:
        assert len(read_requests(loaded.requests).ended_in(loaded.window_start_ns, loaded.window_end_ns)) >= 100
        # Those of the warm-up too: what is counted over a start, such as spans, includes them.
        assert len(read_requests(loaded.requests)) == sum(program.answered.values())
    assert not program.running
    assert generator(name).lead_s(of) >= 0


@pytest.mark.parametrize("name", [name for name in GENERATORS if EXAMPLES[name].can("reusable")])
def test_a_reusable_one_serves_several_trials(name: str, tmp_path: Path) -> None:
    program, of = Program(tmp_path), plan(name)
    generator(name).begin(of, stage(program))
    first, second = (generator(name).measure(of, stage(program), {}) for _ in range(2))
    assert first.requests != second.requests
    assert first.requests.exists()


@pytest.mark.parametrize("name", EXPLORED)
def test_a_load_that_goes_on_is_not_waited_for(name: str, tmp_path: Path) -> None:
    program, of = Program(tmp_path, silent=True), plan(name)
    generator(name).send_on(of, stage(program))
    assert program.running == {generator(name).service}
    assert program.time_s == 0
    # What is driven by files has its load before it looks for one.
    loads = [json.loads(path.read_text()) for path in tmp_path.glob("load-*.json")]
    assert [load["requests"] for load in loads] == ([200] if EXAMPLES[name].can("reusable") else [])


@each_generator
def test_a_generator_that_fails_is_an_error(name: str, tmp_path: Path) -> None:
    program, of = Program(tmp_path, exit_code=1), plan(name)
    with pytest.raises(Failed, match=f"{generator(name).service} ended with exit code 1"):
        generator(name).begin(of, stage(program))
        generator(name).measure(of, stage(program), {})
        generator(name).end(stage(program))


@pytest.mark.parametrize("name", [name for name in GENERATORS if EXAMPLES[name].can("reusable")])
def test_a_generator_that_does_not_answer_is_an_error(name: str, tmp_path: Path) -> None:
    program, of = Program(tmp_path, silent=True), plan(name)
    with pytest.raises(Failed, match="had not ended its load"):
        generator(name).begin(of, stage(program))


@alternating
def test_a_load_in_turns_is_ordered_before_anybody_waits(load: Load, tmp_path: Path) -> None:
    program, sender = Program(tmp_path), generator(load.generator)
    of = replace(plan(load.generator), load=load)
    assert isinstance(sender, OpenLoopHttp)
    program.start([sender.service])
    warm_up = sender.closed(of, stage(program), 20)
    slices = sender.turns(of, stage(program), [EPOCH_NS, EPOCH_NS + 10**9], 2.0, 20.0)
    first, second = (json.loads((tmp_path / f"load-{number}.json").read_text()) for number in range(2))
    assert {"requests": 20, "concurrency": 2}.items() <= first.items()
    wanted = {"requests": 10, "requests_per_s": 20.0, "starts_ns": [EPOCH_NS, EPOCH_NS + 10**9]}
    assert wanted.items() <= second.items()
    assert [len(read_requests(awaited())) for awaited in (warm_up, slices)] == [20, 10]


@alternating
def test_turns_that_are_not_answered_are_an_error(load: Load, tmp_path: Path) -> None:
    program, sender = Program(tmp_path, silent=True), generator(load.generator)
    assert isinstance(sender, OpenLoopHttp)
    program.start([sender.service])
    of = replace(plan(load.generator), load=load)
    with pytest.raises(Failed, match="had not ended its load"):
        sender.turns(of, stage(program), [EPOCH_NS], 1.0, 20.0)()
