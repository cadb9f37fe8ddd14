"""A share of requests has the interval of its counts, in estimates and for claims: one without events, too."""

import pytest

from lab.analysis.analyse import summarise
from lab.analysis.claims.judge import judge
from lab.analysis.claims.spec import Study
from lab.analysis.pooled import pooled_share
from lab.analysis.stats.proportions import Count, clopper_pearson
from lab.record.summary import Estimate, Summary, TrialSummary
from tests.labs import MESH
from tests.labs import parse as parse_experiment

REQUESTS = 10_000
SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: What fails?
target: {kind: mesh, topology: fan-out}
load: {generator: ghz, schedule: {kind: counted, requests: 10000, concurrency: 4}}
factors: {p: {p-0: {error_probability: 0}, p-0.002: {error_probability: 0.002}}}
baseline: p-0
protocol: {warm_up_s: 1, repetitions: 4}
"""


def trial(level: str, block: int, failed: int) -> TrialSummary:
    values = {"requests": REQUESTS, "requests_failed": failed, "error_fraction": failed / REQUESTS}
    return TrialSummary(trial=f"{block}-{level}", level=level, block=block, valid=True, reasons=(), values=values)


def summary(failed: list[int]) -> Summary:
    trials = [trial("p-0", block, 0) for block in range(4)]
    return summarise(
        parse_experiment(SPEC), MESH, [*trials, *(trial("p-0.002", block, one) for block, one in enumerate(failed))]
    )


def verdict(found: Summary, low: float, high: float) -> str:
    test = {"kind": "value", "metrics": ["error_fraction"], "level": "p-0.002", "within": [low, high], "because": "x"}
    claims = {"R": {"says": "few fail", "tests": [test]}}
    study = Study.model_validate(
        {"name": "s", "format": "tollbooth.claims", "version": 1, "source": "x", "claims": claims}
    )
    return judge(found, [study], seed=1).claims[0].verdict


def share(found: Summary, level: str) -> list[Estimate]:
    return [one for one in found.estimates if (one.metric, one.level) == ("error_fraction", level)]


def test_a_level_without_failures_is_not_known_to_have_none() -> None:
    (estimate,) = share(summary([60] * 4), "p-0")
    assert (estimate.mean, estimate.mean_low) == (0, 0)
    assert estimate.mean_high == clopper_pearson(Count(0, 4 * REQUESTS), 0.95).high > 0


def test_a_share_is_that_of_all_trials_together() -> None:
    (estimate,) = share(summary([55, 60, 65, 60]), "p-0.002")
    bounds = clopper_pearson(Count(240, 4 * REQUESTS), 0.95)
    assert (estimate.mean, estimate.mean_low, estimate.mean_high) == (0.006, bounds.low, bounds.high)


def test_two_levels_without_failures_are_not_known_to_be_the_same() -> None:
    (estimate,) = share(summary([0] * 4), "p-0.002")
    assert estimate.difference == 0
    assert estimate.difference_high is not None
    assert estimate.difference_high > 0
    assert estimate.finding == "inconclusive"


def test_what_fails_beyond_chance_is_found() -> None:
    (estimate,) = share(summary([55, 60, 65, 60]), "p-0.002")
    assert estimate.finding == "higher"
    assert estimate.difference_low is not None
    assert 0.0045 < estimate.difference_low < 0.006


@pytest.mark.parametrize(
    ("failed", "low", "high", "says"),
    [
        ([60, 62, 58, 60], 0.005, 0.007, "holds here"),
        ([60, 62, 58, 60], 0.0059, 0.0061, "inconclusive"),
        ([60, 62, 58, 60], 0.007, 0.008, "does not hold here"),
        # One failure among 40,000 requests: blocks of 0, 0, 0 and 1 have a t interval that ends below 0.
        ([0, 0, 0, 1], 0, 0.0002, "holds here"),
        # Trials that differ by more than chance say less.
        ([20, 100, 20, 100], 0.0054, 0.0066, "inconclusive"),
    ],
)
def test_a_claim_about_a_share_is_judged_by_what_was_counted(
    failed: list[int], low: float, high: float, says: str
) -> None:
    assert verdict(summary(failed), low, high) == says


def test_trials_without_requests_count_for_nothing() -> None:
    empty = TrialSummary(trial="x", level="p-0", block=0, valid=True, reasons=(), values={"requests": 0})
    assert pooled_share(("requests_failed", "requests"), [empty]) is None
