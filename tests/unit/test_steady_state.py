"""`lab check steady`: a run that is precise, quick and steady passes, and each row can fail."""

from typing import Any

import pytest

from lab.analysis.effects import Effect
from lab.analysis.stats.intervals import Interval
from lab.analysis.steady_state import required
from tests.several_runs import run

CPU_OF_ALL = "CPU of all levels"


def changed(mean: float) -> Effect:
    return Effect(CPU_OF_ALL, "first half", Interval(mean, mean - 0.02, mean + 0.02))


def failed(minutes: float = 59, change: float | None = 1.0, **of: Any) -> set[str]:
    halves = [] if change is None else [changed(change)]
    rows = required(run(1, blocks=6, **{"noise": 0.005, **of}).summary, minutes, halves)
    return {row.name for row in rows if not row.passed}


def test_a_precise_run_passes() -> None:
    assert failed() == set()


@pytest.mark.parametrize(
    ("of", "names"),
    [
        ({"minutes": 61}, {"from set-up to report"}),
        ({"noise": 0.06}, {"half-width of otel-manual's ratio", "half-width of otel-agent's ratio"}),
        ({"change": None}, {"second half / first"}),
        # The estimate alone lies within ±3 %.
        ({"change": 1.02}, {f"{CPU_OF_ALL}, second half / first"}),
        ({"rejected": {0: "otel-agent"}}, {"settled sets", "sets rejected"}),
    ],
)
def test_each_row_can_fail(of: dict[str, Any], names: set[str]) -> None:
    assert failed(**of) == names
