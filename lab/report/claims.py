"""The report's part on published claims, as plain data; `templates/claims.html` shows it."""

from collections.abc import Sequence
from dataclasses import dataclass

from lab.claims import wording
from lab.claims.records import Answer, Beside, Judged, Part, Verdict, Verdicts
from lab.report.numbers import interval, percent, scale_for


@dataclass(frozen=True)
class Mark:
    """A verdict as the page's macro `finding` shows it."""

    word: str
    symbol: str
    tone: str


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
    mark: Mark
    reason: str


@dataclass(frozen=True)
class ClaimRow:
    """A claim, what was published of it, and what is here."""

    id: str
    says: str
    published: str
    mark: Mark
    headline: str
    parts: Sequence[PartRow]


@dataclass(frozen=True)
class FigureRow:
    """A published number beside this run's."""

    metric: str
    level: str
    published: str
    here: str
    interval: str
    n: str


@dataclass(frozen=True)
class Claims:
    """Everything that the page says of claims."""

    confidence: str
    counts: str
    sources: Sequence[tuple[str, str]]
    rows: Sequence[ClaimRow]
    figures: Sequence[FigureRow]


_MARKS: dict[Verdict | Answer, tuple[str, str]] = {
    "holds": ("✓", "better"),
    "holds here": ("✓", "better"),
    "does not hold": ("✗", "worse"),
    "does not hold here": ("✗", "worse"),
    "cannot tell": ("?", "neutral"),
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
        figures=[_figure(beside) for beside in verdicts.figures],
    )


def _figure(beside: Beside) -> FigureRow:
    scale = scale_for(beside.unit, [beside.published, beside.mean])
    return FigureRow(
        metric=f"{beside.title} ({scale.unit})" if scale.unit else beside.title,
        level=beside.level,
        published=scale.show(beside.published),
        here=scale.show(beside.mean),
        interval=interval(beside.mean_low, beside.mean_high, scale.show),
        n=str(beside.n),
    )


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
        noise_floor=percent(part.noise_floor),
        n=str(part.n),
        mark=_mark(part.answer),
        reason=part.reason or "",
    )


def _mark(word: Verdict | Answer) -> Mark:
    return Mark(word, *_MARKS[word])
