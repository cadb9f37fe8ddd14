"""Chooses what each figure shows; a figure that has nothing to show is None, and the page says so in words."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from markupsafe import Markup

from lab.analysis.stats import Interval
from lab.analysis.views import Climb, Crossed, Crossing, Ladder, Step
from lab.record import Estimate, Summary, TrialRecord, TrialSummary
from lab.report.compared import Compared, frontier_panels, step_scales
from lab.report.figures import bars, curves, over_time
from lab.report.figures import latency as latency_figure
from lab.report.figures import trials as single
from lab.report.loads import loads
from lab.report.numbers import Scale, bounded, divided, number, ratio, ratio_interval, scale_for, signed, within
from lab.report.palette import OTHERS, Colour, level_colours
from lab.report.sameness import name_of_estimate
from lab.report.source import JVM_MEASURES, Curve, Observed, Source, pooled
from lab.report.view import main_metrics
from lab.spec import Frontier, Sweep


def forest(summary: Summary, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw each level's ratio to the baseline, metric by metric."""
    groups = []
    for name, metric in main_metrics(summary).items():
        rows = [row for level in summary.levels if (row := _forest_row(summary, name, level))]
        placebo = summary.estimate_of(name, summary.placebo)
        if rows:
            groups.append(bars.Group(metric.title, placebo.noise_floor if placebo else None, rows))
    if not groups:
        return None
    said = [f"{group.title}: {row.level} {row.text} {row.finding}" for group in groups for row in group.rows]
    return bars.forest(groups, colours, ". ".join(said))


def _forest_row(summary: Summary, metric: str, level: str) -> bars.Row | None:
    estimate = summary.estimate_of(metric, level)
    if estimate is None or estimate.ratio is None or level == summary.baseline:
        return None
    low, high = (estimate.ratio if bound is None else bound for bound in (estimate.ratio_low, estimate.ratio_high))
    if not all(isfinite(value) and value > 0 for value in (low, estimate.ratio, high)):
        return None
    within = ratio_interval(estimate.ratio_low, estimate.ratio_high) or "no interval"
    text = f"{bounded(ratio(estimate.ratio), estimate.comparison_censored)} ({within})"
    return bars.Row(
        level, estimate.ratio, low, high, text, name_of_estimate(summary, estimate) if estimate.finding else ""
    )


def latency(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the latencies of each level."""
    levels = [one for level, trials in _observed(source).items() if (one := pooled(level, trials)) is not None]
    if not levels:
        return None
    return latency_figure.latency(
        levels,
        colours,
        "Left: the density of latencies of each level with its 50th, 95th and 99th percentile. Right: latency over "
        "percentile, from the actual and from the intended start. "
        f"Levels: {', '.join(one.level for one in levels)}. The table has the numbers.",
    )


def usage(source: Source, name: str, title: str, unit: str, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the use of something (`name`: cpu or memory) over time."""
    lines: dict[str, list[over_time.Line]] = {
        level: [trial.cpu if name == "cpu" else trial.memory for trial in trials]
        for level, trials in _observed(source).items()
    }
    if not lines:
        return None
    description = (
        f"One panel for each of {', '.join(lines)}: {unit} of the services, and of the backends where there are any, "
        "over the seconds since the load began. Thin lines are trials, thick ones their median; the warm-up is shaded."
    )
    return over_time.usage(name, title, unit, lines, colours, description)


def outages(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw what share of the requests was served around each level's faults."""
    shown = {
        level: found
        for level, trials in _observed(source).items()
        if (found := [one for trial in trials for one in trial.served])
    }
    if not shown:
        return None
    description = (
        f"One panel for each of {', '.join(shown)}: the share of requests that were served, by when they were wanted, "
        "over the seconds since the fault began. Thin lines are trials, thick ones all of them; the fault is shaded."
    )
    return over_time.outages(shown, colours, description)


def jvm(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw what the services' JVMs did over time: the median of each level's trials."""
    observed = _observed(source)
    lines = {
        measure: {
            level: _median(found)
            for level, trials in observed.items()
            if (found := [trial.jvm[measure] for trial in trials if measure in trial.jvm])
        }
        for measure in JVM_MEASURES
    }
    columns = [over_time.Column(measure, medians) for measure, medians in lines.items() if medians]
    if not columns:
        return None
    window_s = next(
        (trial.cpu.window_start_s, trial.cpu.window_end_s) for trials in observed.values() for trial in trials
    )
    description = (
        f"Over the seconds since the load began, a row per level ({', '.join(columns[0].lines)}): "
        f"{'; '.join(column.title for column in columns)}. The warm-up is shaded."
    )
    return over_time.ridges("jvm", "What the JVMs did over time", columns, window_s, colours, description)


def _median(curves: Sequence[Curve]) -> Curve:
    grid = max((time_s for time_s, _ in curves), key=len)
    return grid, np.median([np.interp(grid, time_s, values) for time_s, values in curves], axis=0)


def _observed(source: Source) -> Mapping[str, Sequence[Observed]]:
    """Sort the valid trials by level, in the summary's order."""
    return {
        level: trials
        for level in source.summary.levels
        if (trials := [trial for trial in source.observed if trial.level == level])
    }


def planes(summary: Summary, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the bytes per request by plane."""
    app = {level: summary.estimate_of("bytes_per_request_app", level) for level in summary.levels}
    export = {level: summary.estimate_of("bytes_per_request_telemetry", level) for level in summary.levels}
    present = {level: estimate for level, estimate in app.items() if estimate is not None}
    if not present:
        return None
    baseline = app.get(summary.baseline)
    scale = scale_for("bytes", [estimate.mean for estimate in present.values()])
    own = {level: min(one.mean, baseline.mean if baseline else one.mean) for level, one in present.items()}
    levels = [
        bars.Planes(level, own[level], one.mean - own[level], exported.mean if (exported := export[level]) else 0.0)
        for level, one in present.items()
    ]
    said = [
        f"{bar.level}: application {scale.show(bar.application)}, context propagation {scale.show(bar.context)}, "
        f"export {scale.show(bar.export)} {scale.unit}"
        for bar in levels
    ]
    return bars.planes(levels, scale, colours, ". ".join(said))


MOST_SPANS = 1500
"""A topology may make ten thousand calls per request. More bars than this only make the page large."""


@dataclass(frozen=True)
class Trace:
    """A level's trace, drawn; how many spans it has, in words; the levels whose traces differ only in their times.

    `second_start`: see `Source.second_starts`.
    """

    level: str
    extent: str
    figure: Markup
    alike: Sequence[str]
    second_start: bool


def traces(source: Source) -> list[Trace]:
    """Draw a trace of each level that has one. Equal traces are drawn once."""
    drawn = []
    traced = {level: source.traces[level] for level in source.summary.levels if source.traces.get(level)}
    alike: dict[Hashable, list[str]] = {}
    for level, spans in traced.items():
        # Traces of one instrumentation have that in common, whichever service received the request.
        tree = frozenset(Counter((span.kind, span.depth, span.tags) for span in spans).items())
        alike.setdefault(tree, []).append(level)
    for index, (level, *others) in enumerate(alike.values(), start=1):
        spans = traced[level]
        description = (
            f"A request of {level}: {len(spans)} spans of {', '.join(dict.fromkeys(span.service for span in spans))}, "
            f"{number(max(span.end_ms for span in spans))} ms in all."
        )
        shown = spans[:MOST_SPANS]
        extent = f"{len(spans)} spans" if shown == spans else f"{len(spans)} spans, the first {len(shown)} drawn"
        figure = single.gantt(f"trace-{index}", shown, description)
        drawn.append(Trace(level, extent, figure, others, level in source.second_starts))
    return drawn


def order(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the outcome of each planned trial."""
    known = [
        cell for cell in order_cells(source.manifest, source.trials, source.summary.trials) if cell.level in colours
    ]
    if not known:
        return None
    said = [
        f"trial {cell.number}: block {cell.block + 1}, position {cell.position + 1}, {cell.level}, {cell.outcome}"
        for cell in known
    ]
    return single.order(known, colours, ". ".join(said))


def order_cells(
    manifest: Mapping[str, Any], trials: Sequence[TrialRecord], summarised: Sequence[TrialSummary] = ()
) -> list[single.Cell]:
    """Return the outcome of each planned trial. Without a plan in the manifest, these are the trials that were run.

    A sample has the records of few trials; its summary has all trials. If a run ended early by its protocol, blocks
    that were not begun are left out.
    """
    planned = {trial.number: (trial.block, trial.position, trial.level) for trial in trials}
    begun = {trial.block for trial in trials} | {trial.block for trial in summarised}
    # The name of a trial's folder begins with its number.
    summed_up = [(int(trial.trial.partition("-")[0]), trial.valid) for trial in summarised]
    for entry in manifest.get("order") or []:
        if isinstance(entry, Mapping) and (entry["block"] in begun or not manifest.get("stopped")):
            planned.setdefault(entry["number"], (entry["block"], entry["position"], entry["level"]))
    cells = []
    for trial_number, (block, position, level) in sorted(planned.items()):
        attempts = [valid for number, valid in summed_up if number == trial_number]
        attempts = attempts or [trial.valid for trial in trials if trial.number == trial_number]
        outcome = "valid" if any(attempts) else "rejected" if attempts else "not run"
        rejected = attempts.count(False)
        cells.append(single.Cell(trial_number, block, position, level, outcome, rejected))
    return cells


SIDE_BY_SIDE = 2


@dataclass(frozen=True)
class Titled:
    """A view's figure, None where there is nothing to draw, and what it is called."""

    title: str
    figure: Markup | None


def waterfall(ladders: Sequence[Ladder], colours: Mapping[str, Colour]) -> Markup | None:
    """Draw all ladders side by side, a row of panels per measure."""
    scales = step_scales(ladders)
    drawn = [
        panels
        for row in (ladders[index : index + SIDE_BY_SIDE] for index in range(0, len(ladders), SIDE_BY_SIDE))
        for title, scale in scales.items()
        if (
            panels := [_panel(one, climb, scale) for one in row for climb in one.climbs if climb.measure.title == title]
        )
    ]
    if not drawn:
        return None
    said = [
        f"{panel.title}: {', '.join(f'{bar.label} {bar.text}' for bar in panel.bars)}" for row in drawn for panel in row
    ]
    return bars.waterfall(drawn, colours, ". ".join(said))


def _panel(ladder: Ladder, climb: Climb, scale: Scale) -> bars.Panel:
    foot = "" if climb.foot is None else f"{scale.show(climb.foot)} {scale.unit}"
    drawn = [bars.Bar(ladder.foot, foot)]
    reached = 0.0
    for step in climb.steps:
        drawn.append(_bar(step.level, step, scale, step.level, reached))
        reached += step.added.mean / scale.factor if step.added else 0.0
    drawn.append(_bar("together", climb.total, scale))
    return bars.Panel(f"{ladder.title}: {climb.measure.title}", f"{scale.unit} beyond the first level", drawn)


def _bar(label: str, step: Step, scale: Scale, level: str | None = None, start: float = 0.0) -> bars.Bar:
    if step.added is None:
        return bars.Bar(label, "no shared block")
    text = f"{signed(step.added.mean, scale)} ({within(step.added, scale.show) or 'no interval'})"
    return bars.Bar(label, text, level, start, divided(step.added, scale.factor), step.sure)


def sweep(summary: Summary, view: Sweep, index: int) -> Titled:
    """Draw what follows the setting: ratios where the baseline has the metric, means where it has not."""
    metrics = dict.fromkeys((summary.headline.primary, *summary.headline.main))
    panels = [panel for metric in metrics if (panel := _swept(summary, view, metric)) is not None]
    if not panels:
        return Titled(view.title, None)
    said = [
        f"{panel.title}: "
        + ", ".join(f"{number(point.estimate.mean)} at {curves.setting(point.value)}" for point in panel.points)
        for panel in panels
    ]
    colour = OTHERS[(index - 1) % len(OTHERS)]
    return Titled(
        view.title,
        curves.sweep(f"sweep-{index}", view.title, view.axis, view.scale, panels, colour, ". ".join(said)),
    )


def _swept(summary: Summary, view: Sweep, metric: str) -> curves.SweepPanel | None:
    found = {
        value: estimate
        for level, value in zip(view.levels, view.values, strict=True)
        if (estimate := summary.estimate_of(metric, level)) is not None
    }
    if not found:
        return None
    title, unit = summary.metrics[metric].title, summary.metrics[metric].unit
    ratios = [
        curves.SweepPoint(value, one)
        for value, estimate in found.items()
        if (one := _ratio(summary, estimate)) is not None
    ]
    if ratios and any(estimate.ratio is not None for estimate in found.values()):
        return curves.SweepPanel(title, True, next(iter(found.values())).noise_floor, ratios)
    scale = scale_for(unit, [estimate.mean for estimate in found.values()])
    means = [
        curves.SweepPoint(value, divided(Interval(one.mean, one.mean_low, one.mean_high), scale.factor))
        for value, one in found.items()
    ]
    return curves.SweepPanel(f"{title} ({scale.unit})", False, None, means)


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
    return Titled(view.title, curves.frontier(f"frontier-{index}", view.title, panels, colours, ". ".join(said)))


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
    return Titled(crossed.title, curves.crossing(f"crossing-{index}", crossed.title, second, panels, description))


def _crossed(summary: Summary, crossed: Crossing, metric: Crossed) -> curves.CrossingPanel:
    lines = {
        a: [metric.ratios[a, b].ratio if (a, b) in metric.ratios else None for b in crossed.second]
        for a in crossed.first[1:]
    }
    return curves.CrossingPanel(summary.metrics[metric.metric].title, crossed.second, lines)


@dataclass(frozen=True)
class Drawings:
    """The page's figures."""

    forest: Markup | None = None
    waterfall: Markup | None = None
    sweeps: Sequence[Titled] = ()
    crossings: Sequence[Titled] = ()
    frontiers: Sequence[Titled] = ()
    outages: Markup | None = None
    latency: Markup | None = None
    loads: Sequence[tuple[str, Markup, str]] = ()
    cpu: Markup | None = None
    memory: Markup | None = None
    jvm: Markup | None = None
    planes: Markup | None = None
    traces: Sequence[Trace] = ()
    order: Markup | None = None


def draw_all(source: Source, compared: Compared) -> Drawings:
    """Draw every figure of a run."""
    summary = source.summary
    colours = level_colours(list(summary.levels), summary.baseline, summary.placebo)
    return Drawings(
        forest=forest(summary, colours),
        waterfall=waterfall(compared.ladders, colours),
        sweeps=[sweep(summary, view, index) for index, view in enumerate(compared.sweeps, start=1)],
        crossings=[crossing(summary, one, index) for index, one in enumerate(compared.crossings, start=1)],
        frontiers=[frontier(summary, one, colours, index) for index, one in enumerate(compared.frontiers, start=1)],
        outages=outages(source, colours),
        latency=latency(source, colours),
        loads=loads(source, colours),
        cpu=usage(source, "cpu", "CPU over time, per level", "CPUs busy", colours),
        memory=usage(source, "memory", "Memory over time, per level", "RSS (MiB)", colours),
        jvm=jvm(source, colours),
        planes=planes(summary, colours),
        traces=traces(source),
        order=order(source, colours),
    )
