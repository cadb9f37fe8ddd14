"""A failing backend costs telemetry and never delays requests: the contract of every variant that sends spans."""

import json
import os
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from dataclasses import dataclass, field

import numpy as np
import pytest

from lab.backend.sink import Sink
from lab.engine import images
from lab.engine.clock import wait_until
from lab.target.mesh.system import System
from tests.contract.deployed import FOLDER, QUICK_START, parameters, running, timed_requests
from tests.labs import MESH, level

pytestmark = [pytest.mark.containers, pytest.mark.alone, pytest.mark.timeout(300)]

SENDERS = [name for name, variant in MESH.variants.items() if "sink" in variant.backends]
SPANS = 123
# A round makes 2,460 spans: more than the 2,048 that an SDK's queue holds by default.
ROUND = 20
ROUNDS = 1
WARM_UP = 40
ANSWERS_AFTER_MS = 10_000
# What the published studies call a large overhead; a request that waits for telemetry waits for seconds.
SLOWER = 1.10


@dataclass
class Course:
    """What a sender's system and its sink went through: how long requests took, in seconds, and spans accepted."""

    system: System
    sink: Sink
    well_s: list[float] = field(default_factory=list)
    sick_s: dict[str, list[float]] = field(default_factory=lambda: {"down": [], "slow": [], "refuse": []})
    before: int = 0
    accepted: int = 0


Courses = Mapping[str, Future[Course]]
"""By the sender's name. A future has the error, if there was one."""


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    images.ensure(("services", "sink"), print)


@pytest.fixture(scope="module")
def courses(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Courses:
    """The courses of all senders that are tested.

    The systems start and warm up as many at a time as there are CPUs. Then requests are timed in one system after the
    other, while nothing starts or stops elsewhere. What only takes time, all do at once.
    """
    senders = [item.callspec.params["telemetry"] for item in request.session.items if item.path == request.path]
    # Not in the threads: two first calls at once would make two roots.
    folder = tmp_path_factory.mktemp("sick")
    with (
        ExitStack() as systems,
        ThreadPoolExecutor(os.cpu_count()) as few,
        ThreadPoolExecutor(1) as one,
        ThreadPoolExecutor(len(senders)) as all_of_them,
    ):

        def start(telemetry: str) -> Course:
            of = level(telemetry, telemetry, backend="sink", environment=QUICK_START)
            name = f"sick-{senders.index(telemetry)}"
            # Each with a folder of its own: beside `out` are files of its system.
            out = folder / name / "out"
            out.parent.mkdir()
            system, sink = systems.enter_context(running(of, FOLDER / "pair.yaml", out, name))
            assert isinstance(sink, Sink)
            timed_requests(system, "a1", WARM_UP)
            all_arrive(system, sink)
            return Course(system, sink)

        warm = {telemetry: few.submit(start, telemetry) for telemetry in senders}
        wait(warm.values())
        back = after(warm, one, goes_down)
        quiet = after(back, all_of_them, settles)
        well = after(quiet, one, falls_sick)
        return after(well, all_of_them, ends)


def after(before: Courses, pool: ThreadPoolExecutor, step: Callable[[Course], Course]) -> Courses:
    """Takes all courses a step further and waits for them; one that had an error keeps it."""
    found = {name: pool.submit(lambda earlier: step(earlier.result()), course) for name, course in before.items()}
    wait(found.values())
    return found


def goes_down(course: Course) -> Course:
    system, sink = course.system, course.sink
    for _ in range(ROUNDS):
        course.well_s += timed_requests(system, "a1", ROUND)
        system.driver.stop(["sink"])
        course.sick_s["down"] += timed_requests(system, "a1", ROUND)
        system.driver.start(["sink"])
        assert wait_until(sink.ready, 10, 0.1, system.place.clock)
    return course


def settles(course: Course) -> Course:
    course.before = settled(course.system, course.sink)
    return course


def falls_sick(course: Course) -> Course:
    system, sink = course.system, course.sink
    for behaviour in ("slow", "refuse") * ROUNDS:
        behave(sink, "accept")
        course.well_s += timed_requests(system, "a1", ROUND)
        behave(sink, behaviour, ANSWERS_AFTER_MS)
        course.sick_s[behaviour] += timed_requests(system, "a1", ROUND)
    behave(sink, "accept")
    return course


def ends(course: Course) -> Course:
    system = course.system
    # The SDK delivers what it still holds when its service ends; a queue without bound would lose nothing.
    system.driver.stop(list(system.topology.nodes))
    course.accepted = (course.sink.accepted_spans() or 0) - course.before
    system.driver.remove()
    return course


@pytest.mark.parametrize("telemetry", parameters(SENDERS))
def test_requests_go_on_whatever_the_backend_does_and_what_is_lost_is_counted(telemetry: str, courses: Courses) -> None:
    course = courses[telemetry].result()
    made = SPANS * ROUND * ROUNDS * 4
    assert 0 < course.accepted < made
    for behaviour, took_s in course.sick_s.items():
        slower = f"{behaviour}: {p95(took_s):.3f} s, healthy {p95(course.well_s):.3f} s"
        assert not shown_slower(took_s, course.well_s), slower


def behave(sink: Sink, behaviour: str, delay_ms: int = 0) -> None:
    """From now on the sink accepts spans at once (`accept`), accepts them `delay_ms` late (`slow`) or rejects them."""
    body = json.dumps({"behaviour": behaviour, "delay_ms": delay_ms}).encode()
    status, answer = sink.http.send("PUT", "SINK_PORT", "/behaviour", body)
    assert status == 204, answer


def all_arrive(system: System, sink: Sink) -> None:
    """Nothing is lost while the sink is well: this is what is sick later, not the load."""
    wait_until(lambda: sink.accepted_spans() == SPANS * WARM_UP, 30, 0.2, system.place.clock)
    assert sink.accepted_spans() == SPANS * WARM_UP


def settled(system: System, sink: Sink) -> int:
    """What the sink has accepted once the queue is empty: no batch has come for longer than an SDK waits for one."""
    last = -1

    def quiet() -> bool:
        nonlocal last
        before, last = last, sink.accepted_spans() or 0
        return before == last

    wait_until(quiet, 60, 2, system.place.clock)
    return last


def p95(took_s: list[float]) -> float:
    return float(np.percentile(took_s, 95))


def shown_slower(sick_s: list[float], well_s: list[float]) -> bool:
    """Whether p95 is larger by more than the bound, at 97.5 % by the bootstrap: a busy machine alone shows nothing."""
    draw = np.random.default_rng(1)
    sick, well = (np.percentile(draw.choice(took_s, (4000, len(took_s))), 95, axis=1) for took_s in (sick_s, well_s))
    return bool(np.percentile(sick / well, 2.5) > SLOWER)
