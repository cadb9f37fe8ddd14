"""The experiment's views as tables and panels, and what they compare."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from pydantic import ValidationError

from lab.analysis.stats import Comparison, Interval
from lab.analysis.views import Crossing, Ladder, Measure, Point, Step, climb_ladder, cross, undominated, weigh
from lab.errors import UserError
from lab.record import VERSION_HINT, Summary
from lab.report.facts import mapping
from lab.report.figures.curves import FrontierPanel
from lab.report.numbers import Scale, divided, fixed, number, ratio, scale_for, signed, within
from lab.report.sameness import name_of
from lab.report.tables import LEVEL, NOTHING, Cell, Column, Row, Table, finding, named
from lab.spec import Frontier, Interaction, Sweep, Waterfall, parse_views


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


def crossing_table(summary: Summary, crossing: Crossing) -> Table:
    """Show what a level costs at each level of the second factor, and how many times more than at its first."""
    held = " and ".join(f"{factor} {level}" for factor, level in crossing.held.items())
    return Table(
        f"{crossing.title}{f', at {held}' if held else ''}",
        [
            Column("Metric", "words", "measure"),
            Column(crossing.factors[0], "words"),
            Column(f"at ({crossing.factors[1]})", "words"),
            Column(f"to {crossing.first[0]}", "interval", firm=True),
            Column(f"than at {crossing.second[0]}", "interval", firm=True),
            Column("Finding", "finding", "finding"),
            Column("Blocks", narrow=None),
        ],
        [
            [
                Cell(summary.metrics[metric.metric].title),
                *map(Cell, cell),
                _ratio(cost),
                *(
                    (Cell(), Cell())
                    if found is None
                    else (_ratio(found), Cell(finding=finding(name_of(metric.findings[cell], found.ratio, summary))))
                ),
                Cell(str((found or cost).n)),
            ]
            for metric in crossing.metrics
            for cell, cost in metric.ratios.items()
            for found in (metric.interactions.get(cell),)
        ],
        [
            "Last ratio: how many times larger the cost is than at the other factor's first level, paired within "
            "blocks. 1: the factors' costs multiply, and neither changes the other. Same within margin: the overheads "
            f"differ by less than {100 * summary.equivalence_margin:g} % of the larger one."
        ],
    )


def _ratio(found: Comparison) -> Cell:
    return NOTHING if found.ratio is None else Cell(ratio(found.ratio.mean), within(found.ratio, ratio))


def frontier_panels(summary: Summary, view: Frontier) -> list[FrontierPanel]:
    """Return a panel for each cost that two levels of the view have."""
    panels = []
    for metric, points in weigh(summary, view).items():
        scale = scale_for(summary.metrics[metric].unit, [point.cost.mean for point in points])
        shown = [replace(point, cost=divided(point.cost, scale.factor)) for point in points]
        panels.append(FrontierPanel(f"{summary.metrics[metric].title} ({scale.unit})", shown, undominated(points)))
    return panels


def frontier_table(summary: Summary, view: Frontier) -> Table:
    """Show each level's success rate and costs; no row where there is nothing to compare."""
    panels = frontier_panels(summary, view)
    points = {point.level: point.success for panel in panels for point in panel.points}
    costs = [{point.level: _cost(panel, point) for point in panel.points} for panel in panels]
    return Table(
        view.title,
        [LEVEL, Column("success, %", "interval"), *(Column(panel.title, "interval") for panel in panels)],
        [
            # 99.97 % must not look like 100 %.
            [
                named(level),
                _shown(success, partial(fixed, decimals=2)),
                *(cost.get(level, Cell()) for cost in costs),
            ]
            for level, success in points.items()
        ],
        [
            "Success: share of requests in %. *: no other level succeeds as often at a lower cost, by the estimates "
            "alone; intervals may overlap."
        ],
    )


def _cost(panel: FrontierPanel, point: Point) -> Cell:
    shown = _shown(point.cost, number)
    return replace(shown, value=f"{'* ' if point.level in panel.front else ''}{shown.value}")


def _shown(estimate: Interval, show: Callable[[float], str]) -> Cell:
    return Cell(show(estimate.mean), within(estimate, show))


@dataclass(frozen=True)
class Compared:
    """What the views of a run compare, kind by kind, in the experiment's order."""

    ladders: Sequence[Ladder] = ()
    sweeps: Sequence[Sweep] = ()
    crossings: Sequence[Crossing] = ()
    frontiers: Sequence[Frontier] = ()


def compare_views(summary: Summary, manifest: Mapping[str, Any]) -> Compared:
    """Take the views from the manifest's experiment; raises `UserError` where they are not ones."""
    spec = mapping(manifest.get("spec"))
    try:
        views = parse_views(spec.get("views") or [])
    except ValidationError as error:
        raise UserError("the manifest's views are not ones that this lab knows", VERSION_HINT) from error
    seed = int(manifest.get("seed") or 0)
    factors = {name: list(levels) for name, levels in mapping(spec.get("factors")).items()}
    return Compared(
        [climb_ladder(summary, view, seed) for view in views if isinstance(view, Waterfall)],
        [view for view in views if isinstance(view, Sweep)],
        [cross(summary, view, factors, seed) for view in views if isinstance(view, Interaction)],
        [view for view in views if isinstance(view, Frontier)],
    )
