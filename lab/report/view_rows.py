"""The tables of the experiment's views."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.stats.compare import Comparison
from lab.record import Summary
from lab.report.cells import NOTHING, Finding, Shown, finding
from lab.report.crossings import Crossed, Crossing
from lab.report.ladders import Climb, Ladder, Step, step_scales
from lab.report.numbers import Scale, ratio, signed, within


@dataclass(frozen=True)
class Added:
    """What a step adds in one measure, and its finding."""

    shown: Shown
    finding: Finding
    n: str


@dataclass(frozen=True)
class LadderRows:
    """A ladder's table: a row per level above the foot, with a cell per measure, and one for all of them together."""

    title: str
    foot: str
    measures: Sequence[str]
    rows: Sequence[tuple[str, Sequence[Added]]]
    total: Sequence[Added]


@dataclass(frozen=True)
class CrossingRow:
    """What a level costs at a level of the second factor, and how many times more than at its first.

    At the first level itself `more` and the finding are empty.
    """

    metric: str
    level: str
    at: str
    cost: Shown
    more: Shown
    finding: Finding | None
    n: str


@dataclass(frozen=True)
class CrossingRows:
    """Two crossed factors' table. `held`: the levels of the other factors, in words; empty if there are none."""

    title: str
    factors: Sequence[str]
    references: Sequence[str]
    held: str
    rows: Sequence[CrossingRow]


def ladder_rows(ladders: Sequence[Ladder]) -> list[LadderRows]:
    """Build the ladders' tables, their numbers all on the figure's scales."""
    scales = step_scales(ladders)
    return [_ladder(ladder, [scales[climb.measure.title] for climb in ladder.climbs]) for ladder in ladders]


def _ladder(ladder: Ladder, scales: Sequence[Scale]) -> LadderRows:
    def cells(steps: Sequence[Step]) -> list[Added]:
        return [_added(step, scale) for step, scale in zip(steps, scales, strict=True)]

    by_level = zip(*(climb.steps for climb in ladder.climbs), strict=True)
    return LadderRows(
        ladder.title,
        ladder.foot,
        [_heading(climb, scale) for climb, scale in zip(ladder.climbs, scales, strict=True)],
        [(steps[0].level, cells(steps)) for steps in by_level],
        cells([climb.total for climb in ladder.climbs]),
    )


def _heading(climb: Climb, scale: Scale) -> str:
    return f"{climb.measure.title} ({scale.unit})"


def _added(step: Step, scale: Scale) -> Added:
    shown = NOTHING if step.added is None else Shown(signed(step.added.mean, scale), within(step.added, scale.show))
    return Added(shown, finding(step.finding, step.within_noise), str(step.n))


def crossing_rows(summary: Summary, crossings: Sequence[Crossing]) -> list[CrossingRows]:
    """Build the crossed factors' tables."""
    return [
        CrossingRows(
            crossing.title,
            crossing.factors,
            (crossing.first[0], crossing.second[0]),
            " and ".join(f"{factor} {level}" for factor, level in crossing.held.items()),
            [row for metric in crossing.metrics for row in _crossed(summary.metrics[metric.metric].title, metric)],
        )
        for crossing in crossings
    ]


def _crossed(title: str, metric: Crossed) -> list[CrossingRow]:
    return [
        CrossingRow(title, level, at, _ratio(cost), NOTHING, None, str(cost.n))
        if (found := metric.interactions.get((level, at))) is None
        else CrossingRow(
            title, level, at, _ratio(cost), _ratio(found), finding(metric.findings[level, at]), str(found.n)
        )
        for (level, at), cost in metric.ratios.items()
    ]


def _ratio(found: Comparison) -> Shown:
    return NOTHING if found.ratio is None else Shown(ratio(found.ratio.mean), within(found.ratio, ratio))
