"""The experiment's views with their numbers: what is compared besides each level with the baseline. Pure."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lab.analysis.pooled import by_block, failed
from lab.analysis.stats import (
    Cell,
    Comparison,
    Interval,
    Pooled,
    compare,
    holm,
    interactions,
    mean_interval,
    mean_of,
    of_interactions,
    paired,
)
from lab.record import Finding, Summary
from lab.spec import Frontier, Interaction, Waterfall


@dataclass(frozen=True)
class Measure:
    """What a ladder shows: a sum of metrics. `of_foot`: as a share of the first level's sum in the same block.

    If the machine's speed changes between blocks, such shares are more precise than the values.
    """

    title: str
    unit: str
    metrics: tuple[str, ...]
    of_foot: bool = False


BYTES = Measure(
    "Bytes per request, services, both planes", "B", ("bytes_per_request_app", "bytes_per_request_telemetry")
)


@dataclass(frozen=True)
class Step:
    """What `level` adds to the level below it, in the measure's unit; None where no block has both.

    `within_noise`: the placebo's difference from the baseline may be as large.
    """

    level: str
    added: Interval | None = None
    finding: Finding = "inconclusive"
    within_noise: bool = False
    n: int = 0

    @property
    def sure(self) -> bool:
        """Whether it is a difference beyond the noise."""
        return self.finding in {"higher", "lower"} and not self.within_noise


@dataclass(frozen=True)
class Climb:
    """One measure of a ladder: its mean at the foot, each step, and the sum of all steps."""

    measure: Measure
    foot: float | None
    steps: Sequence[Step]
    total: Step


@dataclass(frozen=True)
class Ladder:
    """A waterfall view with its numbers."""

    title: str
    foot: str
    climbs: Sequence[Climb]


def measures(summary: Summary) -> tuple[Measure, ...]:
    """Return what ladders show: the headline's metric, its share of the first level's, and bytes."""
    primary = summary.headline.primary
    title = summary.title_of(primary)
    unit = summary.metrics[primary].unit if primary in summary.metrics else ""
    share = Measure(f"{title}, of the first level's", "fraction", (primary,), of_foot=True)
    return Measure(title, unit, (primary,)), share, BYTES


def climb_ladder(summary: Summary, view: Waterfall, seed: int) -> Ladder:
    """Compare each level of a view with the one before it, in each measure that the run has."""
    climbs = [
        _climb(summary, view.levels, measure, seed)
        for measure in measures(summary)
        if any(by_block(summary, level, *measure.metrics) for level in view.levels)
    ]
    return Ladder(view.title, view.levels[0], climbs)


def _climb(summary: Summary, levels: Sequence[str], measure: Measure, seed: int) -> Climb:
    compared = {*levels, summary.placebo, *summary.compared_with}
    values = {level: by_block(summary, level, *measure.metrics) for level in compared}
    references = mean_of([values[name] for name in summary.compared_with])
    correlation = max(summary.block_correlation.get(name, 0.0) for name in measure.metrics)
    if measure.of_foot:
        foots = references if levels[0] == summary.baseline else values[levels[0]]
        values = {level: _shares(own, foots) for level, own in values.items()}
        references = _shares(references, foots)

    def step(upper: Mapping[int, float], lower: Mapping[int, float]) -> Comparison | None:
        pairs = paired(upper, lower)
        # Differences add up along the ladder; ratios do not.
        return replace(compare(pairs, summary.confidence, seed, correlation), ratio=None) if pairs else None

    # The placebo is compared with the baseline alone, all others with the mean of both.
    noise = _reach(step(values[summary.placebo], values[summary.baseline]))
    values[summary.baseline] = references
    foot = list(values[levels[0]].values())
    steps = {upper: step(values[upper], values[lower]) for lower, upper in itertools.pairwise(levels)}
    total = step(values[levels[-1]], values[levels[0]])
    found = {level: comparison.p_value for level, comparison in steps.items() if comparison is not None}
    adjusted = holm({level: p_value for level, p_value in found.items() if p_value is not None})
    return Climb(
        measure,
        mean_interval(foot, summary.confidence, seed).mean if foot else None,
        [_step(summary, level, comparison, adjusted.get(level), noise) for level, comparison in steps.items()],
        _step(summary, levels[-1], total, total.p_value if total else None, noise),
    )


def _shares(values: Mapping[int, float], foots: Mapping[int, float]) -> dict[int, float]:
    """Return how many times the foot's each block's value is, of the blocks that have both."""
    return {block: value / foots[block] for block, value in values.items() if foots.get(block)}


def _step(summary: Summary, level: str, comparison: Comparison | None, p_adjusted: float | None, noise: float) -> Step:
    if comparison is None:
        return Step(level)
    added = comparison.difference
    finding = comparison.finding(p_adjusted, 1 - summary.confidence, summary.equivalence_margin)
    return Step(level, added, finding, finding in {"higher", "lower"} and abs(added.mean) <= noise, comparison.n)


def _reach(placebo: Comparison | None) -> float:
    """Return how far from 0 the placebo's difference may be; nothing where it does not show that."""
    if placebo is None or placebo.difference.low is None or placebo.difference.high is None:
        return 0.0
    return max(abs(placebo.difference.low), abs(placebo.difference.high))


@dataclass(frozen=True)
class Crossed:
    """One metric, by (level of the first factor, level of the second).

    `ratios`: to the first factor's reference level, at that same level of the second. `interactions`: how many
    times larger that ratio is than at the second's reference level, with what that allows to say.
    """

    metric: str
    ratios: Mapping[Cell, Comparison]
    interactions: Mapping[Cell, Comparison]
    findings: Mapping[Cell, Finding]


@dataclass(frozen=True)
class Crossing:
    """An interaction view with its numbers; the first level of each factor is its reference, the baseline's.

    `held`: the other factors, each with the level that all of this was measured at, the baseline's.
    """

    title: str
    factors: Sequence[str]
    held: Mapping[str, str]
    first: Sequence[str]
    second: Sequence[str]
    metrics: Sequence[Crossed]


def cross(summary: Summary, view: Interaction, factors: Mapping[str, Sequence[str]], seed: int) -> Crossing:
    """Compare all combinations of two of an experiment's `factors` (level names by factor, in the file's order).

    The baseline's combination has the mean of all levels that the run compares with, as everywhere else.
    """
    reference = dict(zip(factors, summary.baseline.split("/"), strict=True))
    one, other = view.factors
    first, second = (
        [reference[factor], *(level for level in factors[factor] if level != reference[factor])]
        for factor in (one, other)
    )
    names = {
        (a, b): "/".join((reference | {one: a, other: b})[factor] for factor in factors)
        for a, b in itertools.product(first, second)
    }
    found = [
        _crossed(summary, metric, names, (first[0], second[0]), seed)
        for metric in (summary.headline.primary, *(column.metric for column in summary.headline.columns))
    ]
    held = {factor: level for factor, level in reference.items() if factor not in view.factors}
    return Crossing(
        *(view.title, view.factors, held, first, second),
        [crossed for crossed in found if any(one.ratio for one in crossed.ratios.values())],
    )


def _crossed(summary: Summary, metric: str, names: Mapping[Cell, str], reference: Cell, seed: int) -> Crossed:
    cells = {cell: by_block(summary, name, metric) for cell, name in names.items()}
    cells[reference] = mean_of([by_block(summary, name, metric) for name in summary.compared_with])
    correlation = summary.block_correlation.get(metric, 0.0)
    ratios = {
        (a, b): compare(pairs, summary.confidence, seed, correlation)
        for (a, b), blocks in cells.items()
        if a != reference[0] and (pairs := paired(blocks, cells[reference[0], b]))
    }
    differing = interactions(cells, reference, summary.confidence, seed, correlation)
    # Holm's method names what it corrects by text.
    p_values = {"/".join(cell): found.p_value for cell, found in differing.items()}
    adjusted = holm({name: p_value for name, p_value in p_values.items() if p_value is not None})
    alpha, margins = 1 - summary.confidence, of_interactions(summary.equivalence_margin, ratios, reference[1])
    return Crossed(
        metric,
        ratios,
        differing,
        {cell: found.finding(adjusted.get("/".join(cell)), alpha, margins[cell]) for cell, found in differing.items()},
    )


@dataclass(frozen=True)
class Point:
    """A level: its success rate in percent, and its cost."""

    level: str
    success: Interval
    cost: Interval


TAIL = "latency_p99_ms"


def weigh(summary: Summary, view: Frontier) -> dict[str, list[Point]]:
    """Return the points of the view's levels by cost, a metric that at least two of them have."""
    pooled = failed(summary)
    # A share of requests is no cost, also where it answers the question.
    names = (summary.headline.primary, *summary.headline.main)
    costs = [name for name in names if name in summary.metrics and not summary.metrics[name].share_of]
    found = {metric: _points(summary, pooled, view, metric) for metric in dict.fromkeys((*costs[:1], TAIL))}
    return {metric: points for metric, points in found.items() if len(points) > 1}


def _points(summary: Summary, pooled: Mapping[str, Pooled], view: Frontier, metric: str) -> list[Point]:
    costs = summary.estimates_of(metric)
    return [
        Point(level, _success(pooled[level], summary.confidence), Interval(cost.mean, cost.mean_low, cost.mean_high))
        for level in view.levels
        if level in pooled and (cost := costs.get(level)) is not None
    ]


def _success(found: Pooled, confidence: float) -> Interval:
    """Return the success rate in percent, of all requests together; its lower end is that of the most errors."""
    errors = found.interval(confidence)
    return Interval(*(100 * (1 - share) for share in (found.count.rate, errors.high, errors.low)))


def undominated(points: Sequence[Point]) -> list[str]:
    """Name the levels for which no other succeeds as often at a lower cost, by the estimates alone."""
    return [
        point.level
        for point in points
        if not any(
            other.success.mean >= point.success.mean
            and other.cost.mean <= point.cost.mean
            and (other.success.mean, other.cost.mean) != (point.success.mean, point.cost.mean)
            for other in points
        )
    ]
