"""Margins are those of overheads, and nothing is called the same that is known to differ."""

import pytest

from lab.analysis.analyse import contrasts
from lab.analysis.stats.margins import of_overheads
from lab.record.summary import Estimate
from lab.report.sameness import name_of_estimate
from lab.report.tables import finding_of
from tests.claim_runs import CPU, judged, study, summary

BASELINE = [50.0, 51.0, 49.0, 50.5]
# Of 2 % of the ratio, and of 8 % of the overhead.
MANUAL, AGENT = [value * 1.32 for value in BASELINE], [value * 1.347 for value in BASELINE]
RUN = summary({CPU: {"baseline": BASELINE, "manual": MANUAL, "agent": AGENT}})


@pytest.mark.parametrize(
    ("one", "other", "margin"),
    [
        (1.33, 1.33, 0.05 * 0.33 / 1.33),
        (1.10, 1.50, 0.05 * 0.50 / 1.50),
        (0.80, 0.90, 0.05 * 0.20 / 0.90),
        (1.0, 1.0, 0.0),
        (None, 1.2, 0.05),
        (1.2, None, 0.05),
    ],
)
def test_the_margin_of_two_levels_is_that_of_the_larger_overhead(
    one: float | None, other: float | None, margin: float
) -> None:
    assert of_overheads(0.05, one, other) == pytest.approx(margin)


def estimate(level: str, ratio: float, low: float, high: float, baseline: str = "baseline") -> Estimate:
    return Estimate(
        metric=CPU, level=level, baseline=baseline, mean=1.0, n=4, ratio=ratio, ratio_low=low, ratio_high=high,
        finding="same within margin", noise_floor=0.01,
    )  # fmt: skip


def test_an_interval_that_excludes_1_is_not_called_the_same() -> None:
    assert name_of_estimate(RUN, estimate("agent", 1.01, 0.99, 1.03)) == "same within margin"
    assert name_of_estimate(RUN, estimate("agent", 1.03, 1.01, 1.046)) == "differs by less than 5 %"
    assert name_of_estimate(RUN, estimate("agent", 0.97, 0.96, 0.99)) == "differs by less than 5 %"
    between = estimate("agent", 1.01, 1.002, 1.012, "manual")
    assert name_of_estimate(RUN, between) == "differs by less than 5 % of the overhead"
    assert name_of_estimate(RUN, estimate("agent", 1.3, 1.2, 1.4).model_copy(update={"finding": "higher"})) == "higher"


def test_its_symbol_does_not_say_the_same_either() -> None:
    found = [finding_of(RUN, estimate("agent", 1.03, low, 1.046)) for low in (0.99, 1.01)]
    assert [(one.symbol, one.tone) for one in found if one] == [("=", "neutral"), ("≈", "neutral")]


def test_levels_whose_ratios_differ_by_2_percent_may_differ_by_8_percent_of_their_overhead() -> None:
    rows = [estimate("manual", 1.32, 1.31, 1.33), estimate("agent", 1.347, 1.34, 1.36)]
    run = RUN.model_copy(update={"estimates": rows})
    assert contrasts(run, CPU, [("agent", "manual")], 1)["agent", "manual"].finding == "higher"
    rows = [estimate("manual", 2.32, 2.31, 2.33), estimate("agent", 2.347, 2.34, 2.36)]
    run = RUN.model_copy(update={"estimates": rows})
    assert contrasts(run, CPU, [("agent", "manual")], 1)["agent", "manual"].finding == "same within margin"


def test_a_same_claim_is_about_overheads_unless_it_says_otherwise() -> None:
    same = "kind: same, margin: 0.05, because: why"
    found = judged(study(f"{same}, levels: [agent, manual]"), RUN)
    assert (found.verdict, found.parts[0].quantity) == ("does not hold here", "overhead ratio")
    assert judged(study(f"{same}, levels: [agent, manual], of: value"), RUN).verdict == "holds here"


def test_a_same_claim_about_the_baseline_is_about_its_value() -> None:
    found = judged(study("kind: same, margin: 0.05, because: why, levels: [baseline, manual]"), RUN)
    assert (found.verdict, found.parts[0].quantity) == ("does not hold here", "ratio")


def test_where_the_baseline_has_nothing_a_value_is_an_overhead() -> None:
    run = summary({CPU: {"baseline": [0.0, 0.0, 0.0], "manual": [5.0, 5.1, 4.9], "agent": [5.05, 5.1, 4.95]}})
    found = judged(study("kind: same, margin: 0.05, because: why, levels: [agent, manual]"), run)
    assert (found.verdict, found.parts[0].estimate) == ("holds here", pytest.approx(1.007, abs=0.002))
