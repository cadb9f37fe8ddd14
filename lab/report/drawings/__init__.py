"""Chooses what each figure shows; a figure that has nothing to show is None, and the page says so in words."""

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from lab.report.compared import Compared
from lab.report.drawings import levels, trials, views
from lab.report.drawings.trials import Trace
from lab.report.drawings.views import Titled
from lab.report.palette import level_colours
from lab.report.source import Source

__all__ = ["Drawings", "Titled", "Trace", "draw_all"]


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
        forest=levels.forest(summary, colours),
        waterfall=views.waterfall(compared.ladders, colours),
        sweeps=[views.sweep(summary, view, index) for index, view in enumerate(compared.sweeps, start=1)],
        crossings=[views.crossing(summary, one, index) for index, one in enumerate(compared.crossings, start=1)],
        frontiers=[
            views.frontier(summary, one, colours, index) for index, one in enumerate(compared.frontiers, start=1)
        ],
        outages=levels.outages(source, colours),
        latency=levels.latency(source, colours),
        cpu=levels.usage(source, "cpu", "CPU over time, per level", "CPUs busy", colours),
        memory=levels.usage(source, "memory", "Memory over time, per level", "working set (MiB)", colours),
        jvm=levels.jvm(source, colours),
        planes=levels.planes(summary, colours),
        traces=trials.traces(source),
        order=trials.order(source, colours),
    )
