"""How often is a claim judged wrongly? Simulated studies whose truth lies where a test errs most: at its bounds.

`python -m tests.unit.test_claims_coverage` prints the table of docs/how-to/adding-a-claim.md.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

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
SAME = "kind: same, levels: [l0, l1, l2], of: value, margin: 0.1, because: why"
ORDER = "kind: order, lower: [baseline], higher: [l0]"
BEST = f"kind: order, lower: [baseline], higher: [{', '.join(SIX)}]"
MARGIN = 1.05
HAIR = 1 + 1e-9
RISE = MARGIN ** (1 / 3)


def levels(*values: float, baseline: float = 50) -> dict[str, float]:
    return {"baseline": baseline, **dict(zip(SIX, values, strict=False))}


# What a claim tests and the truth, what is tested, the truth's values, and the verdicts that are wrong then. The truth
# lies on a bound, or beyond it by a hair, in one comparison alone where the claim is false. On a range's end, either
# verdict is the wrong one.
CASES = {
    "`order`: equal": (ORDER, levels(50), {HOLDS}),
    "`order`: higher by a hair": (ORDER, levels(50 * HAIR), {FAILS}),
    "`order`: higher by 2 %": (ORDER, levels(51), {FAILS}),
    "`order` by more than the noise floor: equal": (f"{ORDER}, by_more_than: noise_floor", levels(50), {HOLDS}),
    "best of seven: one of the six others equal": (BEST, levels(50, 70, 70, 70, 70, 70), {HOLDS}),
    "best of seven: all six others higher by a hair": (BEST, levels(*[50 * HAIR] * 6), {FAILS}),
    "`same`: one pair of three apart by the margin": (SAME, levels(50, 52, 55), {HOLDS}),
    "`same`: two pairs of three apart by the margin": (SAME, levels(50, 50, 55), {FAILS}),
    "`same` of overheads: two pairs apart by the margin": (
        SAME.replace("value", "overhead"),
        levels(50, 50, 52.5, baseline=25),
        {HOLDS, FAILS},
    ),
    "`overhead_ratio`: at the range's upper end": (TWICE, levels(60, 75), {HOLDS, FAILS}),
    "`overhead_ratio`: at the range's lower end": (TWICE, levels(60, 65), {HOLDS, FAILS}),
    "`overhead_ratio`: no overhead to divide by": (TWICE, levels(50, 50), {HOLDS}),
    "`trend` up: flat": (UP, levels(50, 50, 50, 50), {HOLDS}),
    "`trend` up: by a hair": (UP, levels(50, 50, 50, 50 * HAIR), {FAILS}),
    "`trend` up: by 2 %": (UP, levels(50, 50, 50.5, 51), {FAILS}),
    "`trend` nowhere: moves by the margin": (
        NOWHERE,
        levels(50, 50 * RISE, 50 * RISE**2, 50 * MARGIN),
        {HOLDS, FAILS},
    ),
    "`trend` steadily up: one step back by the margin": (
        f"{UP}, steadily: true",
        levels(50, 60, 60 / MARGIN, 80),
        {HOLDS, FAILS},
    ),
    "`trend` steadily up: two steps flat": (f"{UP}, steadily: true", levels(50, 50, 50, 70), {FAILS}),
}


def verdicts(test: str, truth: dict[str, float], blocks: int, studies: int) -> Counter[str]:
    """Count the verdicts on simulated studies."""
    rng = np.random.default_rng(3)
    wanted = study(test)
    return Counter(judged(wanted, summary(drawn(rng, truth, blocks))).verdict for _ in range(studies))


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
    "same overhead": (SAME.replace("0.1", "0.5").replace("value", "overhead"), levels(70, 70, 70), levels(70, 70, 95)),
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


DOCUMENT = Path(__file__).parents[2] / "docs" / "how-to" / "adding-a-claim.md"
DOCUMENTED_STUDIES, DOCUMENTED_BLOCKS = 2000, (3, 10)


def table() -> Iterator[str]:
    """Yield the rows of the document's table: how many studies of each case get a wrong verdict."""
    for truth, (test, values, wrong) in CASES.items():
        counts = [verdicts(test, values, blocks, DOCUMENTED_STUDIES) for blocks in DOCUMENTED_BLOCKS]
        for verdict in sorted(wrong, reverse=True):
            shares = " | ".join(f"{100 * count[verdict] / DOCUMENTED_STUDIES:.1f} %" for count in counts)
            yield f"| {truth} | {verdict.removesuffix(' here')} | {shares} |"


def test_the_document_has_every_case() -> None:
    documented = [tuple(row.split(" | ")[:2]) for row in DOCUMENT.read_text().splitlines() if row.endswith(" % |")]
    assert documented == [
        (f"| {truth}", verdict.removesuffix(" here"))
        for truth, (_, _, wrong) in CASES.items()
        for verdict in sorted(wrong, reverse=True)
    ]


if __name__ == "__main__":
    for row in table():
        sys.stdout.write(f"{row}\n")
        sys.stdout.flush()
