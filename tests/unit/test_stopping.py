"""A run ends early where its intervals are narrow enough or its time is spent, and its manifest says which."""

import pytest

from lab.record.summary import Estimate, Headline, LevelSummary, Summary
from lab.run.stopping import FIRST_STAGE_BLOCKS, Budget, narrow_enough
from tests.fake import FakeClock

CPU = "cpu_per_request_services_ms"
LEVELS = ("baseline", "placebo", "agent")


def summary(reach: dict[str, float], n: int = FIRST_STAGE_BLOCKS) -> Summary:
    rows = [
        Estimate(
            metric=CPU, level=level, baseline="baseline", mean=1, ratio=1, ratio_low=1 - by, ratio_high=1 + by, n=n
        )
        for level, by in reach.items()
    ]
    return Summary(
        experiment="x",
        title="x",
        baseline="baseline",
        placebo="placebo",
        compared_with=("baseline", "placebo"),
        headline=Headline(primary=CPU, what="CPU"),
        confidence=0.95,
        equivalence_margin=0.05,
        metrics={},
        levels={level: LevelSummary(settings={}, trials=n, rejected=0) for level in LEVELS},
        estimates=rows,
        trials=[],
    )


def test_narrow_enough_means_every_level() -> None:
    assert narrow_enough(summary({"placebo": 0.0199, "agent": 0.019}), 0.02)
    assert not narrow_enough(summary({"placebo": 0.0199, "agent": 0.021}), 0.02)
    assert not narrow_enough(summary({"placebo": 0.01}), 0.02)


def test_a_few_blocks_that_agree_by_chance_do_not_end_a_run() -> None:
    assert not narrow_enough(summary({"placebo": 0.001, "agent": 0.001}, n=FIRST_STAGE_BLOCKS - 1), 0.02)


def test_the_budget_counts_what_a_level_took_at_its_longest() -> None:
    clock = FakeClock()
    budget = Budget(minutes=5, first_guess_s=80, clock=clock, started_s=0)
    budget.attempts_s["agent"] += [50.0, 70.0]
    budget.attempts_s["baseline"] += [30.0]
    clock.time_s = 230
    assert budget.allows("agent")
    clock.time_s = 231
    assert not budget.allows("agent")
    assert budget.allows("baseline")
    assert not budget.allows("never run")


def test_without_a_budget_there_is_always_time() -> None:
    clock = FakeClock()
    clock.time_s = 1e9
    assert Budget(minutes=None, first_guess_s=80, clock=clock, started_s=0).allows("agent")


def test_before_any_attempt_the_budget_allows_for_a_start() -> None:
    clock = FakeClock()
    budget = Budget(minutes=1, first_guess_s=80, clock=clock, started_s=0)
    assert not budget.allows("agent")


@pytest.mark.parametrize("level", ["placebo", "agent"])
def test_a_single_block_has_no_interval_to_be_narrow(level: str) -> None:
    wide = summary({"placebo": 0.01, "agent": 0.01})
    rows = [
        row.model_copy(update={"ratio_low": None, "ratio_high": None}) if row.level == level else row
        for row in wide.estimates
    ]
    assert not narrow_enough(wide.model_copy(update={"estimates": rows}), 0.02)
