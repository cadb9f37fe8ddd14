"""What became of published claims: the verdicts, their comparisons, and published numbers next to this run's."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.claims.records import Answer, Beside, Judged, Part, Verdict, Verdicts
from lab.report.numbers import DASH, TIMES, Scale, change, interval, noise, number, percent, ratio, scale_for
from lab.report.swept import along
from lab.report.tables import Cell, Column, Finding, Table

_VERBS = {"holds": "hold", "does not hold": "do not hold", "inconclusive": "are inconclusive"}


def headline(judged: Judged) -> str:
    """Say what decided a claim: the comparison of the verdict that is closest to failing, or fails most.

    Where a claim has no verdict though all comparisons have an answer, none decided.
    """
    if judged.verdict == "not tested here":
        return judged.reason or ""
    answer = judged.verdict.removesuffix(" here")
    deciding = [part for part in judged.parts if part.answer == answer]
    shown = describe(min(deciding or judged.parts, key=_slack))
    if len(judged.parts) == 1 or not deciding:
        return shown
    example = "the closest" if answer == "holds" else "such as"
    return f"{len(deciding)} of {len(judged.parts)} comparisons {_VERBS[answer]}, {example}: {shown}"


def describe(part: Part) -> str:
    """Say what a part found: metric, levels, estimate, interval, blocks."""
    bounds = f" ({_interval(part)})" if part.low is not None else ""
    reason = f"; {part.reason}" if part.reason else ""
    return f"{part.title}, {_compared(part)}: {_show(part, part.estimate)}{bounds}, n = {part.n}{reason}"


def _compared(part: Part) -> str:
    """Name what is compared with what."""
    first, last = part.levels[0], part.levels[-1]
    match part.quantity:
        case "value":
            return first
        case "ratio":
            return f"{first} against {last}"
        case "change":
            return f"from {first} to {last}"
        case "overhead ratio":
            return f"overhead of {first} to overhead of {part.levels[1]}"


def _wanted(part: Part) -> str:
    """Name the bounds that the complete interval must lie within."""
    low, high = part.wanted_low, part.wanted_high
    if low is not None and high is not None:
        return f"{_show(part, low)} to {_show(part, high)}"
    if low is not None:
        return "higher" if low == 1 else f"above {_show(part, low)}"
    return "lower" if high == 1 else f"below {_show(part, high)}"


def _interval(part: Part) -> str:
    """Format the interval; empty where there is none."""
    return "" if part.low is None else f"{_show(part, part.low)} to {_show(part, part.high)}"


def _show(part: Part, value: float | None) -> str:
    """Format a part's value as a change, as a factor where it is of overheads."""
    if value is None:
        return DASH
    if part.quantity == "value":
        return number(value)
    return f"{TIMES}{ratio(value)}" if part.quantity == "overhead ratio" else change(value)


def _slack(part: Part) -> float:
    """Return how far inside its bounds the interval ends, as a share of the bound; negative where it reaches out."""
    ends = ((part.low, part.wanted_low, 1), (part.high, part.wanted_high, -1))
    return min(
        side * (end / bound - 1) if end is not None else -math.inf for end, bound, side in ends if bound is not None
    )


@dataclass(frozen=True)
class Claims:
    """Everything that the page says about claims."""

    counts: str
    sources: Sequence[tuple[str, str]]
    verdicts: Table
    comparisons: Sequence[Table]
    """Those that each claim is made of."""
    figures: Sequence[Table]
    """Published numbers and this run's, of the metrics that were published for the same levels."""


_FINDINGS: dict[Verdict | Answer, Finding] = {
    "holds": Finding("holds", "✓", "better"),
    "holds here": Finding("holds here", "✓", "better"),
    "does not hold": Finding("does not hold", "✗", "worse"),
    "does not hold here": Finding("does not hold here", "✗", "worse"),
    "inconclusive": Finding("inconclusive", "?", "neutral"),
    "not tested here": Finding("not tested here", "·", "neutral"),
}


def claims(verdicts: Verdicts) -> Claims:
    """Build the part's words from `claims.json`."""
    found = [judged.verdict for judged in verdicts.claims]
    note = (
        f"( ) are {percent(verdicts.confidence)} intervals. A claim holds if every comparison does. A comparison "
        "fails if its interval, corrected for the claim's number of comparisons, excludes what was claimed. No larger "
        "than: it is inconclusive, and its interval excludes larger differences."
    )
    return Claims(
        counts="; ".join(f"{verdict}: {found.count(verdict)}" for verdict in _FINDINGS if verdict in found),
        sources=list(verdicts.sources.items()),
        verdicts=Table(
            "Published claims",
            [
                Column("Claim", "words", "claim"),
                Column("Published", "words", "published"),
                Column("Verdict", "finding", "verdict"),
                Column("Here", "words", "here"),
            ],
            [
                [
                    Cell(judged.id),
                    Cell(judged.says, detail=judged.published or ""),
                    Cell(finding=_FINDINGS[judged.verdict]),
                    Cell(along(judged, headline(judged))),
                ]
                for judged in verdicts.claims
            ],
            [note],
        ),
        comparisons=[_comparisons(judged) for judged in verdicts.claims if judged.parts],
        figures=_figure_tables(verdicts.figures),
    )


def _comparisons(judged: Judged) -> Table:
    return Table(
        f"{judged.id}: {judged.says}",
        [
            Column("Metric", "words"),
            Column("Compared", "words"),
            Column("Here", "interval"),
            *map(Column, ("Required", "Noise floor", "Blocks")),
            Column("Answer", "finding"),
        ],
        [
            [
                Cell(part.title),
                Cell(_compared(part)),
                Cell(_show(part, part.estimate), _interval(part)),
                *map(Cell, (_wanted(part), noise(part.noise_floor), str(part.n))),
                Cell(finding=_FINDINGS[part.answer], detail=part.reason or ""),
            ]
            for part in judged.parts
        ],
    )


def _figure_tables(figures: Sequence[Beside]) -> list[Table]:
    by_metric: dict[str, dict[str, Beside]] = {}
    for beside in figures:
        row = f"{beside.level}: {beside.by}" if beside.by else beside.level
        by_metric.setdefault(beside.metric, {})[row] = beside
    alike: dict[tuple[str, ...], list[str]] = {}
    for metric, by_level in by_metric.items():
        alike.setdefault(tuple(by_level), []).append(metric)
    return [
        _figure_table(levels, [[by_metric[metric][level] for level in levels] for metric in metrics])
        for levels, metrics in alike.items()
    ]


def _figure_table(levels: Sequence[str], columns: Sequence[Sequence[Beside]]) -> Table:
    """Show published numbers and this run's. With several metrics the terminal has no room for intervals."""
    scales = [scale_for(column[0].unit, [x for one in column for x in (one.published, one.mean)]) for column in columns]
    titles = [
        f"{column[0].title} ({scale.unit})" if scale.unit else column[0].title
        for column, scale in zip(columns, scales, strict=True)
    ]
    alone = len(columns) == 1
    return Table(
        f"Published, and here: {'; '.join(titles)}",
        [
            Column("Level", "words", "level"),
            *(
                column
                for title in titles
                for column in (
                    Column(f"{title}: published", narrow="published" if title == titles[0] else "publ."),
                    Column("here", "interval", "here" if alone else None),
                    Column("", narrow=None if alone else "here"),
                )
            ),
        ],
        [
            [Cell(level), *(cell for one, scale in zip(row, scales, strict=True) for cell in _figure(one, scale))]
            for level, *row in zip(levels, *columns, strict=True)
        ],
        ["Machines, versions and loads differ: compare orders of magnitude only."],
    )


def _figure(beside: Beside, scale: Scale) -> tuple[Cell, Cell, Cell]:
    """Format each number separately: a table of error rates spans four orders of magnitude."""

    def show(value: float) -> str:
        return number(value / scale.factor)

    here = Cell(show(beside.mean), interval(beside.mean_low, beside.mean_high, show))
    return Cell(f"{beside.published / scale.factor:,.5g}"), here, Cell(here.value)
