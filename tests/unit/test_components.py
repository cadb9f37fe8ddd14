"""Variance components of alternating runs, with a known truth."""

import math
from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.components import Components, components
from lab.record import SliceCost

ROUND_SD, SET_SD, RATIO = 0.09, 0.02, 1.4
LEVELS = {"baseline": 1.0, "placebo": 1.0, "agent": RATIO}
MEAN_SD = math.sqrt(0.01**2 + 0.08**2 / 8)  # of sets that scatter by 0.01, and their 8 independent rounds by 0.08


def costs(sets: int, rounds: int, seed: int) -> list[SliceCost]:
    """A run whose levels scatter by `ROUND_SD` in all, and the agent's sets by `SET_SD`."""
    draw = np.random.default_rng(seed)
    found = []
    for number in range(sets):
        of_set = draw.normal(0, SET_SD)
        for count in range(rounds):
            for position, (level, ratio) in enumerate(LEVELS.items()):
                noise = draw.normal(0, ROUND_SD) + of_set if level == "agent" else 0.0
                found.append(SliceCost(number, level, False, count, position, None, 20 * ratio * math.exp(noise), 0))
    return found


def test_the_components_of_many_runs_are_the_truth() -> None:
    runs = [next(components(costs(6, 20, seed), ("baseline", "placebo"))) for seed in range(200)]
    assert {run.level for run in runs} == {"agent"}
    assert (runs[0].sets, runs[0].rounds) == (6, 20)
    assert np.mean([run.round_sd for run in runs]) == pytest.approx(ROUND_SD, rel=0.02)
    # The moment estimate is cut off at 0, which makes the mean a little larger.
    assert np.mean([run.set_sd**2 for run in runs]) == pytest.approx(SET_SD**2, rel=0.25)
    assert np.mean([run.ratio for run in runs]) == pytest.approx(RATIO, rel=0.005)


def test_one_set_has_no_components() -> None:
    assert not list(components(costs(1, 20, 1), ("baseline", "placebo")))


def test_the_expected_half_width_is_that_of_students_t() -> None:
    known = Components("agent", 1.4, 0.08, MEAN_SD, 3, 8)
    error = math.sqrt((0.01**2 + 0.08**2 / 16) / 4)
    assert known.half_width(4, 16) == pytest.approx(1.4 * 3.182446 * error)
    assert known.half_width(1, 16) == math.inf


def test_at_a_runs_own_rounds_the_half_width_is_that_of_its_sets_although_rounds_balance_each_other() -> None:
    balanced = [
        replace(one, cpu_ms=one.cpu_ms * math.exp((0.3 if one.round % 2 else -0.3) * (one.level == "agent")))
        for one in costs(5, 20, 1)
    ]
    (found,) = components(balanced, ("baseline", "placebo"))
    means = [
        np.mean([math.log(one.cpu_ms / 20) for one in balanced if (one.set, one.level) == (number, "agent")])
        for number in range(5)
    ]
    error = np.std(means, ddof=1) / math.sqrt(5)
    assert found.set_sd == 0
    assert found.half_width(5, 20) == pytest.approx(math.exp(np.mean(means)) * 2.776445 * error)
    assert found.half_width(5, 80) == pytest.approx(found.half_width(5, 20) / 2)


def test_the_best_number_of_rounds_balances_their_time_with_that_of_a_set() -> None:
    assert Components("agent", 1.4, 0.08, MEAN_SD, 3, 8).best_rounds(72, 2) == pytest.approx(48)
    assert Components("agent", 1.4, 0.08, 0.02, 3, 8).best_rounds(72, 2) == math.inf

    def variance(rounds: float) -> float:
        sets = 1000 / (72 + 2 * rounds)
        return (0.01**2 + 0.08**2 / rounds) / sets

    assert variance(48) < min(variance(40), variance(56))
