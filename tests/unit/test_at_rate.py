"""Side by side in an open loop: equal rates in one window, and nothing in step."""

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from lab.backend import BACKENDS
from lab.record import read_trial, read_trial_record
from lab.report.build import build
from lab.report.terminal import print_results
from lab.run.runner import Run
from lab.run.start import Context
from lab.run.turns import ORDERED_AHEAD_S
from tests import benches, synthetic
from tests.benches import complete
from tests.fake_turns import SilentBackend, Turns, systems
from tests.labs import analyse

SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: Does it run?
target: {kind: mesh, topology: mesh}
load: {generator: open-loop, schedule: {kind: open-loop, requests_per_s: 5, arrivals: fixed}}
factors:
  telemetry:
    baseline: {telemetry: baseline}
    otel-manual: {telemetry: otel-manual}
baseline: baseline
protocol: {warm_up_requests: 20, window_s: 30, repetitions: 2, retries: 0, seed: 7, side_by_side: true}
"""
SYSTEMS = 3
BETWEEN_NS = 10**9 // 5 // SYSTEMS


def without_engine(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(BACKENDS, "jaeger", SilentBackend)
    benches.without_images(patch)


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    without_engine(monkeypatch)


def at_rate(spec: str = SPEC) -> tuple[Context, list[Turns]]:
    drivers = systems(SYSTEMS)
    return benches.together(drivers, spec), drivers


Ran = tuple[list[Turns], Run, str]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    """Return the engines of a complete run, the run, and what was said. The tests only read it, or analyse it."""
    with pytest.MonkeyPatch.context() as patch:
        without_engine(patch)
        on, drivers = at_rate()
        return drivers, *complete(on, tmp_path_factory.mktemp("ran"))


def test_all_systems_have_the_same_rate_in_the_same_window(ran: Ran) -> None:
    drivers, run, said = ran
    trials = [read_trial(path.parent) for path in sorted(run.folder.glob("trials/*/trial.json"))]
    assert [trial.trial.reasons for trial in trials] == [[]] * 6
    assert [trial.trial.found for trial in trials] == [{}] * 6
    for block in (0, 1):
        ((start_ns, end_ns),) = {
            (one.trial.window_start_ns, one.trial.window_end_ns) for one in trials if one.trial.block == block
        }
        assert end_ns - start_ns == 30 * 10**9
    for one in trials:
        inside = one.requests.ended_in(one.trial.window_start_ns, one.trial.window_end_ns)
        assert len(inside) == 5 * 30
        # The load goes on after the window, and began before it.
        assert one.requests.last_end_ns() > one.trial.window_end_ns
        assert one.requests.start_ns[20] < one.trial.window_start_ns
    assert "3 systems are running side by side, warming up" in said
    assert "calibration" not in run.manifest
    assert [driver.done[-1] for driver in drivers] == ["remove"] * SYSTEMS


def test_no_two_systems_get_a_request_at_the_same_time(ran: Ran) -> None:
    drivers = ran[0]
    # Of each system the warm-up, and then the window's load, in two blocks.
    first_ns = [driver.loads_sent[1]["starts_ns"][0] for driver in drivers]
    assert [start_ns - first_ns[0] for start_ns in first_ns] == [0, BETWEEN_NS + 1, 2 * BETWEEN_NS + 1]
    assert [len(driver.loads_sent) for driver in drivers] == [4] * SYSTEMS


def test_loads_are_ordered_early_enough_for_generators_whose_compilers_are_still_busy(ran: Ran) -> None:
    for folder in ran[1].folder.glob("trials/*"):
        requests = read_trial(folder).requests
        # The warm-up has 20 requests.
        assert requests.start_ns[20] - requests.end_ns[19] >= ORDERED_AHEAD_S * 10**9


def test_each_system_has_poisson_arrivals_of_its_own(tmp_path: Path) -> None:
    on, drivers = at_rate(SPEC.replace("arrivals: fixed", "arrivals: poisson"))
    run, _ = complete(on, tmp_path)
    seed = run.manifest["order"][0]["seed"]
    steady = [driver.loads_sent[1] for driver in drivers]
    assert [load["seed"] for load in steady] == [seed, seed + 1, seed + 2]
    assert {load["arrivals"] for load in steady} == {"poisson"}
    # 6 s before the window, 30 s of it, 1 s after it: 185 requests, and four standard deviations more.
    assert {load["requests"] for load in steady} == {round(185 + 4 * 185**0.5 + 0.5)}


def test_ratios_are_those_of_the_systems(ran: Ran) -> None:
    run = ran[1]
    truth = synthetic.QUICK["otel-manual"].cpu_ms / synthetic.QUICK["baseline"].cpu_ms
    rows = {(row.metric, row.level): row for row in analyse(run.folder).estimates}
    assert rows["cpu_per_request_services_ms", "otel-manual"].ratio == pytest.approx(truth, rel=0.05)


def test_a_rate_that_saturates_the_machine_rejects_all_trials_of_the_block(tmp_path: Path) -> None:
    on, _ = at_rate(SPEC.replace("requests_per_s: 5", "requests_per_s: 12"))
    run, _ = complete(on, tmp_path)
    trials = [read_trial_record(path.parent) for path in run.folder.glob("trials/*/trial.json")]
    assert len(trials) == 6
    assert all("of the host's CPUs (limit 70 %)" in trial.reasons[0] for trial in trials)


def test_a_set_without_a_placebo_has_two_systems_and_no_noise_floor(tmp_path: Path) -> None:
    on, drivers = at_rate(SPEC.replace("seed: 7", "seed: 7, placebo: false"))
    run, _ = complete(replace(on, places=on.places[:2]), tmp_path)
    assert {trial["level"] for trial in run.manifest["order"]} == {"baseline", "otel-manual"}
    assert run.manifest["spec"]["protocol"]["placebo"] is False
    summary = analyse(run.folder)
    assert list(summary.levels) == ["baseline", "otel-manual"]
    assert summary.compared_with == ("baseline",)
    rows = [
        row for row in summary.estimates if (row.metric, row.level) == ("cpu_per_request_services_ms", "otel-manual")
    ]
    truth = synthetic.QUICK["otel-manual"].cpu_ms / synthetic.QUICK["baseline"].cpu_ms
    assert [row.ratio for row in rows] == [pytest.approx(truth, rel=0.05)]
    assert rows[0].noise_floor is None
    assert drivers[2].done == []
    shown = io.StringIO()
    print_results(run.folder, Console(file=shown, width=200))
    assert "otel-manual" in shown.getvalue()
    assert "otel-manual" in build(run.folder).read_text()


def test_a_spec_with_a_placebo_is_recorded_as_before_it_could_be_left_out() -> None:
    on, _ = at_rate()
    assert "placebo" not in on.experiment.recorded()["protocol"]
