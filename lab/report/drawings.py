"""Chooses what each figure shows; a figure that has nothing to show is None, and the page says so in words."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from markupsafe import Markup

from lab.records import Estimate, Summary, TrialRecord
from lab.report import findings
from lab.report.figures.forest import Group, forest
from lab.report.figures.forest import Row as ForestRow
from lab.report.figures.gantt import gantt
from lab.report.figures.latency import latency
from lab.report.figures.order import Cell, order
from lab.report.figures.planes import Planes, planes
from lab.report.figures.usage import Line, usage
from lab.report.numbers import interval, number, ratio, scale_for
from lab.report.observed import pooled
from lab.report.palette import Colour, level_colours
from lab.report.source import Source
from lab.report.view import main_metrics

MOST_SPANS = 1500
"""A topology may make ten thousand calls per request: more bars than this only make the page heavy."""


@dataclass(frozen=True)
class Trace:
    """A level's trace, drawn, and in words how many spans it has."""

    level: str
    extent: str
    figure: Markup


@dataclass(frozen=True)
class Drawings:
    """The page's figures."""

    forest: Markup | None
    latency: Markup | None
    cpu: Markup | None
    memory: Markup | None
    planes: Markup | None
    traces: Sequence[Trace]
    order: Markup | None


def draw_all(source: Source) -> Drawings:
    """Draw every figure of a run."""
    summary = source.summary
    colours = level_colours(list(summary.levels), summary.baseline, summary.placebo)
    return Drawings(
        forest=_forest(summary, colours),
        latency=_latency(source, colours),
        cpu=_usage(source, "cpu", "CPU over time, per level", "CPUs busy", colours),
        memory=_usage(source, "memory", "Memory over time, per level", "working set (MiB)", colours),
        planes=_planes(summary, colours),
        traces=_traces(source),
        order=_order(source, colours),
    )


def _forest(summary: Summary, colours: Mapping[str, Colour]) -> Markup | None:
    groups = []
    for name, metric in main_metrics(summary).items():
        rows = [row for level in summary.levels if (row := _forest_row(summary, name, level))]
        placebo = findings.estimate_of(summary, name, summary.placebo)
        if rows:
            groups.append(Group(metric.title, placebo.noise_floor if placebo else None, rows))
    if not groups:
        return None
    said = [f"{group.title}: {row.level} {row.text} {row.finding}" for group in groups for row in group.rows]
    return forest(groups, colours, ". ".join(said))


def _forest_row(summary: Summary, metric: str, level: str) -> ForestRow | None:
    estimate = findings.estimate_of(summary, metric, level)
    if estimate is None or estimate.ratio is None or level == summary.baseline:
        return None
    low = estimate.ratio if estimate.ratio_low is None else estimate.ratio_low
    high = estimate.ratio if estimate.ratio_high is None else estimate.ratio_high
    if not all(isfinite(value) and value > 0 for value in (low, estimate.ratio, high)):
        return None
    within = interval(estimate.ratio_low, estimate.ratio_high, ratio) or "no interval"
    text = f"{ratio(estimate.ratio)} ({within})"
    return ForestRow(level, estimate.ratio, low, high, text, estimate.finding or "")


def _latency(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    levels = []
    for level in source.summary.levels:
        trials = [trial for trial in source.observed if trial.level == level]
        latencies = pooled(level, trials) if trials else None
        if latencies is not None:
            levels.append(latencies)
    if not levels:
        return None
    names = ", ".join(latencies.level for latencies in levels)
    description = (
        "Left: the density of latencies of each level with its 50th, 95th and 99th percentile. Right: latency over "
        f"percentile, from the actual and from the intended start. Levels: {names}. The table has the numbers."
    )
    return latency(levels, colours, description)


def _usage(source: Source, name: str, title: str, unit: str, colours: Mapping[str, Colour]) -> Markup | None:
    lines: dict[str, list[Line]] = {}
    for level in source.summary.levels:
        trials = [trial for trial in source.observed if trial.level == level]
        if trials:
            lines[level] = [trial.cpu if name == "cpu" else trial.memory for trial in trials]
    if not lines:
        return None
    description = (
        f"One panel for each of {', '.join(lines)}: {unit} of the services, and of the backends where there are any, "
        "over the seconds since the load began. Thin lines are trials, thick ones their median; the warm-up is shaded."
    )
    return usage(name, title, unit, lines, colours, description)


def _planes(summary: Summary, colours: Mapping[str, Colour]) -> Markup | None:
    app = {level: findings.estimate_of(summary, "bytes_per_request_app", level) for level in summary.levels}
    export = {level: findings.estimate_of(summary, "bytes_per_request_telemetry", level) for level in summary.levels}
    present = {level: estimate for level, estimate in app.items() if estimate is not None}
    if not present:
        return None
    baseline = app.get(summary.baseline)
    scale = scale_for("bytes", [estimate.mean for estimate in present.values()])
    levels = []
    for level, estimate in present.items():
        own = estimate.mean if baseline is None else min(baseline.mean, estimate.mean)
        levels.append(Planes(level, own, estimate.mean - own, _mean(export[level])))
    said = [
        f"{bar.level}: application {scale.show(bar.application)}, context propagation {scale.show(bar.context)}, "
        f"export {scale.show(bar.export)} {scale.unit}"
        for bar in levels
    ]
    return planes(levels, scale, colours, ". ".join(said))


def _mean(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.mean


def _traces(source: Source) -> list[Trace]:
    drawn = []
    traced = {level: source.traces[level] for level in source.summary.levels if source.traces.get(level)}
    for index, (level, spans) in enumerate(traced.items(), start=1):
        services = ", ".join(dict.fromkeys(span.service for span in spans))
        description = (
            f"A request of {level}: {len(spans)} spans of {services}, "
            f"{number(max(span.end_ms for span in spans))} ms in all."
        )
        shown = spans[:MOST_SPANS]
        extent = f"{len(spans)} spans" if shown == spans else f"{len(spans)} spans, the first {len(shown)} drawn"
        drawn.append(Trace(level, extent, gantt(f"trace-{index}", shown, description)))
    return drawn


def _order(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    cells = order_cells(source.manifest, source.trials)
    known = [cell for cell in cells if cell.level in colours]
    if not known:
        return None
    said = [
        f"trial {cell.number}: block {cell.block + 1}, position {cell.position + 1}, {cell.level}, {cell.outcome}"
        for cell in known
    ]
    return order(known, colours, ". ".join(said))


def order_cells(manifest: Mapping[str, Any], trials: Sequence[TrialRecord]) -> list[Cell]:
    """Say what became of each planned trial; those that were run count as planned where the manifest has no plan."""
    planned = {trial.number: (trial.block, trial.position, trial.level) for trial in trials}
    for entry in manifest.get("order") or []:
        if isinstance(entry, Mapping):
            planned.setdefault(entry["number"], (entry["block"], entry["position"], entry["level"]))
    cells = []
    for trial_number, (block, position, level) in sorted(planned.items()):
        attempts = [trial for trial in trials if trial.number == trial_number]
        valid = any(trial.valid for trial in attempts)
        outcome = "valid" if valid else "refused" if attempts else "not run"
        refused = sum(not trial.valid for trial in attempts)
        cells.append(Cell(trial_number, block, position, level, outcome, refused))
    return cells
