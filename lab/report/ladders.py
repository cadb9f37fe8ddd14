"""Ladders: what each level adds to the one before it, paired within blocks."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from lab.analysis.stats.compare import Comparison, compare, holm, mean_of, paired
from lab.analysis.stats.intervals import Interval, mean_interval
from lab.record import Finding, Summary
from lab.report.blocks import by_block, having
from lab.report.findings import title_of
from lab.report.numbers import Scale, scale_for, signed, within
from lab.report.tables import NOTHING, Cell, Column, Row, Table, finding, named
from lab.spec import Waterfall


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
    title = title_of(summary, primary)
    unit = summary.metrics[primary].unit if primary in summary.metrics else ""
    share = Measure(f"{title}, of the first level's", "fraction", (primary,), of_foot=True)
    return Measure(title, unit, (primary,)), share, BYTES


def climb_ladder(summary: Summary, view: Waterfall, seed: int) -> Ladder:
    """Compare each level of a view with the one before it, in each measure that the run has."""
    climbs = [
        _climb(summary, view.levels, measure, seed)
        for measure in measures(summary)
        if having(summary, view.levels, *measure.metrics)
    ]
    return Ladder(view.title, view.levels[0], climbs)


def _climb(summary: Summary, levels: Sequence[str], measure: Measure, seed: int) -> Climb:
    compared = {*levels, summary.placebo, *summary.compared_with}
    values = {level: by_block(summary, level, *measure.metrics) for level in compared}
    references = mean_of([values[name] for name in summary.compared_with])
    if measure.of_foot:
        foots = references if levels[0] == summary.baseline else values[levels[0]]
        values = {level: _shares(own, foots) for level, own in values.items()}
        references = _shares(references, foots)

    def step(upper: Mapping[int, float], lower: Mapping[int, float]) -> Comparison | None:
        pairs = paired(upper, lower)
        # Differences add up along the ladder; ratios do not.
        return replace(compare(pairs, summary.confidence, seed), ratio=None) if pairs else None

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


def step_scales(ladders: Sequence[Ladder]) -> Mapping[str, Scale]:
    """Choose how the steps of each measure (by title) are shown in all ladders, to some hundredths of the largest."""
    sizes: dict[Measure, list[float]] = {}
    for ladder in ladders:
        for climb in ladder.climbs:
            steps = (*climb.steps, climb.total)
            sizes.setdefault(climb.measure, []).extend(abs(step.added.mean) for step in steps if step.added)
    largest = {measure: max(found, default=0.0) for measure, found in sizes.items()}
    return {measure.title: scale_for(measure.unit, [size, size / 3]) for measure, size in largest.items()}


def ladder_tables(ladders: Sequence[Ladder]) -> list[Table]:
    """Show what each level adds to the one before it, in each measure, on the scales of the figure."""
    scales = step_scales(ladders)
    return [_table(ladder, [scales[climb.measure.title] for climb in ladder.climbs]) for ladder in ladders]


def _table(ladder: Ladder, scales: Sequence[Scale]) -> Table:
    def row(first: Cell, steps: Sequence[Step]) -> Row:
        blocks = ", ".join(dict.fromkeys(str(step.n) for step in steps))
        return [first, *(_added(step, scale) for step, scale in zip(steps, scales, strict=True)), Cell(blocks)]

    return Table(
        ladder.title,
        [
            Column(f"beginning with {ladder.foot}", "words"),
            *(
                Column(f"{climb.measure.title} ({scale.unit})", "stacked")
                for climb, scale in zip(ladder.climbs, scales, strict=True)
            ),
            Column("Blocks", narrow=None),
        ],
        [row(named(steps[0].level), steps) for steps in zip(*(climb.steps for climb in ladder.climbs), strict=True)],
        [
            "What each level adds to the one above it, paired within blocks, with its interval. In %: as a share of "
            "the first level's value in the same block, so that the machine's speed cancels. Within noise: the "
            "placebo's own difference may be as large."
        ],
        row(Cell("together"), [climb.total for climb in ladder.climbs]),
    )


def _added(step: Step, scale: Scale) -> Cell:
    found = finding(step.finding, step.within_noise)
    if step.added is None:
        return replace(NOTHING, finding=found)
    return Cell(signed(step.added.mean, scale), within(step.added, scale.show), found)
