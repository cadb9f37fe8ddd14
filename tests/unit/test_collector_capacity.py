"""The capacity model finds what it was made of, is honest outside its grid, and predicts points that it did not see."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from lab.analysis.collector.capacity import (
    MIB,
    CapacityModel,
    Load,
    Trial,
    fit_pipeline,
    held_back,
    read_model,
    size,
    write_model,
)
from lab.analysis.stats.proportions import Count, clopper_pearson
from lab.errors import UserError

NOISE = 0.03
NUM_TRACES = 50_000


def passing(seed: int, noise: float = NOISE) -> list[Trial]:
    """A 3 x 3 x 3 grid. A span: 4 µs, 2 ns per byte, 0.3 µs per attribute; a trace: 10 µs. 80 MiB and 0.5 s of data."""
    random = np.random.default_rng(seed)
    trials = []
    for span_bytes, attributes, spans in product((200, 800, 3_200), (0, 10, 30), (1, 10, 100)):
        load = Load(10_000, span_bytes, attributes, spans)
        cpu = 4 + 0.002 * span_bytes + 0.3 * attributes + 10 / spans
        memory = 80 + 0.5 * 10_000 * span_bytes / MIB + 30 * attributes / 100 + 1_000 * 0.01 / spans
        trials.append(Trial(load, *(np.array([cpu, memory]) * (1 + noise * random.standard_normal(2)))))
    return trials


def tail_sampling(seed: int, noise: float = NOISE) -> list[Trial]:
    """A grid of rate, decision wait and trace size: 60 MiB, 4 MiB per 1,000 traces held, and 2.5 times their bytes."""
    random = np.random.default_rng(seed)
    trials = []
    for rate, wait_s, spans in product((2_000, 5_000, 12_000), (2, 5, 15), (2, 10, 40)):
        # CPU needs all its terms, so size and attributes vary from point to point.
        load = Load(rate, float(random.uniform(300, 1_500)), float(random.integers(0, 20)), spans, wait_s)
        traces = min(rate / spans * wait_s, NUM_TRACES)
        cpu = 6 + 0.002 * load.span_bytes + 0.3 * load.attributes + 15 / spans
        memory = 60 + 4 * traces / 1e3 + 2.5 * traces * spans * load.span_bytes / MIB
        trials.append(Trial(load, *(np.array([cpu, memory]) * (1 + noise * random.standard_normal(2)))))
    return trials


def model() -> CapacityModel:
    return CapacityModel(
        machine={"cpu": "a CPU", "cpus": 2},
        pipelines={
            "forward": fit_pipeline(passing(1)),
            "tail-sampling": fit_pipeline(tail_sampling(1), NUM_TRACES),
        },
    )


def test_without_noise_the_coefficients_are_exact() -> None:
    forward = fit_pipeline(passing(1, noise=0))
    assert forward.cpu_us_per_span.coefficients == pytest.approx([4, 0.002, 0.3, 10])
    assert forward.memory_mib.coefficients == pytest.approx([80, 0.5, 30, 1_000])
    assert forward.cpu_us_per_span.residual_sd == pytest.approx(0, abs=1e-9)
    tail = fit_pipeline(tail_sampling(1, noise=0), NUM_TRACES)
    assert tail.memory_mib.coefficients == pytest.approx([60, 4, 2.5])


def test_prediction_intervals_cover_new_trials_as_often_as_they_say() -> None:
    random, covered, repetitions = np.random.default_rng(7), 0, 400
    for seed in range(repetitions):
        fitted = CapacityModel(machine={}, pipelines={"forward": fit_pipeline(passing(seed))})
        cores = size(fitted, 10_000, 800, 10, "forward", attributes=10).cores
        new = 0.01 * (4 + 1.6 + 3 + 1) * 10 / 10 * (1 + NOISE * random.standard_normal())
        covered += cores.low <= new <= cores.high
    assert clopper_pearson(Count(covered, repetitions), 0.95).covers(0.95)


def test_size_is_in_cores_and_mib() -> None:
    found = size(model(), 10_000, 800, 10, "forward", attributes=10)
    assert found.cores.value == pytest.approx(10_000 * (4 + 1.6 + 3 + 1) / 1e6, rel=0.05)
    assert found.memory_mib.value == pytest.approx(80 + 0.5 * 8e6 / MIB + 3 + 1, rel=0.05)
    assert found.cores.low < found.cores.value < found.cores.high
    assert (found.extrapolated, found.decides_early) == ((), False)


def test_what_is_outside_the_grid_is_named() -> None:
    found = size(model(), 50_000, 100, 10, "forward", attributes=10)
    assert found.extrapolated == ("spans_per_s", "span_bytes")
    assert size(model(), 10_000, 800, 10, "tail-sampling", 30, 10).extrapolated == ("decision_wait_s",)


def test_tail_sampling_holds_at_most_num_traces() -> None:
    full = size(model(), NUM_TRACES * 10, 800, 10, "tail-sampling", decision_wait_s=1)
    over = size(model(), NUM_TRACES * 10, 800, 10, "tail-sampling", decision_wait_s=3)
    assert full.memory_mib == over.memory_mib
    assert (full.decides_early, over.decides_early) == (False, True)


@pytest.mark.parametrize("seed", range(5))
def test_points_held_back_are_predicted(seed: int) -> None:
    for checks in (held_back(passing(seed), seed), held_back(tail_sampling(seed), seed, NUM_TRACES)):
        for check in checks.values():
            assert check.points == 12
            # The noise of a trial itself: its median is 0.67 times its standard deviation.
            assert 0.005 < check.median < 2 * NOISE
            assert check.median < check.worst < 6 * NOISE


def test_a_wrong_formula_shows_at_points_held_back() -> None:
    bent = [
        replace(
            trial, cpu_us_per_span=trial.cpu_us_per_span * (1 + trial.load.attributes * trial.load.span_bytes / 2e4)
        )
        for trial in passing(1)
    ]
    assert held_back(bent, 1)["cpu"].median > 0.1


def test_fewer_points_are_not_held_back() -> None:
    with pytest.raises(ValueError, match="at least 12 points are held back"):
        held_back(passing(1), 1, points=11)


def test_a_grid_that_does_not_vary_a_variable_is_refused() -> None:
    with pytest.raises(ValueError, match="do not determine span, span byte"):
        fit_pipeline([trial for trial in passing(1) if trial.load.span_bytes == 800])


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "capacity-model.json"
    write_model(path, model())
    assert size(read_model(path), 10_000, 800, 10, "forward") == size(model(), 10_000, 800, 10, "forward")
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"version": 2}))
    with pytest.raises(UserError):
        read_model(path)
    path.write_text(json.dumps(data | {"more": 1}))
    with pytest.raises(UserError, match="more"):
        read_model(path)
