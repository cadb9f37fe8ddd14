"""How often is a claim judged wrongly? Simulated studies whose truth lies where a test errs most: at its bounds."""

from collections import Counter

import numpy as np
import pytest

from tests.claim_runs import drawn, judged, study, summary

STUDIES = 300
BLOCKS = 5
SIX = [f"l{number}" for number in range(6)]
HOLDS, FAILS = "holds here", "does not hold here"

UP = "kind: trend, goes: up, over: [l0, l1, l2, l3]"
NOWHERE = "kind: trend, goes: nowhere, over: [l0, l1, l2, l3]"
TWICE = "kind: overhead_ratio, level: l1, to: l0, within: [1.5, 2.5], because: why"
SAME = "kind: same, levels: [l0, l1, l2], margin: 0.1, because: why"
ORDER = "kind: order, lower: [baseline], higher: [l0]"
BEST = f"kind: order, lower: [baseline], higher: [{', '.join(SIX)}]"
MARGIN = 1.05
RISE = MARGIN ** (1 / 3)


def levels(*values: float, baseline: float = 50) -> dict[str, float]:
    return {"baseline": baseline, **dict(zip(SIX, values, strict=False))}


# What a claim tests, the truth, and the verdicts that are wrong then. False claims are false by a hair and in one
# comparison alone; true ones are true by just the margin, in all. Where a range ends, either verdict is the wrong one.
CASES = {
    "equal": (ORDER, levels(50), {HOLDS}),
    "higher by 2 %": (ORDER, levels(51), {FAILS}),
    "higher by a hair": (ORDER, levels(50.001), {FAILS}),
    "equal, beyond the noise": (f"{ORDER}, by_more_than: noise_floor", levels(50), {HOLDS}),
    "one of six equal": (BEST, levels(50, 70, 70, 70, 70, 70), {HOLDS}),
    "six higher by the margin": (BEST, levels(*[50 * MARGIN] * 6), {FAILS}),
    "one pair apart": (SAME, levels(50, 52, 55), {HOLDS}),
    "pairs apart by the margin": (SAME, levels(50, 50, 55), {FAILS}),
    "overheads apart": (f"{SAME}, of: overhead", levels(50, 50, 52.5, baseline=25), {HOLDS, FAILS}),
    "the range's upper end": (TWICE, levels(60, 75), {HOLDS, FAILS}),
    "the range's lower end": (TWICE, levels(60, 65), {HOLDS, FAILS}),
    "no overhead to divide by": (TWICE, levels(50, 50), {HOLDS}),
    "flat": (UP, levels(50, 50, 50, 50), {HOLDS}),
    "rises by the margin": (UP, levels(50, 50 * RISE, 50 * RISE**2, 50 * MARGIN), {FAILS}),
    "moves by the margin": (NOWHERE, levels(50, 50 * RISE, 50 * RISE**2, 50 * MARGIN), {HOLDS, FAILS}),
    "one step back": (f"{UP}, steadily: true", levels(50, 60, 60 / MARGIN, 80), {HOLDS}),
    "two steps flat": (f"{UP}, steadily: true", levels(50, 50, 50, 70), {FAILS}),
}


def verdicts(test: str, truth: dict[str, float], blocks: int, studies: int) -> Counter[str]:
    """Count the verdicts on simulated studies."""
    rng = np.random.default_rng(3)
    asked = study(test)
    return Counter(judged(asked, summary(drawn(rng, truth, blocks))).verdict for _ in range(studies))


@pytest.mark.parametrize(("test", "truth", "wrong"), CASES.values(), ids=CASES.keys())
def test_at_most_5_percent_of_studies_judge_a_claim_wrongly(
    test: str, truth: dict[str, float], wrong: set[str]
) -> None:
    found = verdicts(test, truth, BLOCKS, STUDIES)
    assert {verdict for verdict in wrong if found[verdict] > 0.05 * STUDIES} == set()


# Far from its bounds a claim is decided: a judge that never dares a verdict would pass the test above.
CLEAR = {
    "order": (ORDER, levels(60), levels(45)),
    "best": (BEST, levels(60, 60, 60, 60, 60, 60), levels(60, 60, 60, 60, 60, 45)),
    "same": (SAME, levels(50, 50, 50), levels(50, 50, 65)),
    "same overhead": (f"{SAME.replace('0.1', '0.5')}, of: overhead", levels(70, 70, 70), levels(70, 70, 95)),
    "twice": (TWICE, levels(75, 100), levels(75, 130)),
    "up": (f"{UP}, steadily: true", levels(50, 55, 60, 65), levels(65, 60, 55, 50)),
    "down": (UP.replace("up", "down"), levels(65, 60, 55, 50), levels(50, 55, 60, 65)),
    "nowhere": (NOWHERE, levels(50, 50, 50, 50), levels(50, 55, 60, 65)),
}


@pytest.mark.parametrize(("test", "true", "false"), CLEAR.values(), ids=CLEAR.keys())
def test_what_is_clear_is_decided(test: str, true: dict[str, float], false: dict[str, float]) -> None:
    studies = 20
    assert verdicts(test, true, 10, studies)[HOLDS] >= 0.8 * studies
    assert verdicts(test, false, 10, studies)[FAILS] >= 0.8 * studies
