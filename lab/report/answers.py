"""The answer to the experiment's question in sentences. They never say more than the findings do."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.analysis.analyse import contrasts
from lab.analysis.views import Crossing
from lab.record import Estimate, Summary
from lab.report.facts import mapping
from lab.report.findings import change_interval, change_of, compared_levels, within_noise
from lab.report.numbers import bounded, interval, noise, number, ratio, scale_for, within
from lab.report.sameness import name_of, name_of_estimate

MOST_LEVELS = 8
"""With more levels, an answer that names each is no answer: they are grouped by factor."""


@dataclass(frozen=True)
class Answer:
    """What is compared, and a sentence or two about it.

    `level`: whose colour it has; none of several levels together. `size`: the ratio, to order answers by.
    """

    title: str
    text: str
    level: str | None = None
    size: float | None = None


def answers(summary: Summary, manifest: Mapping[str, Any], crossings: Sequence[Crossing] = ()) -> list[Answer]:
    """Answer by the comparisons that the experiment declares, or by every level against the baseline."""
    seed = int(manifest.get("seed") or 0)
    factors = {name: list(levels) for name, levels in mapping(mapping(manifest.get("spec")).get("factors")).items()}
    declared = [_answer(summary, f"{level} against {to}", level, to, seed) for level, to in summary.headline.compare]
    if declared or crossings:
        return [*declared, *(found for crossing in crossings for found in _interactions(summary, crossing))]
    levels = compared_levels(summary)
    if len(levels) > MOST_LEVELS and len(factors) > 1:
        return _by_factor(summary, levels, factors, seed)
    return [_answer(summary, level, level, summary.baseline, seed) for level in levels]


def _metrics(summary: Summary) -> tuple[str, ...]:
    return summary.headline.primary, *(name for name in summary.headline.also if name in summary.metrics)


def _answer(summary: Summary, title: str, level: str, to: str, seed: int) -> Answer:
    if summary.levels[level].trials == 0:
        return Answer(title, "No result: no trial of it counts.", level)
    # All declared comparisons together, since they are corrected for their number.
    pairs = summary.headline.compare or [(level, to)]
    found = [
        contrasts(summary, metric, pairs, seed).get((level, to)) if metric in summary.metrics else None
        for metric in _metrics(summary)
    ]
    said = [_sentence(summary, row, " than the baseline's" if title == level else "") for row in found if row]
    if found[0] is None:
        lacking = to if summary.estimate_of(summary.headline.primary, level) else level
        primary = summary.title_of(summary.headline.primary)
        said.insert(0, f"No result: no trial of {lacking} that counts has a value of {primary}.")
    return Answer(title, " ".join(said), level, found[0].ratio if found[0] else None)


def _sentence(summary: Summary, estimate: Estimate, than: str) -> str:
    """Say how a level's metric differs from that of the level that it is compared with."""
    other = summary.estimate_of(estimate.metric, estimate.baseline)
    as_means = estimate.ratio is None or summary.metrics[estimate.metric].share_of is not None
    means = " against ".join(_mean(summary, row, ends=as_means) for row in (estimate, other) if row)
    title, finding = summary.title_of(estimate.metric), name_of_estimate(summary, estimate)
    if estimate.n == 0:
        finding = (
            f"no ratio: {'both are only bounds' if estimate.censored else 'no block has trials of both that count'}"
        )
    if as_means:
        return f"{title}: {means}; {finding}."
    said = f"{finding}{than}" if finding in {"higher", "lower"} else finding.replace("same", "the same")
    noisy = f" That is within this run's noise, {noise(estimate.noise_floor)}: it may be no difference at all."
    by = f"{change_of(estimate)} ({change_interval(estimate)})"
    return f"{title}: {said}, {by}; {means}.{noisy if within_noise(estimate) else ''}"


def _mean(summary: Summary, estimate: Estimate, ends: bool = True) -> str:
    scale = scale_for(summary.metrics[estimate.metric].unit, [estimate.mean])

    def show(value: float) -> str:
        return number(value / scale.factor)

    known = ends and estimate.mean_low != estimate.mean_high
    within_ends = interval(estimate.mean_low, estimate.mean_high, show) if known else ""
    shown = f"{bounded(show(estimate.mean), estimate.censored)} {scale.unit}".rstrip()
    return f"{shown} ({within_ends})" if within_ends else shown


def _interactions(summary: Summary, crossing: Crossing) -> list[Answer]:
    """Say of two crossed factors whether the cost of one depends on the other."""
    return [
        Answer(
            crossing.title,
            f"{summary.title_of(metric.metric)}: at {crossing.factors[1]} {at} the ratio of {level} to "
            f"{crossing.first[0]} is {ratio(found.ratio.mean)} times ({within(found.ratio, ratio)}) that at "
            f"{crossing.second[0]}: {name_of(metric.findings[level, at], found.ratio, summary)}.",
            size=found.ratio.mean,
        )
        for metric in crossing.metrics
        if metric.metric == summary.headline.primary
        for (level, at), found in metric.interactions.items()
        if found.ratio is not None
    ]


def _by_factor(
    summary: Summary, levels: Sequence[str], factors: Mapping[str, Sequence[str]], seed: int
) -> list[Answer]:
    """Say of each level of a factor how it compares with the baseline's, over all levels of the other factors."""
    places = {level: dict(zip(factors, level.split("/"), strict=True)) for level in [summary.baseline, *levels]}
    by_place = {tuple(place.values()): level for level, place in places.items()}
    reference = places[summary.baseline]
    found = []
    for factor, name in ((factor, name) for factor, names in factors.items() for name in names):
        if name == reference[factor]:
            continue
        pairs = [
            (level, by_place[twin])
            for level, place in places.items()
            if place[factor] == name and (twin := tuple((place | {factor: reference[factor]}).values())) in by_place
        ]
        ordered = [_ordered(summary, metric, pairs, seed) for metric in _metrics(summary)]
        said = " ".join(_range(summary, rows) for rows in ordered if rows) or "No result: no block has trials of both."
        largest = ordered[0][-1].ratio if ordered[0] else None
        found.append(Answer(f"{factor} {name} against {reference[factor]}", said, size=largest))
    return found


def _ordered(summary: Summary, metric: str, pairs: Sequence[tuple[str, str]], seed: int) -> list[Estimate]:
    rows = contrasts(summary, metric, pairs, seed).values() if metric in summary.metrics else ()
    return sorted((row for row in rows if row.ratio is not None), key=lambda row: row.ratio or 0)


def _range(summary: Summary, rows: Sequence[Estimate]) -> str:
    counts = Counter(name_of_estimate(summary, row) for row in rows).most_common()
    return (
        f"{summary.title_of(rows[0].metric)}: {change_of(rows[0])} to {change_of(rows[-1])}, depending on the other "
        f"factors ({', '.join(f'{count} {word}' for word, count in counts)})."
    )
