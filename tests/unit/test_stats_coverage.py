"""Do the intervals cover the truth as often as they say? Simulated studies with a known ratio."""

from collections.abc import Callable

import numpy as np
import pytest

from lab.analysis.stats.compare import compare, holm, log_ratios, mean_of
from lab.analysis.stats.intervals import t_interval
from tests.synthetic.coverage import (
    BEGIN,
    BLOCKS,
    DOCUMENT,
    END,
    EQUAL,
    FIXED,
    IN_SQUARES,
    IN_SQUARES_CORRELATED,
    REPAIRED,
    STOPPING,
    chain,
    every,
    given_first_look,
    outcome,
)

STUDIES = 8_000
RESAMPLES = 1_000
TRUE_RATIO = 1.3

# The noise of one trial, as a factor on its value.
Noise = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
NOISES: dict[str, Noise] = {
    "normal": lambda rng, shape: np.exp(rng.normal(0, 0.03, shape)),
    "lognormal": lambda rng, shape: 1 + 0.05 * rng.lognormal(0, 1, shape),
    "heavy-tailed": lambda rng, shape: np.exp(0.02 * rng.standard_t(4, shape)),
}


def simulated(rng: np.random.Generator, noise: Noise, blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """Return level and baseline of many studies; machine drift of up to ±50 % is common to a block."""
    shape = (STUDIES, blocks)
    drift = np.exp(rng.uniform(-0.4, 0.4, shape))
    return TRUE_RATIO * 50 * drift * noise(rng, shape), 50 * drift * noise(rng, shape)


@pytest.mark.parametrize("blocks", [3, 5, 10, 20])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())
def test_the_ratios_interval_covers_the_truth_in_95_percent_of_studies(noise: Noise, blocks: int) -> None:
    level, baseline = simulated(np.random.default_rng(1), noise, blocks)
    mean, reach, _ = t_interval(log_ratios(level, baseline), 0.95, seed=1, resamples=RESAMPLES)
    coverage = np.mean(np.abs(mean - np.log(TRUE_RATIO)) <= reach)
    assert 0.93 <= coverage <= 0.975


@pytest.mark.parametrize("blocks", [3, 10])
@pytest.mark.parametrize("noise", NOISES.values(), ids=NOISES.keys())
def test_so_does_that_to_the_mean_of_two_baselines_and_it_is_narrower(noise: Noise, blocks: int) -> None:
    rng, shape = np.random.default_rng(3), (STUDIES, blocks)
    level, baseline, placebo = (factor * noise(rng, shape) for factor in (TRUE_RATIO, 1, 1))
    both = np.vectorize(lambda one, other: mean_of([{0: one}, {0: other}])[0])(baseline, placebo)
    mean, reach, _ = t_interval(log_ratios(level, both), 0.95, seed=1, resamples=RESAMPLES)
    _, alone, _ = t_interval(log_ratios(level, baseline), 0.95, seed=1, resamples=RESAMPLES)
    assert 0.93 <= np.mean(np.abs(mean - np.log(TRUE_RATIO)) <= reach) <= 0.975
    assert np.sqrt(np.mean(reach**2) / np.mean(alone**2)) == pytest.approx(np.sqrt(3 / 4), abs=0.03)


@pytest.mark.parametrize("blocks", [3, 10])
def test_identical_levels_are_called_different_in_at_most_5_percent_of_studies(blocks: int) -> None:
    rng = np.random.default_rng(2)
    studies, levels, alarms = 1_000, ("placebo", "one", "two"), 0
    for _ in range(studies):
        baseline = 50 * rng.lognormal(0, 0.05, blocks)
        compared = {
            name: compare(list(zip(50 * rng.lognormal(0, 0.05, blocks), baseline, strict=True)), 0.95, seed=1)
            for name in levels
        }
        adjusted = holm({name: comparison.p_value or 0 for name, comparison in compared.items()})
        findings = {compared[name].finding(adjusted[name], alpha=0.05, margin=0.05) for name in levels}
        alarms += not findings.isdisjoint({"higher", "lower"})
    # Chance alone may add three standard errors.
    assert alarms / studies <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / studies)


# --- the table of docs/explanation/statistics.md, with fewer studies --------------------------------------------------
FEWER = 1_500
USUAL = ("normal", "t, 3 degrees of freedom", "1 + lognormal")


@pytest.mark.parametrize("blocks", BLOCKS)
@pytest.mark.parametrize("case", USUAL)
def test_usual_noise_is_covered_and_intervals_are_hardly_wider(case: str, blocks: int) -> None:
    found = FIXED[case](blocks, FEWER)
    assert 0.93 <= found.now <= 0.975
    assert found.wider <= 1.1
    assert found.wider == 1 or blocks > 5


@pytest.mark.parametrize("blocks", [6, 7, 9])
@pytest.mark.parametrize("case", ["AR(1) 0.3", "AR(1) 0.6"])
def test_correlated_blocks_are_covered_nearly_as_often_as_others(case: str, blocks: int) -> None:
    found = FIXED[case](blocks, FEWER)
    assert found.before < 0.9
    # Chance may take 1.5 points: six levels of a study share its baselines.
    assert found.now >= (0.92 if case == "AR(1) 0.3" or blocks > 6 else 0.9) - 0.015


def test_a_first_look_after_six_blocks_repairs_runs_that_end_there() -> None:
    before, now = (outcome(EQUAL, FEWER, before) for before in (True, False))
    assert given_first_look(before).mean() < 0.92
    for found in (every(now), given_first_look(now)):
        assert REPAIRED[0] <= found.mean() <= REPAIRED[1]


def test_the_whole_chain_is_covered_and_correlation_there_more_often_than_before() -> None:
    assert REPAIRED[0] <= every(outcome(IN_SQUARES, 200, before=False)).mean() <= REPAIRED[1]
    simulate, noise = IN_SQUARES_CORRELATED
    assert simulate is chain
    before, now = (every(simulate(noise, 200, before=before)).mean() for before in (True, False))
    assert now > before + 0.05


def test_the_document_shows_every_case() -> None:
    shown = DOCUMENT.read_text().partition(BEGIN)[2].partition(END)[0]
    rows = [line.split("|")[1].strip() for line in shown.splitlines() if line.startswith("| ")]
    assert [name for name in rows if name in FIXED] == list(FIXED)
    assert [name for name in rows if name in {case[0] for case in STOPPING}] == [case[0] for case in STOPPING]
