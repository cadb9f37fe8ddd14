"""The capacity model finds what it was made of, is honest outside its grid, and predicts points that it did not see."""

import json
import math
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from lab.analysis.collector.capacity import (
    FILLING_CORES,
    MOST_BUSY,
    TICK_S,
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
from lab.record import MIB

NOISE = 0.03
NUM_TRACES = 50_000
SECOND_US, WAKE_UP_US = 8_000.0, 20.0
FILLING = FILLING_CORES[len(FILLING_CORES) // 2]


def cpu_us(load: Load, span: float, trace: float) -> float:
    """A span with these parts, 2 ns per byte and 0.3 µs per attribute; a trace wakes a Collector in its idle time.

    8 ms in each second are the Collector's own.
    """
    woken = span + 0.002 * load.span_bytes + 0.3 * load.attributes + (trace + WAKE_UP_US) / load.spans_per_trace
    woken += SECOND_US / load.spans_per_s
    return woken / (1 + WAKE_UP_US / load.spans_per_trace * load.spans_per_s / 1e6)


def noisy(load: Load, cpu: float, memory: float, random: np.random.Generator, noise: float) -> Trial:
    return Trial(load, *(np.array([cpu, memory]) * (1 + noise * random.standard_normal(2))))


def passing(seed: int, noise: float = NOISE, trace: float = 10) -> list[Trial]:
    """A grid of four variables. A span: 4 µs, a trace: 10 µs. 80 MiB, 0.5 s of data, a heap of 40 MiB."""
    random = np.random.default_rng(seed)
    trials = []
    for rate, span_bytes, attributes, spans in product((4_000, 20_000), (200, 800, 3_200), (0, 10, 30), (1, 10, 100)):
        load = Load(rate, span_bytes, attributes, spans)
        cpu = cpu_us(load, 4, trace)
        filled = 1 - math.exp(-rate * cpu / 1e6 / FILLING)
        memory = 80 + 0.5 * rate * span_bytes / MIB + 40 * filled
        trials.append(noisy(load, cpu, memory, random, noise))
    return trials


def tail_sampling(seed: int, noise: float = NOISE) -> list[Trial]:
    """A grid of rate, decision wait and trace size: 60 MiB, 4 MiB per 1,000 traces held, and their spans."""
    random = np.random.default_rng(seed)
    trials = []
    for rate, wait_s, spans in product((2_000, 5_000, 12_000), (2, 5, 15), (2, 10, 40)):
        # CPU needs all its terms, so size and attributes vary from point to point.
        load = Load(rate, float(random.uniform(300, 1_500)), float(random.integers(0, 20)), spans, wait_s)
        traces = min(rate / spans * (wait_s + TICK_S), NUM_TRACES)
        held = traces * spans
        memory = 60 + 4 * traces / 1e3 + 0.5 * held / 1e3 + 80 * held * load.attributes / 1e6
        memory += 2.5 * held * load.span_bytes / MIB
        trials.append(noisy(load, cpu_us(load, 6, 15), memory, random, noise))
    return trials


def model() -> CapacityModel:
    return CapacityModel(
        machine={"cpu_model": "a CPU", "cores": 2},
        runs=[],
        pipelines={
            "forward": fit_pipeline(passing(1)),
            "tail-sampling": fit_pipeline(tail_sampling(1), NUM_TRACES),
        },
    )


def test_without_noise_the_coefficients_are_exact() -> None:
    forward = fit_pipeline(passing(1, noise=0))
    assert forward.cpu_us_per_span.coefficients == pytest.approx([4, 0.002, 0.3, 10, SECOND_US, WAKE_UP_US])
    assert forward.memory_mib.coefficients == pytest.approx([80, 0.5, 40])
    assert forward.filling_cores == FILLING
    assert forward.cpu_us_per_span.residual_sd == pytest.approx(0, abs=1e-9)
    tail = fit_pipeline(tail_sampling(1, noise=0), NUM_TRACES)
    assert tail.filling_cores is None
    assert tail.memory_mib.coefficients == pytest.approx([60, 4, 0.5, 80, 2.5])


def covered(load: Load, trace: float, repetitions: int = 400) -> Count:
    """How often the interval of a fit contains the cores of a new trial."""
    random, inside = np.random.default_rng(7), 0
    for seed in range(repetitions):
        fitted = CapacityModel(machine={}, runs=[], pipelines={"forward": fit_pipeline(passing(seed, trace=trace))})
        cores = size(fitted, load, "forward").cores
        new = load.spans_per_s / 1e6 * cpu_us(load, 4, trace) * (1 + NOISE * random.standard_normal())
        inside += cores.low <= new <= cores.high
    return Count(inside, repetitions)


def test_prediction_intervals_cover_new_trials_as_often_as_they_say() -> None:
    assert clopper_pearson(covered(Load(10_000, 800, 10, 10), 10), 0.95).covers(0.95)


def test_where_a_part_is_zero_intervals_cover_at_least_as_often() -> None:
    """Half of these fits would have a negative part of a trace."""
    assert clopper_pearson(covered(Load(10_000, 800, 10, 1), 0), 0.95).high >= 0.95


def test_no_coefficient_is_negative_so_no_load_is_too_large_for_more_collectors() -> None:
    """A trace's part is -15 µs, and 20 µs if it wakes the Collector: it would be half busy at any rate."""
    trials = passing(1, noise=0, trace=-15)
    rows = [
        (1, one.span_bytes, one.attributes, per_span, 1 / one.spans_per_s, trial.idle * per_span)
        for trial in trials
        for one in [trial.load]
        for per_span in [1 / one.spans_per_trace]
    ]
    unconstrained = np.linalg.lstsq(np.array(rows), [trial.cpu_us_per_span for trial in trials])[0]
    assert unconstrained[3] == pytest.approx(-15)
    fitted = fit_pipeline(trials)
    assert min(fitted.cpu_us_per_span.coefficients) == fitted.cpu_us_per_span.coefficients[3] == 0
    assert min(fitted.memory_mib.coefficients) >= 0
    known = CapacityModel(machine={}, runs=[], pipelines={"forward": fitted})
    needed = [size(known, Load(rate, 200, 0, 1), "forward") for rate in (1e4, 1e6, 1e8)]
    assert needed[0].collectors < needed[1].collectors < needed[2].collectors
    assert all(one.cores.value <= MOST_BUSY for one in needed)


def test_size_is_in_cores_and_mib() -> None:
    load = Load(10_000, 800, 10, 10)
    found = size(model(), load, "forward")
    assert found.cores.value == pytest.approx(cpu_us(load, 4, 10) / 100, rel=0.05)
    assert found.memory_mib.value == pytest.approx(80 + 0.5 * 8e6 / MIB + 40, rel=0.05)
    assert found.cores.low < found.cores.value < found.cores.high
    assert (found.collectors, found.extrapolated, found.decides_early) == (1, (), False)


def test_a_little_load_fills_the_heap_too_when_it_lasts() -> None:
    load = Load(4_000, 200, 0, 100)
    (trial,) = (one for one in passing(1, noise=0) if one.load == load)
    assert trial.memory_mib < 95
    assert size(model(), load, "forward").memory_mib.value == pytest.approx(80 + 0.5 * 8e5 / MIB + 40, rel=0.05)


def test_a_busy_collector_needs_less_cpu_for_a_span() -> None:
    slow, fast = (size(model(), Load(rate, 200, 0, 1), "forward").cores.value for rate in (4_000, 20_000))
    assert fast < 4.5 * slow


def test_a_larger_load_is_shared_by_the_fewest_collectors_that_are_not_too_busy() -> None:
    load = Load(200_000, 800, 10, 10)
    found = size(model(), load, "forward")
    assert found.collectors > 1
    assert found.cores.value <= MOST_BUSY
    fewer = replace(load, spans_per_s=load.spans_per_s / (found.collectors - 1))
    assert size(model(), fewer, "forward").collectors > 1


def test_what_is_outside_the_grid_is_named() -> None:
    assert size(model(), Load(2_000, 100, 10, 10), "forward").extrapolated == ("spans_per_s", "span_bytes")
    assert size(model(), Load(10_000, 800, 10, 10, 30), "tail-sampling").extrapolated == ("decision_wait_s",)


def test_tail_sampling_holds_at_most_num_traces() -> None:
    full = size(model(), Load(20_000, 400, 10, 2, 4), "tail-sampling")
    over = size(model(), Load(20_000, 400, 10, 2, 14), "tail-sampling")
    assert full.collectors == 1
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


def test_a_grid_that_does_not_vary_a_variable_is_rejected() -> None:
    with pytest.raises(ValueError, match="do not determine span, span byte"):
        fit_pipeline([trial for trial in passing(1) if trial.load.span_bytes == 800])


def test_a_model_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "capacity-model.json"
    write_model(path, model())
    load = Load(10_000, 800, 10, 10)
    assert size(read_model(path), load, "forward") == size(model(), load, "forward")
    data = json.loads(path.read_text())
    path.write_text(json.dumps(data | {"version": 2}))
    with pytest.raises(UserError):
        read_model(path)
    path.write_text(json.dumps(data | {"more": 1}))
    with pytest.raises(UserError, match="more"):
        read_model(path)
