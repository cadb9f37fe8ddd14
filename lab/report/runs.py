"""The tables of several runs: combined, and one compared with another."""

import json
from collections.abc import Sequence
from typing import Any

from lab.analysis.designs import MISSING, Difference
from lab.analysis.stats import Interval
from lab.analysis.two_runs import Compared
from lab.record import Combined, CombinedEstimate, RunValue, Summary
from lab.report.numbers import DASH, Scale, interval, number, percent, ratio, scale_for
from lab.report.sameness import name_of
from lab.report.tables import LEVEL, NOTHING, Cell, Column, Finding, Row, Table, finding, named, ratio_cell

MOST_BESIDE = 5
"""More runs do not fit beside the mean: each has a row of its own."""
LONGEST_VALUE = 30
COUNTS = "A run counts if at most 10 % of its blocks were rejected, and at most half had not settled."
SYMBOLS = {"differs": "≠", "same within margin": "=", "inconclusive": "?"}


def combined_tables(combined: Combined) -> list[Table]:
    """Return the runs, the headline, each of few runs beside the mean, and the other measures of the main table."""
    used = [run for run in combined.runs if run.left_out is None]
    return [
        _runs(combined),
        _headline(combined),
        _beside(combined) if len(used) <= MOST_BESIDE else _below(combined),
        *([_others(combined)] if _columns(combined) else []),
    ]


def remarks(combined: Combined) -> list[str]:
    """Return what to know of combined runs: rejections, what they do not share, and whether they say what is next."""
    rejected: dict[str, int] = {}
    for run in combined.runs:
        for level, count in run.rejected.items():
            rejected[level] = rejected.get(level, 0) + count
    counts = ", ".join(f"{level} {count}" for level, count in rejected.items() if count)
    left_out = ", ".join(f"{run.run} ({run.left_out})" for run in combined.runs if run.left_out)
    return [
        f"Rejected trials, over all runs: {counts or 'none'}.",
        *([f"Left out: {left_out}. {COUNTS}"] if left_out else []),
        *([f"The runs do not share: {', '.join(combined.differences)}."] if combined.differences else []),
        *([f"{combined.no_prediction}."] if combined.no_prediction else []),
    ]


def _runs(combined: Combined) -> Table:
    unsettled = any(run.not_settled_blocks for run in combined.runs)
    columns = [
        Column("Run"),
        Column("Folder", "words"),
        Column("Started", "words"),
        Column("Seed"),
        Column("Blocks"),
        Column("Rejected"),
        *([Column("Not settled")] if unsettled else []),
        Column("Counts", "words"),
    ]
    rows = [
        [
            Cell(str(number)),
            Cell(run.run),
            Cell(run.started[:16].replace("T", " ")),
            Cell(str(run.seed)),
            Cell(str(run.blocks)),
            Cell(str(run.rejected_blocks)),
            *([Cell(str(run.not_settled_blocks))] if unsettled else []),
            Cell("no" if run.left_out else "yes"),
        ]
        for number, run in enumerate(combined.runs, 1)
    ]
    return Table(f"{len(combined.runs)} runs of {combined.experiment}: {combined.title}", columns, rows)


def _headline(combined: Combined) -> Table:
    """Show the primary metric: its mean, and the ratio of the next run before that of the mean where it is known."""
    primary = combined.headline.primary
    rows = rows_of(combined, primary)
    scale = _scale(combined, primary)
    predicted = any(row.next_low is not None for row in rows)
    floor = noise_floor(combined, primary)
    shown_confidence = percent(combined.confidence)
    return Table(
        combined.metrics[primary].title,
        [
            LEVEL,
            Column("Runs", narrow="runs"),
            Column("Mean", "interval", scale.unit),
            *([Column("Ratio of the next run", "interval", "ratio of\nthe next run", True)] if predicted else []),
            Column("Mean ratio", "interval", "mean\nratio", True),
            Column("Between runs", narrow="between\nruns"),
            Column("Finding", "finding", "finding"),
        ],
        [
            [
                named(row.level),
                Cell(str(row.n)),
                _mean(row, scale),
                *([_next(row)] if predicted else []),
                _ratio(row),
                Cell(DASH if row.log_ratio_sd is None else percent(row.log_ratio_sd)),
                Cell(finding=_finding(combined, row, floor)),
            ]
            for row in rows
        ],
        [
            *(
                [
                    f"Ratio of the next run: ( ) is the {shown_confidence} prediction interval, which holds the ratio "
                    "of one more run of this design on this machine."
                ]
                if predicted
                else []
            ),
            f"± and ( ) of means are {shown_confidence} intervals over runs. Between runs: standard deviation of the "
            "ratio's logarithm. The finding is about the mean ratio."
            + ("" if floor is None else f" Noise floor: {percent(floor)}, from the {combined.placebo}."),
        ],
    )


def _beside(combined: Combined) -> Table:
    primary = combined.headline.primary
    used = [(number, run.run) for number, run in enumerate(combined.runs, 1) if run.left_out is None]
    rows: list[Row] = []
    for row in rows_of(combined, primary):
        if row.ratio is not None:
            of_run = {value.run: value for value in row.runs}
            cells = (of_run.get(run) for _, run in used)
            values = (
                Cell(ratio(one.ratio), detail=interval(one.ratio_low, one.ratio_high, ratio)) if one else NOTHING
                for one in cells
            )
            rows.append([named(row.level), _ratio(row), *values])
    return Table(
        "Ratio to the baseline in each run",
        [
            LEVEL,
            Column("Mean ratio", "interval", "mean ratio", True),
            *(Column(f"Run {number}", narrow=f"run {number}") for number, _ in used),
        ],
        rows,
    )


def _below(combined: Combined) -> Table:
    """Show each of many runs in a row, its levels side by side."""
    found = [row for row in rows_of(combined, combined.headline.primary) if row.ratio is not None]
    of_run = [{value.run: value for value in row.runs} for row in found]
    rows = [
        [Cell(str(number)), *(_ratio(values[run.run]) if run.run in values else NOTHING for values in of_run)]
        for number, run in enumerate(combined.runs, 1)
        if run.left_out is None
    ]
    headings = (Column(row.level, "interval", row.level) for row in found)
    return Table("Ratio to the baseline in each run", [Column("Run"), *headings], rows)


def _others(combined: Combined) -> Table:
    columns = _columns(combined)
    found = {metric: {row.level: row for row in rows_of(combined, metric)} for metric, _, _ in columns}
    levels = dict.fromkeys(row.level for metric, _, _ in columns for row in rows_of(combined, metric))

    def cell(row: CombinedEstimate | None, per: float) -> Cell:
        return NOTHING if row is None else _mean(row, scale_for("", [row.mean / per]), per)

    return Table(
        "Other measures",
        [LEVEL, *(Column(heading) for _, heading, _ in columns)],
        [[named(level), *(cell(found[metric].get(level), per) for metric, _, per in columns)] for level in levels],
    )


def _columns(combined: Combined) -> list[tuple[str, str, float]]:
    return [(one.metric, one.heading, one.per) for one in combined.headline.columns if rows_of(combined, one.metric)]


def rows_of(combined: Combined, metric: str) -> list[CombinedEstimate]:
    """Return a metric's rows, in the order of levels."""
    return [row for row in combined.estimates if row.metric == metric]


def noise_floor(combined: Combined, metric: str) -> float | None:
    """Return how far from 1 the placebo's headline interval reaches; None where it has none."""
    for row in rows_of(combined, metric):
        ends = (row.ratio_low, row.ratio_high) if row.next_low is None else (row.next_low, row.next_high)
        if row.level == combined.placebo and None not in ends:
            return max(abs(end - 1) for end in ends if end is not None)
    return None


def _finding(combined: Combined, row: CombinedEstimate, floor: float | None) -> Finding | None:
    if row.finding is None or row.ratio is None:
        return None
    noise = floor is not None and row.finding in {"higher", "lower"} and abs(row.ratio - 1) <= floor
    word = name_of(row.finding, Interval(row.ratio, row.ratio_low, row.ratio_high), combined, of="")
    return finding(word, noise, combined.metrics[row.metric].better)


def _scale(combined: Combined, metric: str) -> Scale:
    return scale_for(combined.metrics[metric].unit, [row.mean for row in rows_of(combined, metric)])


def _mean(row: CombinedEstimate, scale: Scale, per: float = 1.0) -> Cell:
    reach = "" if row.mean_high is None else f"± {scale.show((row.mean_high - row.mean) / per)}"
    return Cell(scale.show(row.mean / per), reach)


def _ratio(row: CombinedEstimate | RunValue) -> Cell:
    return NOTHING if row.ratio is None else Cell(ratio(row.ratio), interval(row.ratio_low, row.ratio_high, ratio))


def _next(row: CombinedEstimate) -> Cell:
    return NOTHING if row.next_low is None else Cell(ratio(row.ratio), interval(row.next_low, row.next_high, ratio))


def differences_table(differences: Sequence[Difference], names: tuple[str, str]) -> Table:
    """Show in what two manifests differ, a row per field."""
    return Table(
        "Differences of the manifests",
        [Column("Field", "words"), *(Column(name, "words") for name in names)],
        [[Cell(one.path), Cell(_short(one.one)), Cell(_short(one.other))] for one in differences],
        [] if differences else ["none, besides the seed and the times"],
    )


def _short(value: Any) -> str:
    if value is MISSING:
        return DASH
    if isinstance(value, float):
        return number(value)
    text = " ".join((value if isinstance(value, str) else json.dumps(value)).split())
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1]}…"


def contrast_table(one: Summary, metric: str, rows: Sequence[Compared], names: tuple[str, str]) -> Table:
    """Show a metric of two runs: each one's ratio to its baseline, and the second ratio divided by the first."""
    return Table(
        f"{one.metrics[metric].title}: ratio to the baseline",
        [
            LEVEL,
            *(Column(name, "interval", name, True) for name in names),
            Column("Second / first", "interval", "second / first", True),
            Column("Finding", "finding", "finding"),
        ],
        [
            [
                named(row.level),
                ratio_cell(row.one),
                ratio_cell(row.other),
                _quotient(row.quotient),
                Cell(finding=_contrast(one, row)),
            ]
            for row in rows
        ],
        [
            f"( ) are {percent(one.confidence)} intervals within a run; second / first has Welch's, wider "
            "where blocks are correlated. Runs of one design also differ by more than these say: `lab combine` shows "
            "by how much."
        ],
    )


def _contrast(one: Summary, row: Compared) -> Finding:
    word = name_of(row.word, row.quotient, one)
    return Finding(word, SYMBOLS.get(word, "≈"), "neutral")


def _quotient(found: Interval | None) -> Cell:
    return NOTHING if found is None else Cell(ratio(found.mean), interval(found.low, found.high, ratio))
