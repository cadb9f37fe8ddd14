"""The report's part on published claims, as plain data; `templates/claims.html` shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.claims.records import Answer, Beside, Judged, Part, Verdict, Verdicts
from lab.report import wording
from lab.report.cells import Finding
from lab.report.numbers import Scale, interval, noise, number, percent, scale_for


@dataclass(frozen=True)
class PartRow:
    """A comparison that a claim is made of."""

    metric: str
    compared: str
    estimate: str
    interval: str
    wanted: str
    noise_floor: str
    n: str
    mark: Finding
    reason: str


@dataclass(frozen=True)
class ClaimRow:
    """A claim, its published numbers, and this run's."""

    id: str
    says: str
    published: str
    mark: Finding
    headline: str
    parts: Sequence[PartRow]


@dataclass(frozen=True)
class FigureCell:
    """A published number and this run's."""

    published: str
    here: str
    interval: str


@dataclass(frozen=True)
class FigureTable:
    """Published numbers of metrics that were published for the same levels: a row per level, a cell per metric."""

    metrics: Sequence[str]
    rows: Sequence[tuple[str, Sequence[FigureCell]]]


@dataclass(frozen=True)
class Claims:
    """Everything that the page says about claims."""

    confidence: str
    counts: str
    sources: Sequence[tuple[str, str]]
    rows: Sequence[ClaimRow]
    figures: Sequence[FigureTable]


_MARKS: dict[Verdict | Answer, tuple[str, str]] = {
    "holds": ("✓", "better"),
    "holds here": ("✓", "better"),
    "does not hold": ("✗", "worse"),
    "does not hold here": ("✗", "worse"),
    "inconclusive": ("?", "neutral"),
    "not tested here": ("·", "neutral"),
}


def claims(verdicts: Verdicts) -> Claims:
    """Build the part's words from `claims.json`."""
    found = [judged.verdict for judged in verdicts.claims]
    return Claims(
        confidence=percent(verdicts.confidence),
        counts="; ".join(f"{verdict}: {found.count(verdict)}" for verdict in _MARKS if verdict in found),
        sources=list(verdicts.sources.items()),
        rows=[_claim(judged) for judged in verdicts.claims],
        figures=_figure_tables(verdicts.figures),
    )


def _figure_tables(figures: Sequence[Beside]) -> list[FigureTable]:
    by_metric: dict[str, dict[str, Beside]] = {}
    for beside in figures:
        by_metric.setdefault(beside.metric, {})[beside.level] = beside
    alike: dict[tuple[str, ...], list[str]] = {}
    for metric, by_level in by_metric.items():
        alike.setdefault(tuple(by_level), []).append(metric)
    return [
        _figure_table(levels, [[by_metric[metric][level] for level in levels] for metric in metrics])
        for levels, metrics in alike.items()
    ]


def _figure_table(levels: Sequence[str], columns: Sequence[Sequence[Beside]]) -> FigureTable:
    scales = [scale_for(column[0].unit, [x for one in column for x in (one.published, one.mean)]) for column in columns]
    titles = [
        f"{column[0].title} ({scale.unit})" if scale.unit else column[0].title
        for column, scale in zip(columns, scales, strict=True)
    ]
    cells = [[_figure(one, scale) for one in column] for column, scale in zip(columns, scales, strict=True)]
    return FigureTable(titles, list(zip(levels, zip(*cells, strict=True), strict=True)))


def _figure(beside: Beside, scale: Scale) -> FigureCell:
    """Format each number separately: a table of error rates spans four orders of magnitude."""

    def show(value: float) -> str:
        return number(value / scale.factor)

    here = interval(beside.mean_low, beside.mean_high, show)
    return FigureCell(f"{beside.published / scale.factor:,.5g}", show(beside.mean), here)


def _claim(judged: Judged) -> ClaimRow:
    return ClaimRow(
        id=judged.id,
        says=judged.says,
        published=judged.published or "",
        mark=_mark(judged.verdict),
        headline=wording.headline(judged),
        parts=[_part(part) for part in judged.parts],
    )


def _part(part: Part) -> PartRow:
    return PartRow(
        metric=part.title,
        compared=wording.compared(part),
        estimate=wording.estimate(part),
        interval=wording.interval(part),
        wanted=wording.wanted(part),
        noise_floor=noise(part.noise_floor),
        n=str(part.n),
        mark=_mark(part.answer),
        reason=part.reason or "",
    )


def _mark(word: Verdict | Answer) -> Finding:
    return Finding(word, *_MARKS[word])
