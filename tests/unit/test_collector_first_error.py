"""What the first error follows is found where levels show it, and left open where they do not."""

import numpy as np
import pytest

from lab.analysis.collector.first_error import INCONCLUSIVE, Ramp, Spread, first_error
from lab.analysis.stats.proportions import Count, clopper_pearson

# Levels: how many workers a trace per second takes, and how many connections a worker has.
WORKERS_PER_RATE = (1.2, 2.4, 0.6, 4.0, 1.8, 0.9)
CONNECTIONS_PER_WORKER = (1.0, 0.1, 0.5, 1.0, 0.2, 0.05)


def ramps(follows: str, noise: float, seed: int) -> list[Ramp]:
    """Ramps whose first error is at 2,500 of one quantity."""
    random = np.random.default_rng(seed)
    found = []
    for workers, connections in zip(WORKERS_PER_RATE, CONNECTIONS_PER_WORKER, strict=True):
        values = np.array([1, workers, workers * connections])
        scale = values[("rate", "workers", "connections").index(follows)]
        at_error = 2_500 * values / scale * np.exp(noise * random.standard_normal())
        found.append(Ramp(dict(zip(("rate", "workers", "connections"), at_error.tolist(), strict=True))))
    return found


@pytest.mark.parametrize("follows", ["rate", "workers", "connections"])
def test_the_quantity_that_is_constant_is_found(follows: str) -> None:
    for seed in range(10):
        found = first_error(ramps(follows, 0.05, seed))
        assert found.follows == follows
        assert found.spreads[follows].value == pytest.approx(2_500, rel=0.1)
        assert found.p_value is not None and found.p_value < 0.05


def test_a_quantity_that_is_exactly_constant_has_no_spread() -> None:
    found = first_error(ramps("workers", 0, 1))
    assert (found.follows, found.p_value) == ("workers", 0.0)
    assert found.spreads["workers"].sd == pytest.approx(0, abs=1e-9)


def test_the_interval_has_the_spread_as_often_as_it_says() -> None:
    spreads = [first_error(ramps("rate", 0.2, seed)).spreads["rate"] for seed in range(400)]
    covering = sum(one.low <= 0.2 <= one.high for one in spreads if one.low is not None and one.high is not None)
    assert clopper_pearson(Count(covering, 400), 0.95).covers(0.95)


def test_two_quantities_that_go_together_are_inconclusive() -> None:
    together = [Ramp({"rate": rate, "workers": 2 * rate}) for rate in (2_000.0, 2_500.0, 3_000.0, 2_200.0)]
    assert (first_error(together).follows, first_error(together).p_value) == (INCONCLUSIVE, None)


def test_equal_spreads_are_found_different_at_the_nominal_rate() -> None:
    random, false = np.random.default_rng(3), 0
    for _ in range(400):
        drawn = np.exp(0.1 * random.standard_normal((6, 2)))
        false += first_error([Ramp({"rate": float(a), "workers": float(b)}) for a, b in drawn]).follows != INCONCLUSIVE
    assert clopper_pearson(Count(false, 400), 0.95).covers(0.05)


def test_two_levels_do_not_suffice() -> None:
    assert first_error(ramps("rate", 0.05, 1)[:2]).follows == INCONCLUSIVE


def test_without_an_error_the_highest_values_are_at_least() -> None:
    found = first_error([Ramp({"rate": 900.0}, failed=False), Ramp({"rate": 1_000.0}, failed=False)])
    assert found.follows == INCONCLUSIVE
    assert found.spreads == {"rate": Spread(1_000.0, at_least=True)}


def test_a_ramp_without_an_error_speaks_against_what_it_exceeds() -> None:
    failing = [Ramp({"rate": 2_500.0, "workers": workers}) for workers in (2_400.0, 2_500.0, 2_600.0)]
    spared = Ramp({"rate": 2_400.0, "workers": 9_000.0}, failed=False)
    spreads = first_error([*failing, spared]).spreads
    assert spreads["rate"].sd == pytest.approx(0, abs=1e-9)
    assert spreads["workers"].sd is not None and spreads["workers"].sd > 0.5


def test_only_errors_are_degrees_of_freedom() -> None:
    """Two spreads of 1 to 3 among three errors: their correlation of 0.8 has one degree of freedom, and p = 0.41."""
    rates, workers = np.array([1, 1, -2]) / 6**0.5, np.array([1, -1, 0]) / 2**0.5
    failing = [
        Ramp({"rate": float(np.exp(0.03 * rate)), "workers": float(np.exp(0.09 * worker))})
        for rate, worker in zip(rates, workers, strict=True)
    ]
    spared = [Ramp({"rate": 0.8, "workers": 0.8}, failed=False)] * 5
    for of in (failing, [*failing, *spared]):
        found = first_error(of)
        assert (found.follows, found.p_value) == (INCONCLUSIVE, pytest.approx(0.41, abs=0.01))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ([], "same candidates"),
        ([Ramp({"rate": 1.0}), Ramp({"workers": 1.0})], "same candidates"),
        ([Ramp({"rate": 0.0})], "only if it is positive"),
    ],
)
def test_what_cannot_be_compared_is_rejected(wrong: list[Ramp], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        first_error(wrong)
