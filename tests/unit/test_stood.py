"""Side by side, what goes with the time that a system had stood is told from what its level costs, and taken out."""

import numpy as np
import pytest

from lab.analyse import summarise
from lab.metrics import with_adjusted_values
from lab.metrics.adjusted import as_measured_name
from lab.metrics.speed import STOOD
from lab.records import TrialSummary
from lab.report.findings import cautions, remarks
from lab.spec import parse_experiment
from lab.stats.covariate import FEWEST_PIECES, Row, crossed_slope
from tests.unit.test_adjusted import log_ratios

CPU = "cpu_per_request_services_ms"
TRUTH = {"baseline": 96.0, "placebo": 96.0, "manual": 110.0, "metrics": 120.0, "agent": 130.0, "other": 140.0}
EXPONENT = 0.08
SPEC = """
format: tollbooth.experiment
version: 1
title: Test
question: Does it say so?
topology: mesh
load: {generator: locust, users: 12, think_time_s: [1.0, 1.1]}
factors: {telemetry: {LEVELS}}
baseline: baseline
protocol: {warm_up_requests: 20, window_s: 15, repetitions: 20, retries: 0, side_by_side: true}
"""


def study(rng: np.random.Generator, blocks: int, exponent: float = EXPONENT) -> list[TrialSummary]:
    """Trials of six levels which are started one after the other, in random order, on a machine that changes."""
    trials = []
    for block in range(blocks):
        speed = rng.normal(0, 0.05)
        for place, level in enumerate(rng.permutation(list(TRUTH))):
            stood_s = 450.0 - 30 * place + rng.uniform(-5, 5)
            cost = np.log(TRUTH[level]) + speed + exponent * np.log(stood_s) + rng.normal(0, 0.01)
            values = {STOOD: stood_s, CPU: float(np.exp(cost))}
            trials.append(
                TrialSummary(trial=f"{block}", level=level, block=block, valid=True, reasons=[], values=values)
            )
    return trials


def rows(trials: list[TrialSummary]) -> list[Row]:
    return [Row(one.level, one.block, np.log(one.values[STOOD]), np.log(one.values[CPU])) for one in trials]


def test_the_slope_is_the_one_that_levels_and_blocks_leave() -> None:
    found = crossed_slope(rows(study(np.random.default_rng(1), 50)))
    assert found is not None
    assert found.exponent == pytest.approx(EXPONENT, abs=4 * found.standard_error)
    assert found.pieces == 300


def test_its_standard_error_is_what_repeated_studies_show() -> None:
    rng = np.random.default_rng(2)
    slopes = [slope for _ in range(300) if (slope := crossed_slope(rows(study(rng, 5)))) is not None]
    spread = np.std([slope.exponent for slope in slopes], ddof=1)
    assert np.mean([slope.standard_error for slope in slopes]) == pytest.approx(spread, rel=0.15)


def test_too_few_trials_or_systems_that_stood_equally_long_give_no_slope() -> None:
    trials = rows(study(np.random.default_rng(3), 5))
    assert crossed_slope(trials[: FEWEST_PIECES - 1]) is None
    assert crossed_slope([Row(row.level, row.block, 6.0, row.measure) for row in trials]) is None


def test_what_goes_with_it_is_taken_out() -> None:
    adjusted, how = with_adjusted_values(study(np.random.default_rng(4), 40), [])
    assert how[CPU].covariate == STOOD
    raw, better = (log_ratios(adjusted, name, "agent") for name in (as_measured_name(CPU), CPU))
    assert better.std() < raw.std()
    assert better.mean() == pytest.approx(np.log(130 / 96), abs=0.01)


@pytest.mark.parametrize("exponent", [EXPONENT, 0.0])
@pytest.mark.parametrize(("blocks", "quantile"), [(4, 3.182), (7, 2.447)])
def test_intervals_cover_the_truth_as_often_as_they_say(exponent: float, blocks: int, quantile: float) -> None:
    """Whether something goes with it or nothing does: 300 studies of five levels, classical t intervals."""
    rng, covered = np.random.default_rng(5), []
    for _ in range(300):
        adjusted, _ = with_adjusted_values(study(rng, blocks, exponent), [])
        for level, truth in TRUTH.items():
            if level != "baseline":
                ratios = log_ratios(adjusted, CPU, level)
                half = quantile * ratios.std(ddof=1) / np.sqrt(blocks)
                covered.append(abs(ratios.mean() - np.log(truth / TRUTH["baseline"])) <= half)
    assert 0.93 <= np.mean(covered) <= 0.97


def test_the_report_says_so() -> None:
    levels = ", ".join(f"{level}: {{telemetry: baseline}}" for level in TRUTH if level != "placebo")
    summary = summarise(parse_experiment(SPEC.replace("LEVELS", levels), "test"), study(np.random.default_rng(6), 20))
    sentence = remarks(summary)[1]
    assert sentence.startswith("Times are as if every system had stood equally long.")
    assert "of what levels and blocks leave" in sentence
    assert not [caution for caution in cautions(summary) if "taken for the machine's" in caution]
