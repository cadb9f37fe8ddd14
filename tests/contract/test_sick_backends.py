"""A failing backend costs telemetry and never delays requests: the contract of every variant that sends spans."""

import json
import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

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
Warm = tuple[System, Sink]


@pytest.fixture(scope="module", autouse=True)
def the_images() -> None:
    images.ensure(("services", "sink"), print)


@pytest.fixture(scope="module")
def warm(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Mapping[str, Warm]]:
    """The systems of all senders that are tested, by the senders' names.

    They start and warm up as many at a time as there are CPUs. Then only the one with requests has something to do.
    """
    senders = [item.callspec.params["telemetry"] for item in request.session.items if item.path == request.path]
    with ExitStack() as systems, ThreadPoolExecutor(os.cpu_count()) as pool:

        def started(telemetry: str) -> Warm:
            of = level(telemetry, telemetry, backend="sink", environment=QUICK_START)
            out, name = tmp_path_factory.mktemp("sick") / "out", f"sick-{senders.index(telemetry)}"
            system, sink = systems.enter_context(running(of, FOLDER / "pair.yaml", out, name))
            assert isinstance(sink, Sink)
            timed_requests(system, "a1", WARM_UP)
            all_arrive(system, sink)
            return system, sink

        found = dict(zip(senders, pool.map(started, senders), strict=True))
        yield found
        list(pool.map(lambda one: one[0].driver.remove(), found.values()))


@pytest.mark.parametrize("telemetry", parameters(SENDERS))
def test_requests_go_on_whatever_the_backend_does_and_what_is_lost_is_counted(
    telemetry: str, warm: Mapping[str, Warm]
) -> None:
    system, sink = warm[telemetry]
    well_s: list[float] = []
    sick_s: dict[str, list[float]] = {"down": [], "slow": [], "refuse": []}
    for _ in range(ROUNDS):
        well_s += timed_requests(system, "a1", ROUND)
        system.driver.stop(["sink"])
        sick_s["down"] += timed_requests(system, "a1", ROUND)
        system.driver.start(["sink"])
        assert wait_until(sink.ready, 10, 0.1, system.place.clock)
    before = settled(system, sink)
    for behaviour in ("slow", "refuse") * ROUNDS:
        behave(sink, "accept")
        well_s += timed_requests(system, "a1", ROUND)
        behave(sink, behaviour, ANSWERS_AFTER_MS)
        sick_s[behaviour] += timed_requests(system, "a1", ROUND)
    behave(sink, "accept")
    # The SDK delivers what it still holds when its service ends; a queue without bound would lose nothing.
    system.driver.stop(list(system.topology.nodes))
    accepted = (sink.accepted_spans() or 0) - before
    made = SPANS * ROUND * ROUNDS * 4
    assert 0 < accepted < made
    for behaviour, took_s in sick_s.items():
        assert not shown_slower(took_s, well_s), f"{behaviour}: {p95(took_s):.3f} s, healthy {p95(well_s):.3f} s"


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
