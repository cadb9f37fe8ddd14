"""The tables of the experiment's views."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.records import Summary
from lab.report.cells import NOTHING, Finding, Shown, finding
from lab.report.crossings import Crossing
from lab.report.ladders import Climb, Ladder, Step, step_scales
from lab.report.numbers import Scale, ratio, signed, within
from lab.stats.compare import Comparison


@dataclass(frozen=True)
class Added:
    """What a step adds in one measure, and what may be said of it."""

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
    whole: Sequence[Added]


@dataclass(frozen=True)
class CrossingRow:
    """How many times more a level costs beside another level of the second factor than beside its first."""

    metric: str
    level: str
    beside: str
    ratio: Shown
    finding: Finding
    n: str


@dataclass(frozen=True)
class CrossingRows:
    """Two crossed factors' table."""

    title: str
    factors: Sequence[str]
    references: Sequence[str]
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
        cells([climb.whole for climb in ladder.climbs]),
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
            [
                CrossingRow(
                    summary.metrics[metric.metric].title,
                    level,
                    beside,
                    _ratio(found),
                    finding(metric.findings[level, beside]),
                    str(found.n),
                )
                for metric in crossing.metrics
                for (level, beside), found in metric.interactions.items()
            ],
        )
        for crossing in crossings
    ]


def _ratio(found: Comparison) -> Shown:
    return NOTHING if found.ratio is None else Shown(ratio(found.ratio.mean), within(found.ratio, ratio))
