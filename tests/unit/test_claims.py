"""Claims files: what is read, what is rejected; and what becomes of a claim in a run whose numbers are known."""

from pathlib import Path

import numpy as np
import pytest
from scipy.stats import ttest_1samp

from lab.analysis.claims.judge import judge
from lab.analysis.claims.questions import questions
from lab.analysis.claims.records import read_verdicts, write_verdicts
from lab.analysis.claims.spec import load_claims, parse_claims
from lab.analysis.metrics import measures
from lab.analysis.stats.compare import compare
from lab.errors import UserError
from lab.spec.parse import load_experiment
from lab.spec.problems import SpecError
from tests.claim_runs import CPU, HEAD, MEMORY, judged, study, summary
from tests.labs import LAB, METRICS

FOLDER = Path(__file__).parents[2] / "experiments" / "claims"
EVERY_TARGETS = {name: one for target in LAB.targets.values() for name, one in measures(target.judgement).items()}
LADDER = ["batch-4", "batch-2", "batch-1"]
OVER = f"over: [{', '.join(LADDER)}]"
ORDER = "kind: order, lower: [baseline], higher: [agent]"
TWICE = "kind: overhead_ratio, level: agent, to: manual, within: [1.5, 2.5], because: why"
BASELINE, MANUAL, AGENT = [50.0, 51.0, 49.0, 50.5], [60.0, 61.5, 58.5, 60.0], [70.5, 71.0, 69.0, 71.0]
TRACED = {"baseline": BASELINE, "manual": MANUAL, "agent": AGENT}


def test_the_shipped_study_has_all_the_claims_of_its_source() -> None:
    (found,) = load_claims(["telemetry-overhead"], FOLDER, METRICS)
    assert list(found.claims) == [f"O{number}" for number in range(1, 14)]


def test_every_shipped_claim_is_one_that_some_experiment_can_judge() -> None:
    experiments = [load_experiment(path, LAB.grammar) for path in sorted(FOLDER.parent.glob("*.yaml"))]
    judged_by = [
        (claimed.name, name, {level.name for level in experiment.levels()}, experiment.baseline)
        for experiment in experiments
        for claimed in load_claims(experiment.claims, FOLDER, EVERY_TARGETS)
        for name in claimed.claims
    ]
    for shipped in load_claims([path.stem for path in FOLDER.glob("*.yaml")], FOLDER, EVERY_TARGETS):
        numbers = shipped.match.levels if shipped.match else ("",)
        for name, claim in shipped.claims.items():
            assert any(
                {
                    level.replace("*", number)
                    for question in questions(claim, baseline, 0.05)
                    for level in question.levels
                    for number in numbers
                }
                <= levels
                for of, claimed_name, levels, baseline in judged_by
                if (of, claimed_name) == (shipped.name, name)
            ), f"{shipped.name}:{name} names a level that none of its experiments has"


def test_a_published_figure_of_an_unknown_metric_is_rejected_with_the_nearest() -> None:
    text = f"{HEAD}  X1: {{says: a, tests: [{{metrics: [{CPU}], {ORDER}}}]}}\n"
    with pytest.raises(SpecError, match=r"figures\[0\].metric: unknown metric 'tags_per_spam'; did you mean 'tags_per"):
        parse_claims(f"{text}figures:\n  - {{metric: tags_per_spam, level: a, published: 8}}\n", "paper", METRICS)


def test_a_reference_may_pick_claims() -> None:
    (found,) = load_claims(["telemetry-overhead:O10, O11"], FOLDER, METRICS)
    assert (found.name, list(found.claims)) == ("telemetry-overhead", ["O10", "O11"])


@pytest.mark.parametrize(
    ("reference", "says"),
    [
        ("telemetry-overhaed", "unknown claims file 'telemetry-overhaed'; did you mean 'telemetry-overhead'?"),
        ("telemetry-overhead:O14", "no claim is called 'O14'; did you mean 'O4'?"),
        ("telemetry-overhead:", "no claim is called ''"),
    ],
)
def test_a_reference_to_nothing_is_rejected(reference: str, says: str) -> None:
    with pytest.raises(UserError, match="claim") as caught:
        load_claims([reference], FOLDER, METRICS)
    assert says in caught.value.message
    assert "\n" not in caught.value.message


WRONG = {
    "unknown metric": (
        f"metrics: [cpu_per_request_totl_ms], {ORDER}",
        "metrics[0]: unknown metric 'cpu_per_request_totl_ms'; did you mean 'cpu_per_request_total_ms'?",
    ),
    "unknown kind": (
        f"metrics: [{CPU}], kind: ordr, lower: [a], higher: [b]",
        'kind: got "ordr", expected "order" or "overhead_ratio" or "ratio" or "same" or "trend" or "value"; '
        "did you mean 'order'?",
    ),
    "range upside down": (
        f"metrics: [{CPU}], {TWICE.replace('[1.5, 2.5]', '[2.5, 1.5]')}",
        "within: the range is upside down: 2.5 is not below 1.5",
    ),
    "unknown key": (f"metrics: [{CPU}], {ORDER}, margn: 0.1", "margn: unknown key; did you mean 'margin'?"),
    "margin without a reason": (f"metrics: [{CPU}], {ORDER}, margin: 0.1", "because: missing; say why"),
    "level against itself": (
        f"metrics: [{CPU}], kind: order, lower: [a, b], higher: [b]",
        "higher: level 'b' is named twice",
    ),
    "steadily nowhere": (
        f"metrics: [{CPU}], kind: trend, goes: nowhere, steadily: true, {OVER}",
        "steadily: goes with `up` and `down` only",
    ),
    "two levels are no trend": (f"metrics: [{CPU}], kind: trend, goes: up, over: [a, b]", "over: got a list, expected"),
}


@pytest.mark.parametrize(("test", "says"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_test_is_rejected_in_one_line(test: str, says: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.yaml"
    path.write_text(f"{HEAD}  M1: {{says: so it is, tests: [{{{test}}}]}}\n")
    with pytest.raises(UserError) as caught:
        load_claims([str(path)], FOLDER, METRICS)
    assert caught.value.message.startswith(f"{path}: claims.M1.tests[0].{says}")
    assert "\n" not in caught.value.message


def test_a_file_without_claims_is_rejected() -> None:
    with pytest.raises(SpecError, match="claims: missing; a file has claims, or figures, or both"):
        parse_claims(HEAD.replace("claims:\n", "claims: {}\n"), "mine", METRICS)


def test_an_order_has_the_numbers_of_the_summarys_ratio() -> None:
    found = judged(study(ORDER), summary({CPU: TRACED}))
    ratio = compare(list(zip(AGENT, BASELINE, strict=True)), 0.95, seed=1).ratio
    (part,) = found.parts
    assert ratio is not None
    assert (part.estimate, part.low, part.high, part.n) == pytest.approx((ratio.mean, ratio.low, ratio.high, 4))
    assert (found.verdict, part.answer, part.wanted_low, part.wanted_high) == ("holds here", "holds", 1.0, None)


def test_a_small_difference_is_not_refuted_but_bounded_by_what_the_data_exclude() -> None:
    near = {"baseline": [50.0, 50.0, 50.0], "agent": [50.4, 50.0, 50.3]}
    (part,) = judged(study(ORDER), summary({CPU: near})).parts
    assert (part.answer, part.high) == ("inconclusive", pytest.approx(1.0153, abs=1e-3))
    assert part.reason == "no larger than 1.5 %"
    (part,) = judged(study(f"{ORDER}, margin: 0.01, because: why"), summary({CPU: near})).parts
    assert (part.answer, part.reason) == ("inconclusive", None)


def test_what_only_the_corrected_interval_allows_is_said() -> None:
    """Of 3 blocks the plain interval reaches 4.3 standard errors, that of two comparisons 6.2; the mean is at 5.2."""
    lower = {"baseline": [50.0] * 3, "agent": [50 * 0.98, 50 * 0.985, 50 * 0.99], "manual": [60.0, 61.0, 60.5]}
    part, _ = judged(study("kind: order, lower: [baseline], higher: [agent, manual]"), summary({CPU: lower})).parts
    assert part.high is not None
    assert part.high < 1
    assert part.answer == "inconclusive"
    assert part.reason == "against the claim, but not once corrected for the number of comparisons"
    assert judged(study(ORDER), summary({CPU: lower})).verdict == "does not hold here"


def test_levels_that_never_differ_are_not_said_to_speak_against_a_claim() -> None:
    (part,) = judged(study(ORDER), summary({CPU: {"baseline": [1.0] * 3, "agent": [1.0] * 3}})).parts
    assert (part.answer, part.reason) == ("inconclusive", "no larger than 0.0 %")


# A test, the levels it is about with their logarithms, and the level whose 2 % are measured ever more precisely.
TWO_PERCENT = {
    "order": (ORDER, {"baseline": 0, "agent": 0.02}, "agent"),
    "trend up": (f"kind: trend, goes: up, {OVER}", dict(zip(LADDER, (0, 0.01, 0.02), strict=True)), "batch-1"),
    "trend down": (f"kind: trend, goes: down, {OVER}", dict(zip(LADDER, (0, -0.01, -0.02), strict=True)), "batch-1"),
    "step back": (
        f"kind: trend, goes: up, steadily: true, {OVER}",
        dict(zip(LADDER, (0, -0.02, 0.3), strict=True)),
        "batch-2",
    ),
}
# Blocks, and how far each block's logarithm is from the truth: the intervals of the audit.
EVIDENCE = ((4, 0.03), (6, 0.022), (10, 0.015))


@pytest.mark.parametrize(("test", "truth", "measured"), TWO_PERCENT.values(), ids=TWO_PERCENT.keys())
def test_a_verdict_never_turns_as_evidence_grows(test: str, truth: dict[str, float], measured: str) -> None:
    """The same 2 % used to be inconclusive with 4 blocks, refuted with 6, and to hold with 10."""
    found = []
    for blocks, error in EVIDENCE:
        errors = error * np.tile([1.0, -1.0], blocks // 2)
        logs = {level: np.full(blocks, value) + errors * (level == measured) for level, value in truth.items()}
        run = summary({CPU: {level: (50 * np.exp(values)).tolist() for level, values in logs.items()}})
        found.append(judged(study(test), run).verdict)
    assert (found[0], found[-1]) == ("inconclusive", "holds here")
    assert "does not hold here" not in found


def test_the_best_of_three_is_refuted_by_one() -> None:
    wanted = study("kind: order, lower: [manual], higher: [baseline, agent]")
    found = judged(wanted, summary({CPU: TRACED}))
    assert found.verdict == "does not hold here"
    assert [(part.levels, part.answer) for part in found.parts] == [
        (("baseline", "manual"), "does not hold"),
        (("agent", "manual"), "holds"),
    ]


def test_a_difference_below_the_noise_floor_is_not_beyond_it() -> None:
    wanted = study(f"{ORDER}, by_more_than: noise_floor")
    assert judged(wanted, summary({CPU: TRACED}, noise_floor=0.1)).verdict == "holds here"
    assert judged(wanted, summary({CPU: TRACED}, noise_floor=0.5)).verdict == "inconclusive"
    unknown = judged(wanted, summary({CPU: TRACED}, noise_floor=None))
    assert (unknown.verdict, unknown.parts[0].reason) == ("inconclusive", "the placebo shows no noise floor")


def test_twice_the_overhead_is_found_whatever_a_blocks_machine_does() -> None:
    slowed = {level: [value * (1 + block) for block, value in enumerate(TRACED[level])] for level in TRACED}
    (steady,), (drifting,) = (judged(study(TWICE), summary({CPU: values})).parts for values in (TRACED, slowed))
    assert steady.answer == "holds"
    assert steady.estimate == pytest.approx(2.04, abs=0.03)
    assert (drifting.estimate, drifting.low, drifting.high) == pytest.approx((steady.estimate, steady.low, steady.high))


def test_the_overheads_interval_is_fiellers() -> None:
    """By hand: levels that add to 180 in each block, so that dividing by the block's mean divides all by 60."""
    values = {"baseline": [50.0, 50.0], "manual": [59.0, 61.0], "agent": [71.0, 69.0]}
    (part,) = judged(study(TWICE), summary({CPU: values})).parts
    # Overheads 20 ± 1 and 10 ± 1, standard errors 1, perfectly opposed; t = 12.7 with 1 degree of freedom:
    # the second overhead may be 0, and the ratio anything.
    assert (part.estimate, part.low, part.high, part.answer) == (pytest.approx(2.0), None, None, "inconclusive")
    assert part.reason == "manual may cost no more than baseline"


def test_fiellers_interval_is_every_multiple_that_a_t_test_does_not_reject() -> None:
    (part,) = judged(study(TWICE), summary({CPU: TRACED})).parts
    baseline, manual, agent = (np.array(values) for values in (BASELINE, MANUAL, AGENT))
    whole = baseline + manual + agent
    multiples = np.linspace(1.5, 2.5, 10_001)
    excesses = (agent - baseline - multiples[:, None] * (manual - baseline)) / whole
    kept = multiples[ttest_1samp(excesses, 0, axis=1).pvalue >= 0.05]
    assert (part.low, part.high) == pytest.approx((kept[0], kept[-1]), abs=0.01 * (kept[-1] - kept[0]))


def test_an_overhead_that_may_be_nothing_can_still_refute_a_multiple() -> None:
    values = {"baseline": [50.0, 51.0, 49.0], "manual": [50.1, 50.8, 49.1], "agent": [70.0, 71.2, 68.9]}
    (part,) = judged(study(TWICE), summary({CPU: values})).parts
    assert (part.low, part.high, part.answer) == (None, None, "does not hold")


def test_overheads_of_a_metric_that_falls_have_the_same_ratio() -> None:
    falling = {level: [100 - value for value in values] for level, values in TRACED.items()}
    (up,), (down,) = (judged(study(TWICE), summary({CPU: of})).parts for of in (TRACED, falling))
    assert (up.answer, down.answer) == ("holds", "holds")
    assert down.estimate == pytest.approx(up.estimate, rel=0.01)


def test_a_bound_of_one_of_two_baselines_allows_no_exact_answer() -> None:
    run = summary({CPU: {"baseline": BASELINE, "placebo": BASELINE, "agent": AGENT}})
    run = run.model_copy(update={"compared_with": ("baseline", "placebo")})
    assert judged(study(ORDER), run).verdict == "holds here"
    bounds = [
        one.model_copy(update={"censored": {CPU: "at least"}}) if one.level == "placebo" else one for one in run.trials
    ]
    (part,) = judged(study(ORDER), run.model_copy(update={"trials": bounds})).parts
    assert (part.answer, part.reason) == ("inconclusive", "a value is only a bound")


def test_a_trend_is_the_change_along_the_fitted_line() -> None:
    values = {"batch-4": [40.0, 80.0, 60.0], "batch-2": [44.0, 88.0, 66.0], "batch-1": [48.4, 96.8, 72.6]}
    run = summary({CPU: {"baseline": BASELINE[:3], **values}})
    up = judged(study(f"kind: trend, goes: up, steadily: true, {OVER}"), run)
    assert (up.verdict, up.parts[0].estimate) == ("holds here", pytest.approx(1.21))
    assert [(part.levels, part.wanted_low) for part in up.parts[1:]] == [
        (("batch-2", "batch-4"), pytest.approx(1 / 1.05)),
        (("batch-1", "batch-2"), pytest.approx(1 / 1.05)),
    ]
    assert judged(study(f"kind: trend, goes: down, {OVER}"), run).verdict == "does not hold here"
    assert judged(study(f"kind: trend, goes: nowhere, {OVER}"), run).verdict == "does not hold here"


def test_a_steady_trend_has_no_step_back() -> None:
    values = {"batch-4": [40.0, 40.2, 39.9], "batch-2": [60.0, 60.1, 60.3], "batch-1": [50.0, 50.2, 49.8]}
    run = summary({CPU: {"baseline": BASELINE[:3], **values}})
    assert judged(study(f"kind: trend, goes: up, {OVER}"), run).verdict == "holds here"
    assert judged(study(f"kind: trend, goes: up, steadily: true, {OVER}"), run).verdict == "does not hold here"


def test_what_the_experiment_does_not_have_is_not_tested() -> None:
    other = judged(study(TWICE.replace("manual", "by-hand")), summary({CPU: TRACED}))
    assert (other.verdict, other.reason, other.parts) == ("not tested here", "this run has no level by-hand", ())
    assert judged(study(ORDER), summary({MEMORY: TRACED})).reason == f"this run has no metric {CPU}"


def test_a_metric_that_a_run_lacks_leaves_the_rest_of_a_claim_to_be_refuted() -> None:
    both = f"metrics: [{CPU}, {MEMORY}]"
    for lower, higher, verdict in (
        ("baseline", "agent", "not tested here"),
        ("agent", "baseline", "does not hold here"),
    ):
        order = f"kind: order, lower: [{lower}], higher: [{higher}]"
        text = f"{HEAD}  X1: {{says: a, tests: [{{{both}, {order}}}]}}\n"
        found = judged(parse_claims(text, "paper", METRICS), summary({CPU: TRACED}))
        assert (found.verdict, found.reason) == (verdict, f"this run has no metric {MEMORY}")
        assert [part.metric for part in found.parts] == [CPU]


@pytest.mark.parametrize(
    ("agent", "reason"),
    [
        ([], "fewer than 2 blocks have a valid trial of each level"),
        ([70.0], "fewer than 2 blocks have a valid trial of each level"),
        ([70.0, 0.0], "a value is 0, so there is no ratio"),
    ],
)
def test_what_gives_no_interval_is_inconclusive(agent: list[float], reason: str) -> None:
    found = judged(study(ORDER), summary({CPU: {"baseline": BASELINE, "agent": agent}}))
    assert (found.verdict, found.parts[0].reason, found.parts[0].n) == ("inconclusive", reason, len(agent))


def test_rejected_trials_do_not_count() -> None:
    run = summary({CPU: TRACED})
    rejected = [
        trial.model_copy(update={"valid": False}) if (trial.level, trial.block) == ("agent", 3) else trial
        for trial in run.trials
    ]
    assert judged(study(ORDER), run.model_copy(update={"trials": rejected})).parts[0].n == 3


def test_verdicts_survive_their_file(tmp_path: Path) -> None:
    path = tmp_path / "claims.json"
    verdicts = judge(summary({CPU: TRACED}), [study(ORDER, TWICE), study("kind: order, lower: [x], higher: [y]")], 1)
    write_verdicts(path, verdicts)
    assert read_verdicts(path) == verdicts
    path.write_text(path.read_text().replace('"holds here"', '"so so"'))
    with pytest.raises(UserError, match=r"claims\.json"):
        read_verdicts(path)


def test_a_claim_may_be_about_the_ratio_of_two_levels() -> None:
    wanted = study("kind: ratio, level: agent, to: baseline, within: [1.3, 1.5], because: why")
    assert judged(wanted, summary({CPU: TRACED})).verdict == "holds here"
    wanted = study("kind: ratio, level: manual, to: baseline, within: [1.3, 1.5], because: why")
    assert judged(wanted, summary({CPU: TRACED})).verdict == "does not hold here"


def test_a_claim_may_be_about_a_levels_own_value_which_may_be_0() -> None:
    values = {
        CPU: {"baseline": [0.0, 0.0, 0.0, 0.0], "agent": [0.48, 0.49, 0.485, 0.495], "noisy": [0.2, 0.9, 0.1, 0.8]}
    }
    near = "kind: value, level: agent, within: [0.46, 0.51], because: why"
    found = judged(study(near), summary(values))
    assert (found.verdict, found.parts[0].levels) == ("holds here", ("agent",))
    assert found.parts[0].estimate == pytest.approx(0.4875)
    for level, verdict in {"baseline": "does not hold here", "noisy": "inconclusive"}.items():
        assert judged(study(near.replace("agent", level)), summary(values)).verdict == verdict
    zero = study("kind: value, level: baseline, within: [0, 0.001], because: why")
    assert judged(zero, summary(values)).verdict == "holds here"


@pytest.mark.parametrize("kind", ["kind: value", "kind: ratio, to: b"])
def test_a_range_upside_down_is_rejected_in_the_new_kinds_too(kind: str) -> None:
    with pytest.raises(SpecError, match="upside down"):
        study(f"{kind}, level: a, within: [2, 1], because: why")
