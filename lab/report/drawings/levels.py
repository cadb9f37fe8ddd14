"""The figures that show every level: ratios, latencies, use over time, bytes."""

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
from markupsafe import Markup

from lab.record import Estimate, Summary
from lab.report import findings
from lab.report.figures import forest as forest_figure
from lab.report.figures import latency as latency_figure
from lab.report.figures import outages as outages_figure
from lab.report.figures import planes as planes_figure
from lab.report.figures import usage as usage_figure
from lab.report.figures.forest import Group
from lab.report.figures.planes import Planes
from lab.report.figures.ridges import Column, ridges
from lab.report.figures.usage import Line
from lab.report.numbers import bounded, interval, ratio, scale_for
from lab.report.observed import JVM_MEASURES, Curve, Observed, pooled
from lab.report.palette import Colour
from lab.report.source import Source
from lab.report.view import main_metrics


def forest(summary: Summary, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw each level's ratio to the baseline, metric by metric."""
    groups = []
    for name, metric in main_metrics(summary).items():
        rows = [row for level in summary.levels if (row := _forest_row(summary, name, level))]
        placebo = findings.estimate_of(summary, name, summary.placebo)
        if rows:
            groups.append(Group(metric.title, placebo.noise_floor if placebo else None, rows))
    if not groups:
        return None
    said = [f"{group.title}: {row.level} {row.text} {row.finding}" for group in groups for row in group.rows]
    return forest_figure.forest(groups, colours, ". ".join(said))


def _forest_row(summary: Summary, metric: str, level: str) -> forest_figure.Row | None:
    estimate = findings.estimate_of(summary, metric, level)
    if estimate is None or estimate.ratio is None or level == summary.baseline:
        return None
    low = estimate.ratio if estimate.ratio_low is None else estimate.ratio_low
    high = estimate.ratio if estimate.ratio_high is None else estimate.ratio_high
    if not all(isfinite(value) and value > 0 for value in (low, estimate.ratio, high)):
        return None
    within = interval(estimate.ratio_low, estimate.ratio_high, ratio) or "no interval"
    text = f"{bounded(ratio(estimate.ratio), estimate.comparison_censored)} ({within})"
    return forest_figure.Row(level, estimate.ratio, low, high, text, estimate.finding or "")


def latency(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the latencies of each level."""
    levels = []
    for level, trials in _observed(source).items():
        latencies = pooled(level, trials)
        if latencies is not None:
            levels.append(latencies)
    if not levels:
        return None
    names = ", ".join(latencies.level for latencies in levels)
    description = (
        "Left: the density of latencies of each level with its 50th, 95th and 99th percentile. Right: latency over "
        f"percentile, from the actual and from the intended start. Levels: {names}. The table has the numbers."
    )
    return latency_figure.latency(levels, colours, description)


def usage(source: Source, name: str, title: str, unit: str, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the use of something (`name`: cpu or memory) over time."""
    lines: dict[str, list[Line]] = {
        level: [trial.cpu if name == "cpu" else trial.memory for trial in trials]
        for level, trials in _observed(source).items()
    }
    if not lines:
        return None
    description = (
        f"One panel for each of {', '.join(lines)}: {unit} of the services, and of the backends where there are any, "
        "over the seconds since the load began. Thin lines are trials, thick ones their median; the warm-up is shaded."
    )
    return usage_figure.usage(name, title, unit, lines, colours, description)


def outages(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw what share of the requests was served around each level's faults."""
    served = {level: [one for trial in trials for one in trial.served] for level, trials in _observed(source).items()}
    shown = {level: found for level, found in served.items() if found}
    if not shown:
        return None
    description = (
        f"One panel for each of {', '.join(shown)}: the share of requests that were served, by when they were wanted, "
        "over the seconds since the fault began. Thin lines are trials, thick ones all of them; the fault is shaded."
    )
    return outages_figure.outages(shown, colours, description)


def jvm(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw what the services' JVMs did over time: the median of each level's trials."""
    observed = _observed(source)
    columns = []
    for measure in JVM_MEASURES:
        curves = {
            level: [trial.jvm[measure] for trial in trials if measure in trial.jvm]
            for level, trials in observed.items()
        }
        lines = {level: _median(found) for level, found in curves.items() if found}
        if lines:
            columns.append(Column(measure, lines))
    if not columns:
        return None
    window_s = next(
        (trial.cpu.window_start_s, trial.cpu.window_end_s) for trials in observed.values() for trial in trials
    )
    description = (
        f"Over the seconds since the load began, a row per level ({', '.join(columns[0].lines)}): "
        f"{'; '.join(column.title for column in columns)}. The warm-up is shaded."
    )
    return ridges("jvm", "What the JVMs did over time", columns, window_s, colours, description)


def _median(curves: Sequence[Curve]) -> Curve:
    grid = max((time_s for time_s, _ in curves), key=len)
    return grid, np.median([np.interp(grid, time_s, values) for time_s, values in curves], axis=0)


def _observed(source: Source) -> Mapping[str, Sequence[Observed]]:
    """Sort the valid trials by level, in the summary's order."""
    found = {level: [trial for trial in source.observed if trial.level == level] for level in source.summary.levels}
    return {level: trials for level, trials in found.items() if trials}


def planes(summary: Summary, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the bytes per request by plane."""
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
    return planes_figure.planes(levels, scale, colours, ". ".join(said))


def _mean(estimate: Estimate | None) -> float:
    return 0.0 if estimate is None else estimate.mean
