"""Times at equal machine speed: the slope is learned within windows, and taken out between trials."""

from pathlib import Path

import numpy as np
import pytest

from lab.analysis.metrics.speed import CACHE_STEP, as_measured, as_measured_name, timed, with_adjusted_values
from lab.analysis.stats.adjustments import FEWEST_PIECES, within_slope
from lab.analysis.stats.intervals import FloatArray
from lab.analysis.stats.scatter import lessens_scatter
from lab.contract import Measure, Metric
from lab.record.summary import TrialSummary, read_summary
from tests.labs import MESH

OUTAGE = Path(__file__).parents[2] / "docs" / "results" / "outage" / "summary.json"

TIMES = timed(MESH.judgement.metrics)
CPU = "cpu_per_request_services_ms"
EXPONENT = 1.5
LEVELS = {"baseline": 60.0, "placebo": 60.0, "agent": 90.0}


def windows(rng: np.random.Generator, count: int, pieces: int = 6, noise: float = 0.03) -> list[FloatArray]:
    """Windows of trials whose costs differ for other reasons than the machine's speed, too."""
    found = []
    for _ in range(count):
        step = np.log(4) + rng.normal(0, 0.05, pieces) + rng.normal(0, 0.1)
        # Trials with slow machines are cheap here: a slope between trials would have the wrong sign.
        level = -3 * step.mean()
        found.append(np.c_[step, level + EXPONENT * step + rng.normal(0, noise, pieces)])
    return found


def test_the_slope_is_the_one_within_windows_whatever_differs_between_them() -> None:
    found = within_slope(windows(np.random.default_rng(1), 60))
    assert found is not None
    assert found.exponent == pytest.approx(EXPONENT, abs=4 * found.standard_error)
    assert found.standard_error < 0.1
    assert found.explained > 0.7
    assert found.pieces == 360


def test_its_standard_error_is_what_repeated_studies_show() -> None:
    rng = np.random.default_rng(2)
    slopes = [slope for _ in range(300) if (slope := within_slope(windows(rng, 10))) is not None]
    spread = np.std([slope.exponent for slope in slopes], ddof=1)
    assert np.mean([slope.standard_error for slope in slopes]) == pytest.approx(spread, rel=0.15)


def test_too_few_pieces_or_a_machine_that_never_changes_give_no_slope() -> None:
    rng = np.random.default_rng(3)
    assert within_slope([]) is None
    assert within_slope(windows(rng, 2, pieces=FEWEST_PIECES // 2 - 1)) is None
    assert within_slope([np.c_[np.ones(30), rng.normal(size=30)]]) is None


def study(
    rng: np.random.Generator, blocks: int, exponent_between: float = EXPONENT
) -> tuple[list[TrialSummary], list[dict[str, FloatArray]]]:
    """Trials of three levels on a machine whose speed wanders by 10 %, and their windows in pieces."""
    trials, pieces = [], []
    for block in range(blocks):
        for level, truth in LEVELS.items():
            wander, within = rng.normal(0, 0.1), rng.normal(0, 0.05, 6)
            steps = np.log(4) + wander + within
            cost = np.log(truth) + exponent_between * wander + EXPONENT * within + rng.normal(0, 0.02, 6)
            values = {CACHE_STEP: float(np.exp(steps.mean())), CPU: float(np.exp(cost.mean()))}
            trials.append(
                TrialSummary(trial=f"{block}", level=level, block=block, valid=True, reasons=[], values=values)
            )
            nothing = np.empty((0, 2))
            pieces.append({name: np.c_[steps, cost] if name == CPU else nothing for name in TIMES})
    return trials, pieces


def log_ratios(trials: list[TrialSummary], metric: str, level: str) -> FloatArray:
    by_block = {(trial.level, trial.block): trial.values[metric] for trial in trials}
    return np.array(
        [np.log(value / by_block["baseline", block]) for (name, block), value in by_block.items() if name == level]
    )


def test_adjusting_takes_the_machines_part_out_and_leaves_the_levels() -> None:
    trials, pieces = study(np.random.default_rng(4), blocks=40)
    adjusted, how = with_adjusted_values(trials, pieces, TIMES)
    assert set(how) == {CPU}
    assert how[CPU].exponent == pytest.approx(EXPONENT, abs=0.1)
    raw, better = (log_ratios(adjusted, name, "agent") for name in (as_measured_name(CPU), CPU))
    assert better.std() < raw.std() / 5
    assert better.mean() == pytest.approx(np.log(1.5), abs=0.01)
    assert [trial.values[as_measured_name(CPU)] for trial in adjusted] == [trial.values[CPU] for trial in trials]


def test_intervals_of_adjusted_values_cover_the_truth_as_often_as_they_say() -> None:
    """With 3 blocks, where the slope itself is known least: 400 studies, classical t intervals."""
    rng = np.random.default_rng(5)
    covered = 0
    for _ in range(400):
        adjusted, _ = with_adjusted_values(*study(rng, blocks=3), TIMES)
        ratios = log_ratios(adjusted, CPU, "agent")
        covered += abs(ratios.mean() - np.log(1.5)) <= 4.303 * ratios.std(ddof=1) / np.sqrt(3)
    assert 0.92 <= covered / 400 <= 0.98


def test_a_slope_that_does_not_hold_between_trials_is_not_used() -> None:
    """Within windows the cost follows the steps; from trial to trial it does not. Intervals keep their coverage."""
    rng = np.random.default_rng(9)
    trials, pieces = study(rng, blocks=10, exponent_between=0.0)
    assert within_slope([one[CPU] for one in pieces]).clear
    assert with_adjusted_values(trials, pieces, TIMES) == (trials, {})
    covered = 0
    for _ in range(400):
        adjusted, _ = with_adjusted_values(*study(rng, 3, exponent_between=0.0), TIMES)
        ratios = log_ratios(adjusted, CPU, "agent")
        covered += abs(ratios.mean() - np.log(1.5)) <= 4.303 * ratios.std(ddof=1) / np.sqrt(3)
    assert 0.92 <= covered / 400 <= 0.98


def test_the_example_in_the_docs_is_the_kept_result() -> None:
    """docs/explanation/statistics.md: in docs/results/outage the slope within windows does not hold between trials."""
    summary = read_summary(OUTAGE)
    name, how = "latency_p50_ms", summary.adjustments["latency_p50_ms"]
    rows = [trial for trial in summary.trials if trial.valid and CACHE_STEP in trial.values]
    levels, blocks = [row.level for row in rows], [row.block for row in rows]
    values = np.log([(row.values[CACHE_STEP], row.values[as_measured_name(name)]) for row in rows])
    assert round(how.exponent, 1) == 2.6
    assert not lessens_scatter(levels, blocks, values, how.exponent)
    # The best slope between trials is 0.0 +- 0.2: neither -0.2 nor 0.2 is better than none.
    assert not any(lessens_scatter(levels, blocks, values, slope) for slope in (-0.2, 0.2))


def test_a_trial_without_the_spinners_word_is_kept_as_measured_only() -> None:
    trials, pieces = study(np.random.default_rng(6), blocks=5)
    silent = trials[0].model_copy(update={"values": {CPU: 61.0}})
    adjusted, _ = with_adjusted_values([silent, *trials[1:]], pieces, TIMES)
    assert adjusted[0].values == {as_measured_name(CPU): 61.0}


def test_without_a_spinner_nothing_is_changed() -> None:
    trials, _ = study(np.random.default_rng(7), blocks=2)
    assert with_adjusted_values(trials, [], TIMES) == (trials, {})


def test_a_metric_says_itself_that_it_follows_the_machines_speed() -> None:
    own = Metric("cpu_per_span_us", "CPU per span", "us", compute=lambda _: 1.0, adjusted_as="time")
    other = Metric("spans", "Spans", "", compute=lambda _: 1.0)
    metrics = {metric.name: metric for metric in (own, other)}
    assert list(timed(metrics)) == ["cpu_per_span_us"]
    kept = {"cpu_per_span_as_measured_us": Measure("cpu_per_span_as_measured_us", "CPU per span, as measured", "us")}
    assert as_measured(metrics) == kept
