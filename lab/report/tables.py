"""Plain tables: the text of each cell. The terminal and the page show the same ones."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from textwrap import wrap
from typing import Literal

from lab.analysis.checklist import half_width_points
from lab.record import Estimate, Summary
from lab.report import findings, sameness
from lab.report.numbers import (
    DASH,
    LEAST_SHOWN,
    Scale,
    bounded,
    fixed,
    interval,
    noise,
    number,
    percent,
    ratio,
    ratio_interval,
    scale_for,
    signed,
)

SYMBOLS = {"higher": "▲", "lower": "▼", "same within margin": "=", "inconclusive": "?"}
HEADING_WIDTH = 10
"""Of the main table's columns in the terminal, where all of it is to fit into 100 characters."""
RATIO_WIDTH = len("1.00 (0.99 to 1.01)")


@dataclass(frozen=True)
class Finding:
    """A finding: its words, a symbol, and whether it is good news (`better`, `worse` or `neutral`)."""

    word: str
    symbol: str
    tone: str


@dataclass(frozen=True)
class Cell:
    """A value with its interval as text, and what was found; `detail` is said below in small letters.

    `level`: the cell names a level, which the page shows with its colour. `sure`: the value is set off from others.
    """

    value: str = ""
    interval: str = ""
    finding: Finding | None = None
    detail: str = ""
    level: bool = False
    sure: bool = False

    @property
    def text(self) -> str:
        """Value and interval in one line."""
        within = self.interval if self.interval.startswith("±") else self.interval and f"({self.interval})"
        return f"{self.value} {within}".rstrip()


@dataclass(frozen=True)
class Column:
    """What a column's cells are, and what it is called: without `title` it is not on the page.

    `narrow`: in the terminal, if it is called something else there; None: it is not there. `firm`: it is not folded.
    """

    title: str
    kind: Literal["words", "number", "interval", "finding", "stacked"] = "number"
    narrow: str | None = ""
    firm: bool = False

    @property
    def heading(self) -> str:
        """What the terminal calls it."""
        return self.narrow or self.title


Row = Sequence[Cell]


@dataclass(frozen=True)
class Table:
    """A table and what to know of it. `last`: a row that is set off from the others."""

    title: str
    columns: Sequence[Column]
    rows: Sequence[Row]
    notes: Sequence[str] = ()
    last: Row = ()

    @property
    def on_page(self) -> Sequence[int]:
        """The places of the columns that the page has."""
        return [place for place, column in enumerate(self.columns) if column.title]


NOTHING = Cell(DASH)
LEVEL = Column("Level", "words", "level")


def named(level: str) -> Cell:
    """Return the cell that names a level."""
    return Cell(level, level=True)


def finding(word: str, within_noise: bool = False, better: str = "lower") -> Finding:
    """Return a finding with its symbol and tone; what is not beyond the noise is no news."""
    tone = "neutral" if within_noise or word not in {"higher", "lower"} else "better" if word == better else "worse"
    return Finding(f"{word}, within noise" if within_noise else word, SYMBOLS.get(word, "≈"), tone)


def finding_of(summary: Summary, estimate: Estimate | None) -> Finding | None:
    """Return an estimate's finding; None where it has none."""
    if estimate is None or estimate.finding is None:
        return None
    return finding(
        sameness.name_of_estimate(summary, estimate),
        findings.within_noise(estimate),
        summary.metrics[estimate.metric].better,
    )


def metric_scale(summary: Summary, name: str) -> Scale:
    """Choose how one of the summary's metrics is shown."""
    means = [estimate.mean for estimate in summary.estimates if estimate.metric == name]
    return scale_for(summary.metrics[name].unit if name in summary.metrics else "", means)


def mean_cell(summary: Summary, estimate: Estimate | None) -> Cell:
    """Show a mean on the scale of all levels, with half of its interval, or both ends where these differ."""
    if estimate is None:
        return NOTHING
    scale = metric_scale(summary, estimate.metric)
    mean = bounded(scale.show(estimate.mean), estimate.censored)
    if estimate.mean_low is None or estimate.mean_high is None:
        return Cell(mean)
    if summary.metrics[estimate.metric].share_of:
        return Cell(mean, interval(estimate.mean_low, estimate.mean_high, scale.show))
    return Cell(mean, f"± {scale.show(estimate.mean_high - estimate.mean)}")


def ratio_cell(estimate: Estimate | None) -> Cell:
    """Show a ratio to the baseline."""
    if estimate is None:
        return NOTHING
    shown = bounded(ratio(estimate.ratio), estimate.comparison_censored)
    return Cell(shown, ratio_interval(estimate.ratio_low, estimate.ratio_high))


def difference_cell(estimate: Estimate | None, scale: Scale) -> Cell:
    """Show a difference from the baseline."""
    if estimate is None:
        return NOTHING
    shown = bounded(signed(estimate.difference, scale), estimate.comparison_censored)
    return Cell(shown, interval(estimate.difference_low, estimate.difference_high, scale.show))


def metric_table(summary: Summary, name: str) -> Table:
    """Show all numbers of one of the summary's metrics, a row per level."""
    metric, scale = summary.metrics[name], metric_scale(summary, name)
    rows = {level: summary.estimate_of(name, level) for level in summary.levels}
    # A measure that may be 0 has no ratios, and the terminal no room for empty columns.
    ratios = "" if any(row and row.ratio_low is not None for row in rows.values()) else None
    means = {level: mean_cell(summary, row) for level, row in rows.items()}
    trials = Counter(trial.level for trial in summary.trials if trial.counts and name in trial.values)
    halved = any(mean.interval.startswith("±") for mean in means.values())
    note = f"{'± of a mean and ' if halved else ''}( ) are {percent(summary.confidence)} intervals"
    return Table(
        f"{metric.title} ({scale.unit})" if scale.unit else metric.title,
        [
            LEVEL,
            Column("", narrow="n"),
            Column("Mean", "interval", "mean", True),
            Column("Difference", "interval", "difference"),
            Column("Ratio", "interval", ratios if ratios is None else f"to {summary.baseline}", True),
            Column("", narrow=ratios if ratios is None else "±"),
            Column("Noise floor", narrow=None),
            Column("Finding", "finding", "finding"),
            Column("Trials", narrow=None),
        ],
        [
            [
                named(level),
                Cell(str(trials[level] or (row.n if row else 0))),
                means[level],
                difference_cell(row, scale),
                ratio_cell(row),
                Cell(half_width(row)),
                Cell(noise(row.noise_floor) if row else DASH),
                Cell(finding=finding_of(summary, row)),
                Cell(str(trials[level] or (row.n if row else 0))),
            ]
            for level, row in rows.items()
        ],
        [f"{note}{'' if ratios is None else '; ± of a ratio is half of its interval, in percentage points'}."],
    )


def half_width(estimate: Estimate | None) -> str:
    """Format half of a ratio's interval, in percentage points; empty where there is none."""
    points = half_width_points(estimate)
    return "" if points is None else fixed(points, 1)


def main_table(summary: Summary) -> Table:
    """Show the headline of every level, with the noise floors in the last row if the run had a placebo."""
    primary, columns = summary.headline.primary, summary.headline.columns
    of = {(row.level, row.metric): row for row in summary.estimates}
    floors = {row.metric: row.noise_floor for row in reversed(summary.estimates) if row.noise_floor is not None}
    what = [*wrap(summary.headline.what, HEADING_WIDTH), metric_scale(summary, primary).unit]
    baseline = summary.baseline if len(summary.baseline) <= RATIO_WIDTH else "the baseline"

    def row(level: str) -> Row:
        found = of.get((level, primary))
        return [
            named(level),
            Cell(str(summary.levels[level].trials)),
            mean_cell(summary, found),
            ratio_cell(found) if found and found.ratio is not None else Cell(),
            Cell(finding=finding_of(summary, found)),
            *(_number(of.get((level, column.metric)), column.per) for column in columns),
        ]

    return Table(
        summary.title,
        [
            LEVEL,
            Column("n"),
            Column("\n".join(what), "interval"),
            Column(f"ratio to\n{baseline}", "interval", firm=True),
            Column("finding", "finding"),
            *(Column(column.heading) for column in columns),
        ],
        [row(level) for level in summary.levels],
        [
            f"± and ( ) are {percent(summary.confidence)} intervals. The finding is about "
            f"{summary.title_of(primary)}."
            + (
                f" Noise floor: how far from 1 the interval of the {summary.placebo} (the baseline under another name) "
                "reaches; a smaller difference may be noise."
                if summary.placebo in summary.levels
                else ""
            )
        ],
        [
            Cell("noise floor"),
            Cell(),
            Cell(_floor(floors.get(primary))),
            Cell(),
            Cell(),
            *(Cell(_floor(floors.get(column.metric))) for column in columns),
        ]
        if summary.placebo in summary.levels
        else (),
    )


def _number(estimate: Estimate | None, per: float) -> Cell:
    return Cell(bounded(number(estimate.mean / per), estimate.censored) if estimate else DASH)


def _floor(floor: float | None) -> str:
    # Short: a terminal has 100 columns.
    return "" if floor is None else f"{'±' if LEAST_SHOWN <= floor <= 1 else ''}{noise(floor).replace('below ', '<')}"
