"""Claims about a number that their publication does not state, in runs where it is known."""

import json
from pathlib import Path

import numpy as np
import pytest

from lab.analysis.claims.judge import judge
from lab.analysis.claims.matched import matched_logarithms
from lab.analysis.claims.records import Judged, read_verdicts, write_verdicts
from lab.analysis.claims.spec import Study, parse_claims
from lab.analysis.stats.intervals import mean_interval
from lab.record.summary import Summary
from lab.report.claims import claims
from lab.spec.problems import SpecError
from tests.claim_runs import summary
from tests.labs import METRICS

ERRORS, P95 = "error_fraction", "latency_p95_ms"
NUMBERS = {"c-5": 5.0, "c-10": 10.0, "c-20": 20.0, "c-40": 40.0}
TEXT = f"""\
format: tollbooth.claims
version: 1
source: a thesis
match:
  what: requests at once
  levels: {json.dumps(NUMBERS)}
  metric: {ERRORS}
  at: [envoy/*/bad, other/*/bad]
  published: 0.138
  because: nothing else decides it
claims:
  R1:
    says: the tail grows less than 2.7-fold
    tests:
      - {{kind: ratio, metrics: [{P95}], level: envoy/*/bad, to: envoy/*/good, within: [0, 2.7], because: so it says}}
  R2:
    says: the baseline has no errors
    tests: [{{kind: value, metrics: [{ERRORS}], level: baseline, within: [0, 0.1], because: none}}]
"""


def study(text: str = TEXT) -> Study:
    return parse_claims(text, "paper", METRICS)


def run(noise: float = 0.002, blocks: int = 6, share: float = 0.1) -> Summary:
    """Return a run whose errors are `share` per doubling of the number above 5, and whose tail grows 2.4 + 0.2 of it.

    With a share of 0.1, the published 0.138 are those of 1.38 doublings: 13.0. The errors of two shapes are 0.02 apart.
    """
    rng = np.random.default_rng(5)
    drift = np.exp(rng.normal(0, 0.3, blocks))
    errors, tails = {"baseline": [0.0] * blocks}, {"baseline": (20 * drift).tolist()}
    for name, number in NUMBERS.items():
        doublings = np.log2(number / 5)
        for shape, more in (("envoy", 0.01), ("other", -0.01)):
            errors[f"{shape}/{name}/bad"] = (share * doublings + more + rng.normal(0, noise, blocks)).tolist()
        tails[f"envoy/{name}/good"] = (20 * drift).tolist()
        tails[f"envoy/{name}/bad"] = (
            20 * (2.4 + 0.2 * doublings) * drift * np.exp(rng.normal(0, noise, blocks))
        ).tolist()
    return summary({ERRORS: errors, P95: tails})


def judged(of: Summary) -> tuple[Judged, ...]:
    return judge(of, [study()], seed=1).claims


def said(verdicts: Judged) -> str:
    """Return what the report says of a claim."""
    rows = claims(judge(run(), [study()], 1).model_copy(update={"claims": (verdicts,)})).verdicts.rows
    return rows[0][-1].value


def test_a_claim_is_judged_where_the_published_value_is_and_at_each_number() -> None:
    claim, plain = judged(run())
    swept = claim.swept
    assert swept is not None
    assert swept.number == pytest.approx(5 * 2**1.38, rel=0.01)
    assert swept.low is not None
    assert swept.high is not None
    assert 12.5 < swept.low < swept.number < swept.high < 13.5
    (part,) = claim.parts
    assert (claim.verdict, part.levels, part.n) == ("holds here", ("envoy/*/bad", "envoy/*/good"), 6)
    assert part.estimate == pytest.approx(2.4 + 0.2 * 1.38, rel=0.005)
    assert dict(swept.verdicts) == {
        5: "holds here",
        10: "holds here",
        20: "does not hold here",
        40: "does not hold here",
    }
    assert (plain.verdict, plain.swept) == ("holds here", None)


def test_the_numbers_interval_covers_the_truth_as_often_as_it_says() -> None:
    """Of blocks whose errors scatter by 0.02, which is a tenth of the number."""
    hits, studies, truth = 0, 300, 5 * 2**1.38
    rng = np.random.default_rng(8)
    match = study().match
    assert match is not None
    for _ in range(studies):
        of = {
            f"{shape}/{name}/bad": {block: 0.1 * np.log2(number / 5) + rng.normal(0, 0.02) for block in range(5)}
            for shape in ("envoy", "other")
            for name, number in NUMBERS.items()
        }
        logs = matched_logarithms(match, {ERRORS: of})
        found = mean_interval(list(logs.values()), 0.95, 1)
        assert found.low is not None
        assert found.high is not None
        hits += found.low <= np.log(truth) <= found.high
    assert 0.92 <= hits / studies <= 0.98


def test_a_block_that_does_not_reach_the_published_value_has_no_number() -> None:
    (claim, _) = judged(run(share=0.01))
    assert claim.swept is not None
    assert (claim.swept.number, claim.verdict, claim.parts[0].n) == (None, "inconclusive", 0)
    assert said(claim).startswith("No tested number of requests at once gives the published 0.138")


def test_blocks_that_do_not_reach_it_are_counted() -> None:
    found = run()
    trials = [
        one.model_copy(update={"values": {**one.values, ERRORS: 0.01}})
        if one.block < 2 and one.level.endswith("/bad")
        else one
        for one in found.trials
    ]
    (claim, _) = judged(found.model_copy(update={"trials": trials}))
    assert claim.swept is not None
    assert (claim.swept.blocks_without, claim.parts[0].n, claim.parts[0].answer) == (2, 4, "holds")
    assert claim.verdict == "inconclusive"
    assert "as published (2 blocks do not reach this: no verdict): " in said(claim)


@pytest.mark.parametrize(("name", "blocks", "without"), [("c-40", 6, 0), ("c-20", 5, 0), ("c-5", 5, 0)])
def test_a_block_counts_as_far_as_it_is_known(name: str, blocks: int, without: int) -> None:
    """The published value lies between 10 and 20: what is rejected at 40 does not matter."""
    found = run()
    trials = [one for one in found.trials if (one.block, one.level) != (3, f"envoy/{name}/bad")]
    (claim, _) = judged(found.model_copy(update={"trials": trials}))
    assert claim.swept is not None
    assert (claim.parts[0].n, claim.swept.blocks_without) == (blocks, without)


def test_a_level_without_a_neighbour_of_the_number_has_no_value_there() -> None:
    found = run()
    trials = [one for one in found.trials if (one.block, one.level) != (3, "envoy/c-10/good")]
    (claim, _) = judged(found.model_copy(update={"trials": trials}))
    assert claim.swept is not None
    assert (claim.parts[0].n, claim.swept.blocks_without) == (5, 0)


def test_the_report_says_at_which_numbers_it_holds() -> None:
    claim, _ = judged(run())
    text = said(claim)
    assert text.startswith("At 13.1 (13.0 to 13.2) requests at once, as published: ")
    assert text.endswith(". It holds at 5 and 10; does not hold at 20 and 40 requests at once")
    assert claim.swept is not None
    everywhere = tuple((number, "holds here") for number, _ in claim.swept.verdicts)
    nowhere = tuple((number, "does not hold here") for number, _ in claim.swept.verdicts)
    endings = {
        "It holds at 5, 10, 20 and 40 requests at once": everywhere,
        "It does not hold at 5, 10, 20 and 40 requests at once": nowhere,
        "It holds at 10, 20 and 40; is inconclusive at 5 requests at once": ((5, "inconclusive"), *everywhere[1:]),
        "It does not hold at 10, 20 and 40; is not tested at 5 requests at once": (
            (5, "not tested here"),
            *nowhere[1:],
        ),
    }
    for ending, verdicts in endings.items():
        swept = claim.swept.model_copy(update={"verdicts": verdicts})
        assert said(claim.model_copy(update={"swept": swept})).endswith(f". {ending}")


def test_a_run_without_these_levels_does_not_test_the_claim() -> None:
    (claim, _) = judged(summary({ERRORS: {"baseline": [0.0, 0.0]}, P95: {"baseline": [20.0, 20.0]}}))
    assert (claim.verdict, claim.swept) == ("not tested here", None)
    assert claim.reason == "this run has no level envoy/c-5/bad, envoy/c-5/good"


def test_it_survives_its_file(tmp_path: Path) -> None:
    verdicts = judge(run(), [study()], 1)
    write_verdicts(tmp_path / "claims.json", verdicts)
    assert read_verdicts(tmp_path / "claims.json") == verdicts


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (TEXT[TEXT.index("match:") : TEXT.index("claims:")], "", "match: missing; it says what * stands for"),
        (f"  metric: {ERRORS}", "  metric: error_fractoin", "match.metric: unknown metric 'error_fractoin'"),
        ('"c-10": 10.0', '"c-10": 50.0', "match.levels: the numbers do not rise"),
        ("envoy/*/bad, other/*/bad", "envoy/c-5/bad", "match.at[0]: 'envoy/c-5/bad' has no *"),
    ],
)
def test_what_does_not_fit_is_rejected(old: str, new: str, says: str) -> None:
    assert old in TEXT
    with pytest.raises(SpecError) as caught:
        study(TEXT.replace(old, new))
    assert says in str(caught.value)
