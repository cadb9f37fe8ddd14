"""The figures of the experiment's views: ladders, sweeps, crossed factors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lab.analysis.stats.intervals import Interval
from lab.record import Estimate, Summary
from lab.report import findings
from lab.report.crossings import Crossed, Crossing
from lab.report.figures import crossing as crossing_figure
from lab.report.figures import frontier as frontier_figure
from lab.report.figures import sweep as sweep_figure
from lab.report.figures import waterfall as waterfall_figure
from lab.report.figures.sweep import Point, setting
from lab.report.figures.waterfall import Bar
from lab.report.frontiers import frontier_panels
from lab.report.ladders import Climb, Ladder, Step, step_scales
from lab.report.numbers import Scale, divided, number, ratio, scale_for, signed, within
from lab.report.palette import OTHERS, Colour
from lab.spec import Frontier, Sweep

SIDE_BY_SIDE = 2
SWEPT = (
    "memory_services_mean_mib",
    "latency_p95_ms",
    "bytes_per_request_app",
    "bytes_received_per_request_backends",
    "cpu_per_request_backends_ms",
)
"""The metrics that a sweep shows besides the headline's."""


@dataclass(frozen=True)
class Titled:
    """A view's figure, None where there is nothing to draw, and what it is called."""

    title: str
    figure: Markup | None


def waterfall(ladders: Sequence[Ladder], colours: Mapping[str, Colour]) -> Markup | None:
    """Draw all ladders side by side, a row of panels per measure."""
    scales = step_scales(ladders)
    rows = [
        [_panel(ladder, climb, scale) for ladder in row for climb in ladder.climbs if climb.measure.title == title]
        for row in (ladders[index : index + SIDE_BY_SIDE] for index in range(0, len(ladders), SIDE_BY_SIDE))
        for title, scale in scales.items()
    ]
    drawn = [row for row in rows if row]
    if not drawn:
        return None
    said = [
        f"{panel.title}: {', '.join(f'{bar.label} {bar.text}' for bar in panel.bars)}" for row in drawn for panel in row
    ]
    return waterfall_figure.waterfall(drawn, colours, ". ".join(said))


def _panel(ladder: Ladder, climb: Climb, scale: Scale) -> waterfall_figure.Panel:
    foot = "" if climb.foot is None else f"{scale.show(climb.foot)} {scale.unit}"
    bars = [Bar(ladder.foot, foot)]
    reached = 0.0
    for step in climb.steps:
        bars.append(_bar(step.level, step, scale, step.level, reached))
        reached += step.added.mean / scale.factor if step.added else 0.0
    bars.append(_bar("together", climb.total, scale))
    return waterfall_figure.Panel(
        f"{ladder.title}: {climb.measure.title}", f"{scale.unit} beyond the first level", bars
    )


def _bar(label: str, step: Step, scale: Scale, level: str | None = None, start: float = 0.0) -> Bar:
    if step.added is None:
        return Bar(label, "no shared block")
    text = f"{signed(step.added.mean, scale)} ({within(step.added, scale.show) or 'no interval'})"
    return Bar(label, text, level, start, divided(step.added, scale.factor), step.sure)


def sweep(summary: Summary, view: Sweep, index: int) -> Titled:
    """Draw what follows the setting: ratios where the baseline has the metric, means where it has not."""
    metrics = dict.fromkeys((summary.headline.primary, *SWEPT))
    panels = [panel for metric in metrics if (panel := _swept(summary, view, metric)) is not None]
    if not panels:
        return Titled(view.title, None)
    said = [
        f"{panel.title}: "
        + ", ".join(f"{number(point.estimate.mean)} at {setting(point.value)}" for point in panel.points)
        for panel in panels
    ]
    colour = OTHERS[(index - 1) % len(OTHERS)]
    name, description = f"sweep-{index}", ". ".join(said)
    drawn = sweep_figure.sweep(name, view.title, view.axis, view.scale, panels, colour, description)
    return Titled(view.title, drawn)


def _swept(summary: Summary, view: Sweep, metric: str) -> sweep_figure.Panel | None:
    found = {
        value: estimate
        for level, value in zip(view.levels, view.values, strict=True)
        if (estimate := findings.estimate_of(summary, metric, level)) is not None
    }
    if not found:
        return None
    title, unit = summary.metrics[metric].title, summary.metrics[metric].unit
    ratios = [Point(value, one) for value, estimate in found.items() if (one := _ratio(summary, estimate)) is not None]
    if ratios and any(estimate.ratio is not None for estimate in found.values()):
        return sweep_figure.Panel(title, True, next(iter(found.values())).noise_floor, ratios)
    scale = scale_for(unit, [estimate.mean for estimate in found.values()])
    means = [
        Point(value, divided(Interval(one.mean, one.mean_low, one.mean_high), scale.factor))
        for value, one in found.items()
    ]
    return sweep_figure.Panel(f"{title} ({scale.unit})", False, None, means)


def _ratio(summary: Summary, estimate: Estimate) -> Interval | None:
    if estimate.level == summary.baseline:
        return Interval(1.0)
    return None if estimate.ratio is None else Interval(estimate.ratio, estimate.ratio_low, estimate.ratio_high)


def frontier(summary: Summary, view: Frontier, colours: Mapping[str, Colour], index: int) -> Titled:
    """Draw what each level costs against how often it succeeds."""
    panels = frontier_panels(summary, view)
    if not panels:
        return Titled(view.title, None)
    said = [
        f"{panel.title}: {point.level} {number(point.cost.mean)} at {number(point.success.mean)} %"
        for panel in panels
        for point in panel.points
    ]
    drawn = frontier_figure.frontier(f"frontier-{index}", view.title, panels, colours, ". ".join(said))
    return Titled(view.title, drawn)


def crossing(summary: Summary, crossed: Crossing, index: int) -> Titled:
    """Draw what the first factor's levels cost at each level of the second."""
    if not crossed.metrics:
        return Titled(crossed.title, None)
    first, second = crossed.factors
    panels = [_crossed(summary, crossed, metric) for metric in crossed.metrics]
    said = [
        f"{panel.title}: {level} at {place} {ratio(found.mean)}"
        for panel in panels
        for level, line in panel.lines.items()
        for place, found in zip(panel.places, line, strict=True)
        if found is not None
    ]
    description = f"Ratios of {first} to {crossed.first[0]}, at each level of {second}. {'. '.join(said)}"
    drawn = crossing_figure.crossing(f"crossing-{index}", crossed.title, second, panels, description)
    return Titled(crossed.title, drawn)


def _crossed(summary: Summary, crossed: Crossing, metric: Crossed) -> crossing_figure.Panel:
    lines = {
        a: [metric.ratios[a, b].ratio if (a, b) in metric.ratios else None for b in crossed.second]
        for a in crossed.first[1:]
    }
    return crossing_figure.Panel(summary.metrics[metric.metric].title, crossed.second, lines)
