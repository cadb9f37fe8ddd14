"""The reference: a second system beside a run's trials, whose cost says how fast the machine was."""

from pathlib import Path

import numpy as np
import pytest

from lab.analysis.metrics import with_adjusted_values
from lab.analysis.metrics.adjusted import TIMES, as_measured_name
from lab.analysis.metrics.speed import CACHE_STEP, REFERENCE
from lab.engine.machine import CpuSplit
from lab.load import GENERATORS
from lab.load.users import answered
from lab.record.records import TrialSummary, read_requests
from lab.run.reference import WARM_UP_REQUESTS, Reference, beside
from lab.spec.experiment import parse_experiment
from lab.target.mesh import sidecars
from lab.target.mesh.system import StartFailed, System
from lab.target.mesh.topology import load_topology
from lab.target.mesh.variants import load_variants
from tests.fake import FakeClock, FakeDriver

ROOT = Path(__file__).resolve().parents[2]
CPU = "cpu_per_request_services_ms"
HEAD = "# tollbooth.requests v1\nuser,target,intended_ns,start_ns,end_ns,status,bytes\n"
SPEC = """
format: tollbooth.experiment
version: 1
title: Test
question: Does it run?
topology: mesh
load: {generator: locust, users: 3, think_time_s: [1.0, 1.1]}
factors: {telemetry: {baseline: {}, otel-manual: {telemetry: otel-manual}}}
baseline: baseline
protocol: {warm_up_s: 1, window_s: 9, repetitions: 2, reference: true}
"""


class Asking(FakeClock):
    """A clock in whose time the reference's generator answers ten requests a second."""

    def __init__(self, folder: Path, answers: bool = True) -> None:
        super().__init__()
        self.folder, self.answers = folder, answers

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        if self.answers:
            rows = [f"1,a1,{at},{at},{at + 50},200,41\n" for at in range(0, round(self.time_s * 1000), 100)]
            (self.folder / "requests.csv").write_text(HEAD + "".join(rows) + "1,a1,99")


def reference(folder: Path, clock: FakeClock) -> Reference:
    path = ROOT / "experiments" / "topologies" / "mesh.yaml"
    system = System(
        root=ROOT, topology=load_topology(path), topology_path=path,
        variants=load_variants(ROOT / "services" / "telemetry"), envoy=sidecars.load(ROOT / "envoy"),
        cpus=CpuSplit((0, 1), (0, 1)), driver=FakeDriver(clock), clock=clock, journal=folder / "faults.json",
        alone=False,
    )  # fmt: skip
    return Reference(system, GENERATORS["locust"], folder)


def test_it_is_warm_when_the_trials_begin_and_gone_when_they_have_ended(tmp_path: Path) -> None:
    clock = Asking(tmp_path / "out")
    one = reference(tmp_path / "out", clock)
    driver = one.system.driver
    assert isinstance(driver, FakeDriver)
    with beside(one, parse_experiment(SPEC, "test")):
        assert answered(one.requests) >= WARM_UP_REQUESTS
        assert driver.deployment is not None
        assert driver.deployment.environment["GATEWAY_PORT"] == "0"
        assert driver.deployment.environment["TELEMETRY"] == "baseline"
        assert {"reference-gateway", "reference-a1"} <= one.containers().keys()
        one.save_requests(tmp_path / "cut.csv", 1_000, 2_000)
    assert driver.done[-1] == "remove"
    cut = read_requests(tmp_path / "cut.csv")
    assert (cut.start_ns.min(), cut.start_ns.max(), len(cut)) == (1_000, 2_000, 11)


def test_one_that_is_never_warm_ends_the_run_and_is_removed(tmp_path: Path) -> None:
    one = reference(tmp_path / "out", Asking(tmp_path / "out", answers=False))
    with (
        pytest.raises(StartFailed, match="had not warmed the reference up"),
        beside(one, parse_experiment(SPEC, "test")),
    ):
        pass
    driver = one.system.driver
    assert isinstance(driver, FakeDriver) and driver.done[-1] == "remove"


def study(rng: np.random.Generator, blocks: int) -> tuple[list[TrialSummary], list[dict[str, np.ndarray]]]:
    """Trials on a machine whose speed the reference sees and the spinner does not."""
    trials, windows = [], []
    for block in range(blocks):
        for level, truth in (("baseline", 60.0), ("agent", 90.0)):
            speed = np.log(70) + rng.normal(0, 0.1) + rng.normal(0, 0.05, 6)
            cost = np.log(truth) + 0.6 * (speed - np.log(70)) + rng.normal(0, 0.02, 6)
            found = {REFERENCE: float(np.exp(speed.mean())), CPU: float(np.exp(cost.mean())), CACHE_STEP: 5.0}
            trials.append(
                TrialSummary(trial=f"{block}", level=level, block=block, valid=True, reasons=[], values=found)
            )
            windows.append({name: np.c_[speed, cost] if name == CPU else np.empty((0, 2)) for name in TIMES})
    return trials, windows


def test_where_a_reference_stood_beside_it_is_the_covariate() -> None:
    adjusted, how = with_adjusted_values(*study(np.random.default_rng(1), blocks=30))
    assert how[CPU].covariate == REFERENCE
    assert how[CPU].exponent == pytest.approx(0.6, abs=0.1)

    def spread(metric: str) -> float:
        return float(np.std([np.log(trial.values[metric]) for trial in adjusted if trial.level == "baseline"]))

    assert spread(CPU) < spread(as_measured_name(CPU)) / 2
