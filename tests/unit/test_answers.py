"""The answer is to the experiment's own question: its comparisons, in its metrics, first and last."""

import io
import math
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from rich.console import Console

from lab.analysis.analyse import contrasts, with_choice
from lab.analysis.metrics import measures
from lab.grading.exercise import FindingQuestion
from lab.grading.keys import Key, key_of
from lab.record import Estimate, Headline, Summary, read_manifest, read_summary
from lab.report.answers import Answer, answers
from lab.report.terminal import print_answers
from lab.spec.parse import load_experiment
from lab.spec.problems import SpecError
from lab.spec.views import Contrast, HeadlineChoice
from tests import claim_runs
from tests.claim_runs import CPU
from tests.labs import LAB, parse
from tests.unit.test_spec import GOOD

ROOT = Path(__file__).resolve().parents[2]
EXPERIMENTS = ROOT / "experiments"
KEPT = ROOT / "docs" / "results"
OVERFLOW = KEPT / "retry-overflow"
PUBLISHED, IN_FORCE = "fan-out/published/p-0.2", "fan-out/in-force/p-0.2"


def declared(name: str) -> Summary:
    """Return a kept result with the headline that its experiment has now."""
    summary = read_summary(KEPT / name / "summary.json")
    experiment = load_experiment(EXPERIMENTS / f"{name}.yaml", LAB.grammar)
    target = LAB.target(experiment)
    headline = with_choice(
        target.declaration.headline(summary.metrics), experiment.headline, measures(target.judgement)
    )
    return summary.model_copy(update={"headline": headline})


def test_the_question_is_answered_in_its_own_metrics() -> None:
    first, second = answers(declared("retry-overflow"), read_manifest(OVERFLOW))
    assert (first.title, first.level) == (f"{PUBLISHED} against {IN_FORCE}", PUBLISHED)
    assert first.text == (
        "Requests that failed: 24.5 % (23.9 to 25.1) against 0 % (0 to 0.0184); higher. "
        "Retries per request that a circuit breaker refused: 0.378 (0.275 to 0.482) against 0; higher."
    )
    assert second.title.startswith("chain/published/p-0.2")


def test_levels_other_than_the_baseline_are_compared_within_blocks() -> None:
    summary = read_summary(OVERFLOW / "summary.json")
    metric = summary.headline.primary
    found = contrasts(summary, metric, [(PUBLISHED, IN_FORCE), (IN_FORCE, summary.baseline)], seed=14)
    values = {
        level: [trial.values[metric] for trial in summary.trials if trial.valid and trial.level == level]
        for level in (PUBLISHED, IN_FORCE)
    }
    ratios = [one / other for one, other in zip(*values.values(), strict=True)]
    assert found[PUBLISHED, IN_FORCE].ratio == pytest.approx((ratios[0] * ratios[1]) ** 0.5)
    assert found[PUBLISHED, IN_FORCE].n == 2
    (own,) = [row for row in summary.estimates if (row.metric, row.level) == (metric, IN_FORCE)]
    assert found[IN_FORCE, summary.baseline] == own


def compared(*levels: str) -> Summary:
    """Return a run that declares comparisons of these levels with `plain`. Each has p = 0.03, and alone is found."""
    more = [60 * math.exp(0.225 + by) for by in (0.1, -0.1, 0.1, -0.1)]
    run = claim_runs.summary({CPU: {"plain": [60.0] * 4, **dict.fromkeys(levels, more)}})
    estimates = [
        Estimate(metric=CPU, level=level, baseline="baseline", mean=mean, n=4, ratio=mean / 50)
        for level, mean in {"plain": 60.0, **dict.fromkeys(levels, 75.0)}.items()
    ]
    headline = Headline(primary=CPU, what="CPU", compare=[(level, "plain") for level in levels])
    return run.model_copy(update={"headline": headline, "estimates": estimates})


def found_of(run: Summary) -> list[str]:
    return [answer.text.partition(",")[0] for answer in answers(run, {"seed": 1})]


def test_declared_comparisons_are_corrected_for_their_number() -> None:
    assert found_of(compared("one")) == [f"{CPU}: higher"]
    assert found_of(compared("one", "two")) == [f"{CPU}: inconclusive"] * 2


@pytest.mark.parametrize(("levels", "finding"), [(["one"], "higher"), (["one", "two"], "inconclusive")])
def test_the_key_to_an_exercise_is_what_the_answer_says(levels: list[str], finding: str) -> None:
    study: Any = SimpleNamespace(
        computed=compared(*levels), experiment=SimpleNamespace(protocol=SimpleNamespace(seed=1))
    )
    question = FindingQuestion(asks="What does it find?", kind="finding", metric=CPU, level="one", to="plain")
    assert key_of("one", question, study) == Key(words=(finding,))


def test_many_levels_without_a_declared_comparison_are_grouped_by_factor() -> None:
    found = answers(read_summary(OVERFLOW / "summary.json"), read_manifest(OVERFLOW))
    assert [answer.title for answer in found] == [
        "topology chain against fan-out",
        "sidecar published against none",
        "sidecar in-force against none",
        "error_probability p-0.2 against p-0.02",
    ]
    assert "+67 % to +199 %, depending on the other factors (2 " in found[2].text


def test_the_terminal_ends_with_at_most_four_sentences_and_names_the_extremes_of_more() -> None:
    out = io.StringIO()
    found = [Answer(f"level-{size}", "It costs that much.", size=float(size)) for size in (2, 1, 5, 3, 4)]
    print_answers(found, Console(file=out, width=100))
    assert out.getvalue().splitlines()[-2:] == [
        "the highest of 5, level-5: It costs that much.",
        "the lowest, level-1: It costs that much.",
    ]


@pytest.mark.parametrize("sizes", [(2, 1, None, 5, 3), (None, None, None, None, None)])
def test_what_has_no_size_is_neither_the_highest_nor_the_lowest(sizes: Sequence[float | None]) -> None:
    out = io.StringIO()
    found = [Answer(f"level-{size}-{index}", "So it is.", size=size) for index, size in enumerate(sizes)]
    print_answers(found, Console(file=out, width=100))
    _, *lines = out.getvalue().splitlines()
    extremes = ["the highest of 5, level-5-3: So it is.", "the lowest, level-1-1: So it is."] if any(sizes) else []
    assert lines == [*extremes, *(f"{one.title}: So it is." for one in found if one.size is None)]


@pytest.mark.parametrize("name", ["crossed", "outage", "patterns", "sidecar-resilience", "today"])
def test_a_declared_answer_is_complete(name: str) -> None:
    found = answers(declared(name), read_manifest(KEPT / name))
    assert 0 < len(found) <= 4
    assert not any("No result" in answer.text for answer in found)


def test_an_unknown_metric_is_reported_with_its_place_and_the_nearest_name() -> None:
    with pytest.raises(SpecError, match=r"headline\.also\[0\]: no metric is called 'eror_fraction'; did you mean"):
        parse(GOOD + "headline: {also: [eror_fraction]}\n")


def test_an_experiments_metric_comes_before_the_targets_own() -> None:
    experiment = parse(GOOD)
    target = LAB.target(experiment)
    own = target.declaration.headline([])
    choice = HeadlineChoice(metric="error_fraction", compare=[Contrast(level="otel-agent", to="baseline")])
    chosen = with_choice(own, choice, measures(target.judgement))
    assert (chosen.primary, chosen.what, chosen.main[:2]) == (
        "error_fraction", "Requests that failed", ["error_fraction", own.primary],
    )  # fmt: skip
    assert chosen.columns[0].metric == own.primary
    assert list(chosen.compare) == [("otel-agent", "baseline")]
    assert with_choice(own, None, measures(target.judgement)) == own
