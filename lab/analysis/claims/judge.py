"""From a summary to verdicts: `summary.json` and claims in, `claims.json` out."""

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import partial

import numpy as np

from lab.analysis.claims.evidence import ShareEvidence, evidence
from lab.analysis.claims.excluded import excluded
from lab.analysis.claims.matched import Values, along
from lab.analysis.claims.questions import Bounds, Question, questions
from lab.analysis.claims.records import Answer, Beside, Judged, Part, Verdict, Verdicts
from lab.analysis.claims.spec import Study
from lab.analysis.claims.tested import missing, tested
from lab.analysis.pooled import censoring, pooled_share
from lab.analysis.stats import FloatArray, mean_of
from lab.record import Summary


def judge(summary: Summary, studies: Sequence[Study], seed: int) -> Verdicts:
    """Judge whether each claim holds in this run. `seed` is the experiment's, for the intervals."""
    values = _values(summary)
    return Verdicts(
        experiment=summary.experiment,
        confidence=summary.confidence,
        sources={study.name: study.source for study in studies},
        claims=tuple(_claim(summary, values, study, claim_id, seed) for study in studies for claim_id in study.claims),
        figures=tuple(beside for study in studies for beside in _beside(summary, study)),
    )


def _beside(summary: Summary, study: Study) -> Iterator[Beside]:
    """Yield the published numbers of what this run has."""
    found = {(estimate.metric, estimate.level): estimate for estimate in summary.estimates}
    for figure in study.figures:
        estimate = found.get((figure.metric, figure.level))
        if estimate is not None and estimate.censored is None:
            yield Beside(
                study=study.name,
                **figure.model_dump(),
                **summary.metrics[figure.metric].model_dump(include={"title", "unit"}),
                **estimate.model_dump(include={"mean", "mean_low", "mean_high", "n"}),
            )


def _values(summary: Summary) -> Values:
    values: defaultdict[str, defaultdict[str, dict[int, float]]] = defaultdict(lambda: defaultdict(dict))
    for trial in summary.trials:
        if trial.counts:
            for metric, value in trial.values.items():
                values[metric][trial.level][trial.block] = value
    for levels in values.values():
        levels[summary.baseline] = mean_of([levels[name] for name in summary.compared_with])
    return values


def _claim(summary: Summary, values: Values, study: Study, claim_id: str, seed: int) -> Judged:
    wanted = questions(study.claims[claim_id], summary.baseline, summary.equivalence_margin)
    return along(study.match, summary, values, wanted, partial(_judged, study, claim_id, seed), seed)


def _judged(
    study: Study, claim_id: str, seed: int, summary: Summary, values: Values, wanted: Sequence[Question]
) -> Judged:
    claim, lacking = study.claims[claim_id], missing(summary, wanted)
    # A claim is false if any of its k parts is. To reject a true claim in at most 5 % of runs, each part may err in
    # 5 % / k (Bonferroni, the first step of Holm's method). A claim holds only if all parts hold. That needs no
    # correction: a false claim passes only if its false part passes (Berger, 1982, intersection-union test).
    refuting = 1 - (1 - summary.confidence) / len(wanted)
    parts = [_part(summary, values, question, refuting, seed) for question in tested(summary, wanted)]
    return Judged(
        study=study.name,
        id=claim_id,
        says=claim.says,
        published=claim.published,
        verdict=_verdict(parts, lacking),
        reason=lacking,
        parts=tuple(parts),
    )


def _verdict(parts: Sequence[Part], lacking: str | None) -> Verdict:
    """Return a claim's verdict. What a run can test may refute a claim of which other metrics are `lacking`."""
    answers = {part.answer for part in parts}
    if "does not hold" in answers:
        return "does not hold here"
    if lacking:
        return "not tested here"
    return "holds here" if answers == {"holds"} else "inconclusive"


def _part(summary: Summary, values: Values, question: Question, refuting: float, seed: int) -> Part:
    floors = (estimate.noise_floor for estimate in summary.estimates if estimate.metric == question.metric)
    floor = next((found for found in floors if found is not None), None)
    blocks = _complete_blocks(values[question.metric], question.levels)
    bounds = Bounds(1 + floor) if question.beyond_noise and floor is not None else question.bounds
    part = Part(
        metric=question.metric,
        title=summary.metrics[question.metric].title,
        quantity=question.quantity,
        levels=question.levels,
        n=len(blocks),
        wanted_low=bounds.low or None,
        wanted_high=bounds.high if math.isfinite(bounds.high) else None,
        noise_floor=floor,
        answer="inconclusive",
    )
    if reason := _unusable(summary, blocks, question, floor):
        return part.model_copy(update={"reason": reason})
    correlation = summary.block_correlation.get(question.metric, 0.0)
    found = _share(summary, question) or evidence(question.quantity, blocks, seed, correlation)
    answer: Answer = "does not hold" if found.misses(question.bounds, refuting) else "inconclusive"
    if found.within(bounds, summary.confidence):
        answer = "holds"
    low, high = found.interval(summary.confidence) or (None, None)
    estimate = {"estimate": found.estimate, "low": low, "high": high, "answer": answer}
    small = answer == "inconclusive" and found.misses(question.clear, summary.confidence)
    return part.model_copy(update=estimate | {"reason": excluded(question, low, high, small)})


def _share(summary: Summary, question: Question) -> ShareEvidence | None:
    """Return what a level's trials counted, if the question is about its share."""
    share_of = summary.metrics[question.metric].share_of
    if share_of is None or question.quantity != "value":
        return None
    (level,) = question.levels
    pooled = pooled_share(share_of, (trial for trial in summary.trials if trial.counts and trial.level == level))
    return ShareEvidence(pooled) if pooled else None


def _complete_blocks(values: Mapping[str, Mapping[int, float]], levels: Sequence[str]) -> FloatArray:
    """Return a row for each block that has a value of every level."""
    columns = [values.get(level, {}) for level in levels]
    blocks = sorted(set.intersection(*map(set, columns)))
    return np.array([[column[block] for column in columns] for block in blocks]).reshape(-1, len(levels))


def _unusable(summary: Summary, blocks: FloatArray, question: Question, floor: float | None) -> str | None:
    """Say why the blocks allow no answer, if so."""
    levels = {*question.levels, *(summary.compared_with if summary.baseline in question.levels else ())}
    trials = [trial for trial in summary.trials if trial.counts and trial.level in levels]
    # Where the baseline has nothing, a value is an overhead.
    divided = blocks[:, :2] if question.quantity == "overhead ratio" else blocks
    reasons = {
        "a value is only a bound": censoring(question.metric, trials),
        "fewer than 2 blocks have a valid trial of each level": len(blocks) < 2,
        "a value is 0, so there is no ratio": question.quantity != "value" and np.any(divided <= 0),
        "the placebo shows no noise floor": question.beyond_noise and floor is None,
    }
    return next((reason for reason, is_so in reasons.items() if is_so), None)
