"""`lab check steady`: a run that is precise, quick and steady passes, and each row can fail."""

from typing import Any

import pytest

from lab.analysis.effects import Effect
from lab.analysis.stats.intervals import Interval
from lab.analysis.steady_state import COMPILING, required
from lab.record import Estimate
from tests.several_runs import run

CPU_OF_ALL = "CPU of all levels"


def changed(mean: float) -> Effect:
    return Effect(CPU_OF_ALL, "first half", Interval(mean, mean - 0.02, mean + 0.02))


def compiling(level: str, mean: float) -> Estimate:
    return Estimate(metric=COMPILING, level=level, baseline="baseline", mean=mean, n=6)


def failed(
    minutes: float = 59,
    change: float | None = 1.0,
    rounds: int | None = 60,
    compilers: float | None = 0.01,
    unknown: str = "",
    **of: Any,
) -> set[str]:
    """Return the rows that fail of a run in which compilers use such a share of the agent's CPU.

    `unknown`: a level of which it is not known.
    """
    halves = [] if change is None else [changed(change)]
    summary = run(1, blocks=6, **{"noise": 0.005, **of}).summary
    shares = {**dict.fromkeys(summary.levels, 0.002), "otel-agent": compilers}
    rows = [compiling(name, one) for name, one in shares.items() if one is not None and name != unknown]
    known = summary.model_copy(update={"estimates": [*summary.estimates, *rows]})
    return {row.name for row in required(known, minutes, halves, rounds) if not row.passed}


def test_a_precise_run_passes() -> None:
    assert failed() == set()


@pytest.mark.parametrize(
    ("of", "names"),
    [
        ({"minutes": 61}, {"from set-up to report"}),
        ({"noise": 0.06}, {"half-width of otel-manual's ratio", "half-width of otel-agent's ratio"}),
        ({"change": None}, {"second half / first"}),
        ({"rounds": 55}, {"rounds of a set"}),
        ({"rounds": None}, {"rounds of a set"}),
        ({"compilers": 0.0101}, {"CPU of compilers, largest of a level"}),
        ({"compilers": None}, {"CPU of compilers, largest of a level"}),
        ({"unknown": "baseline"}, {"CPU of compilers, largest of a level"}),
        # The estimate alone lies within ±3 %.
        ({"change": 1.02}, {f"{CPU_OF_ALL}, second half / first"}),
        ({"rejected": {0: "otel-agent"}}, {"settled sets", "sets rejected"}),
    ],
)
def test_each_row_can_fail(of: dict[str, Any], names: set[str]) -> None:
    assert failed(**of) == names
