"""Latency: each level's distribution, and its tail from when requests were due and from when they were sent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, MaxNLocator, NullLocator
from numpy.typing import NDArray

from lab.report.figures.curves import LEADER_IN, LONGEST_LABEL, label_ends
from lab.report.numbers import number, short
from lab.report.palette import INK, MUTED, Colour
from lab.report.svg import Margins, draw, names_in, panels, plain_ticks, quiet

ROW_IN = 0.62
MARKS_IN = 1.45
"""Room for three percentiles below a level's name."""
MARKED = (0.5, 0.95, 0.99)
TAIL_TICKS = (0.5, 0.9, 0.99, 0.999, 0.9999)
CURVE_POINTS = 200


@dataclass(frozen=True)
class Latencies:
    """A level's answered requests in the window, all its trials together, in milliseconds, sorted."""

    level: str
    from_start_ms: NDArray[np.float64]
    from_intended_ms: NDArray[np.float64]


def latency(levels: Sequence[Latencies], colours: Mapping[str, Colour], description: str) -> Markup:
    """Draw the densities (left) and the percentiles (right)."""
    names = [short(level.level) for level in levels]
    margins = Margins(
        left=max(names_in(names), MARKS_IN),
        right=names_in(short(name, LONGEST_LABEL) for name in names) + LEADER_IN,
        across=0.75,
    )
    height = max(3.4, len(levels) * ROW_IN + margins.high)

    def fill(figure: Figure) -> None:
        density, tail = panels(figure, 1, 2, margins)[0]
        _densities(density, levels, colours)
        _tails(tail, levels, colours, (margins.wide(2), height - margins.high))

    return draw("latency", "Distribution of latencies per level", description, height, fill)


def _densities(axes: Axes, levels: Sequence[Latencies], colours: Mapping[str, Colour]) -> None:
    axes.set_xscale("log")
    for index, level in enumerate(levels):
        baseline_y = len(levels) - 1 - index
        colour = colours[level.level].light
        x, y = _density(level.from_start_ms)
        axes.fill_between(x, baseline_y, baseline_y + 0.75 * y, color=colour, alpha=0.35, linewidth=0)
        axes.plot(x, baseline_y + 0.75 * y, color=colour, linewidth=1.4)
        for fraction in MARKED:
            value = float(np.quantile(level.from_start_ms, fraction))
            axes.plot([value, value], [baseline_y - 0.02, baseline_y + 0.1], color=INK.light, linewidth=1.2)
        marks = " · ".join(number(float(np.quantile(level.from_start_ms, fraction))) for fraction in MARKED)
        left = axes.get_yaxis_transform()
        axes.annotate(short(level.level), (0, baseline_y), (-6, 13), left, "offset points", ha="right")
        axes.annotate(marks, (0, baseline_y), (-6, 1), left, "offset points", ha="right", fontsize=8, color=MUTED.light)
    axes.set_yticks([])
    axes.set_ylim(-0.15, len(levels) - 0.1)
    axes.set_xlabel("latency from the actual start (ms, logarithmic); marks: p50 · p95 · p99")
    axes.set_title("Density")
    quiet(axes, "x")
    _plain_log_ticks(axes)


def _plain_log_ticks(axes: Axes) -> None:
    low, high = axes.get_xlim()
    subs = (1.0, 2.0, 5.0) if high / low > 10 else (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axes.xaxis.set_major_locator(LogLocator(subs=subs))
    axes.xaxis.set_minor_locator(NullLocator())
    plain_ticks(axes.xaxis)


def _density(values_ms: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Estimate the density on a logarithmic scale, with its highest point at 1.

    A kernel estimate with a normal kernel of Scott's width (Scott, Multivariate Density Estimation, 1992).
    """
    logs = np.log(np.maximum(values_ms, 1e-3))
    middle, spread_of = float(np.median(logs)), float(np.std(logs))
    if spread_of < 1e-6:
        return np.exp(middle + np.array([-0.01, 0.0, 0.01])), np.array([0.0, 1.0, 0.0])
    width = len(logs) ** -0.2 * spread_of
    x = np.linspace(float(logs.min()) - 3 * width, float(logs.max()) + 3 * width, CURVE_POINTS)
    y = np.exp(-(((x[:, np.newaxis] - logs) / width) ** 2) / 2).sum(axis=1)
    return np.exp(x), y / y.max()


def _tails(
    axes: Axes, levels: Sequence[Latencies], colours: Mapping[str, Colour], size_in: tuple[float, float]
) -> None:
    """Draw latency over percentile, each further nine as far from the last as that from the one before."""
    ends = {}
    for level in levels:
        count = len(level.from_start_ms)
        beyond = np.logspace(np.log10(0.5), np.log10(min(0.5, 1 / count)), 80)
        colour = colours[level.level].light
        for values, dashes in ((level.from_start_ms, "-"), (level.from_intended_ms, (0, (2, 2)))):
            axes.plot(-np.log10(beyond), np.quantile(values, 1 - beyond), linestyle=dashes, color=colour, linewidth=1.6)
        ends[level.level] = (-np.log10(beyond[-1]), float(np.quantile(level.from_start_ms, 1 - beyond[-1])))
    axes.set_ylim(0, 1.08 * max(float(level.from_intended_ms[-1]) for level in levels))
    right = max(-np.log10(0.1), *(x for x, _ in ends.values()))
    axes.set_xlim(-np.log10(0.5), right)
    label_ends(axes, ends, colours, size_in)
    ticks = [tick for tick in TAIL_TICKS if -np.log10(1 - tick) <= right + 1e-9]
    axes.xaxis.set_major_locator(FixedLocator([float(-np.log10(1 - tick)) for tick in ticks]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda _, index: f"p{ticks[index or 0] * 100:g}"))
    axes.yaxis.set_major_locator(MaxNLocator(6))
    axes.set_xlabel("percentile; solid from the actual, dashed from the intended start")
    axes.set_ylabel("latency (ms)")
    axes.set_title("Tail")
    axes.tick_params(axis="x", pad=7)
    quiet(axes, "y")
