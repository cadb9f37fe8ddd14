"""The t tests against worked examples and a simulation of what they promise."""

import numpy as np
import pytest

from lab.analysis.stats.ttests import ASSUMPTIONS, student, welch

# Student (1908), "The probable error of a mean", table of hours of sleep: additional hours with either drug.
DEXTRO = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
LAEVO = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4]


def test_students_test_is_that_of_the_textbooks() -> None:
    found = student(DEXTRO, LAEVO, 0.95)
    assert found.p_value == pytest.approx(0.07919, rel=1e-4)
    assert (found.low, found.high) == pytest.approx((-3.363874, 0.203874), abs=1e-6)
    assert found.difference == pytest.approx(-1.58)
    assert found.n == (10, 10)


def test_welchs_test_is_that_of_the_textbooks() -> None:
    found = welch(DEXTRO, LAEVO, 0.95)
    assert found.p_value == pytest.approx(0.07939, rel=1e-4)
    assert (found.low, found.high) == pytest.approx((-3.3654832, 0.2054832), abs=1e-6)


def test_only_students_takes_variances_to_be_equal() -> None:
    assert set(ASSUMPTIONS["student"]) - set(ASSUMPTIONS["welch"]) == {"the runs of both sides vary alike"}


def test_welchs_test_keeps_its_level_where_students_does_not() -> None:
    rng = np.random.default_rng(1)
    steady, restless = rng.normal(25, 0.2, (200, 20)), rng.normal(25, 3, (200, 5))
    alarms = {
        test: np.mean([test(a, b, 0.95).p_value < 0.05 for a, b in zip(steady, restless, strict=True)])
        for test in (student, welch)
    }
    assert alarms[student] > 0.15
    assert alarms[welch] <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 200)


def test_too_few_runs_or_none_that_vary_are_an_error() -> None:
    with pytest.raises(ValueError, match="at least 2 runs"):
        student([1.0], [1.0, 2.0], 0.95)
    with pytest.raises(ValueError, match="vary"):
        welch([1.0, 1.0], [2.0, 2.0], 0.95)
