"""The page's words and tables as plain data: everything is computed here, the templates only show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.records import Estimate, MetricSummary, Summary, TrialRecord
from lab.report import facts, findings
from lab.report.facts import Document, Facts
from lab.report.numbers import DASH, Scale, change, duration, percent, ratio, scale_for
from lab.report.palette import PLACEBO, Colour, level_colours

MAIN = (
    "cpu_per_request_services_ms",
    "cpu_per_request_backends_ms",
    "memory_services_mean_mib",
    "latency_p50_ms",
    "latency_p95_ms",
    "bytes_per_request_app",
    "bytes_per_request_telemetry",
    "startup_s",
)
"""The metrics of the overview, the first table and the interval plots, in this order; the others come after."""

SYMBOLS = {"higher": "▲", "lower": "▼", "same within margin": "=", "cannot tell": "?"}


@dataclass(frozen=True)
class Finding:
    """A finding: its words, a symbol, and whether it is good news (`better`, `worse` or `neutral`)."""

    word: str
    symbol: str
    tone: str


@dataclass(frozen=True)
class Glance:
    """A cell of the overview: the change from the baseline and what was found."""

    change: str
    interval: str
    finding: Finding | None


@dataclass(frozen=True)
class GlanceRow:
    """A level's row of the overview."""

    level: str
    colour: str
    cells: Sequence[Glance]


@dataclass(frozen=True)
class Row:
    """A level's row in a metric's part of the table."""

    level: str
    colour: str
    mean: str
    mean_interval: str
    difference: str
    difference_interval: str
    ratio: str
    ratio_interval: str
    noise_floor: str
    finding: Finding | None
    n: str


@dataclass(frozen=True)
class MetricRows:
    """A metric's part of the table."""

    title: str
    unit: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Answer:
    """The answer for one level."""

    level: str
    colour: str
    text: str


@dataclass(frozen=True)
class Refusal:
    """A refused attempt and why."""

    trial: str
    level: str
    block: str
    attempt: str
    reasons: Sequence[str]


@dataclass(frozen=True)
class Page:
    """Everything that the page says outside its figures."""

    title: str
    question: str
    experiment: str
    compared: str
    counts: Sequence[tuple[str, str]]
    answers: Sequence[Answer]
    placebo_name: str
    placebo_colour: str
    placebo: str
    cautions: Sequence[str]
    glance_titles: Sequence[str]
    glance: Sequence[GlanceRow]
    table: Sequence[MetricRows]
    other_table: Sequence[MetricRows]
    refusals: Sequence[Refusal]
    facts: Sequence[Facts]
    documents: Sequence[Document]
    commands: Sequence[str]
    rerun_note: str
    confidence: str
    baseline: str
    margin: str


def page(summary: Summary, manifest: Mapping[str, Any], trials: Sequence[TrialRecord]) -> Page:
    """Build the page's words from the summary, the manifest and the trials' verdicts."""
    colours = level_colours(list(summary.levels), summary.baseline, summary.placebo)
    spec = facts.mapping(manifest.get("spec"))
    main = main_metrics(summary)
    others = {name: metric for name, metric in summary.metrics.items() if name not in main}
    return Page(
        title=summary.title,
        question=" ".join(str(spec.get("question") or "").split()),
        experiment=summary.experiment,
        compared=_compared(summary),
        counts=_counts(summary, trials, manifest),
        answers=[Answer(level, colours[level].variable, text) for level, text in findings.answers(summary)],
        placebo_name=summary.placebo,
        placebo_colour=PLACEBO.variable,
        placebo=findings.placebo_sentence(summary),
        cautions=findings.cautions(summary),
        glance_titles=[metric.title for metric in _compared_metrics(summary).values()],
        glance=_glance(summary, colours),
        table=_table(summary, main, colours),
        other_table=_table(summary, others, colours),
        refusals=[_refusal(trial) for trial in trials if not trial.valid],
        facts=facts.facts(manifest),
        documents=facts.documents(manifest),
        commands=facts.commands(manifest),
        rerun_note=facts.rerun_note(manifest),
        confidence=percent(summary.confidence),
        baseline=summary.baseline,
        margin=percent(summary.equivalence_margin),
    )


def main_metrics(summary: Summary) -> Mapping[str, MetricSummary]:
    """Choose the metrics that come first; all of them where the summary has none of `MAIN`."""
    return {name: summary.metrics[name] for name in MAIN if name in summary.metrics} or summary.metrics


def _compared(summary: Summary) -> str:
    levels = findings.compared_levels(summary)
    names = f"{', '.join(levels[:-1])} and {levels[-1]}" if len(levels) > 1 else "".join(levels) or "nothing"
    return f"{names} against {summary.baseline}"


def _counts(summary: Summary, trials: Sequence[TrialRecord], manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    valid = [trial for trial in trials if trial.valid]
    blocks = {trial.block for trial in trials}
    took_s = facts.durations_s(manifest)
    return [
        _count(len(summary.levels), "level", "levels"),
        _count(len(blocks), "block", "blocks"),
        _count(len(valid), "valid trial", "valid trials"),
        _count(len(trials) - len(valid), "refused attempt", "refused attempts"),
        *([(duration(took_s.get("total", sum(took_s.values()))), "in all")] if took_s else []),
    ]


def _count(count: int, one: str, many: str) -> tuple[str, str]:
    return str(count), one if count == 1 else many


def _finding(estimate: Estimate, metric: MetricSummary) -> Finding | None:
    word = estimate.finding
    if word is None:
        return None
    if findings.within_noise(estimate):
        return Finding(f"{word}, within noise", SYMBOLS[word], "neutral")
    tone = "neutral" if word not in {"higher", "lower"} else "better" if word == metric.better else "worse"
    return Finding(word, SYMBOLS[word], tone)


def _compared_metrics(summary: Summary) -> Mapping[str, MetricSummary]:
    having = {estimate.metric for estimate in summary.estimates if estimate.difference or estimate.ratio}
    return {name: metric for name, metric in main_metrics(summary).items() if name in having}


def _glance(summary: Summary, colours: Mapping[str, Colour]) -> list[GlanceRow]:
    return [
        GlanceRow(
            level,
            colours[level].variable,
            [_glance_cell(summary, name, metric, level) for name, metric in _compared_metrics(summary).items()],
        )
        for level in summary.levels
        if level != summary.baseline
    ]


def _glance_cell(summary: Summary, name: str, metric: MetricSummary, level: str) -> Glance:
    estimate = findings.estimate_of(summary, name, level)
    if estimate is None:
        return Glance(DASH, "", None)
    if estimate.ratio is not None:
        return Glance(change(estimate.ratio), findings.change_interval(estimate), _finding(estimate, metric))
    scale = _scale(metric, [found for found in summary.estimates if found.metric == name])
    return Glance(
        f"{signed(estimate.difference, scale)} {scale.unit}".rstrip(),
        interval(estimate.difference_low, estimate.difference_high, scale),
        _finding(estimate, metric),
    )


def _table(summary: Summary, metrics: Mapping[str, MetricSummary], colours: Mapping[str, Colour]) -> list[MetricRows]:
    return [_metric_rows(summary, name, metric, colours) for name, metric in metrics.items()]


def _metric_rows(summary: Summary, name: str, metric: MetricSummary, colours: Mapping[str, Colour]) -> MetricRows:
    estimates = [estimate for estimate in summary.estimates if estimate.metric == name]
    scale = _scale(metric, estimates)
    found = {estimate.level: estimate for estimate in estimates}
    return MetricRows(
        title=metric.title,
        unit=scale.unit,
        rows=[_row(level, colours[level].variable, found.get(level), metric, scale) for level in summary.levels],
    )


def _scale(metric: MetricSummary, estimates: Sequence[Estimate]) -> Scale:
    return scale_for(metric.unit, [estimate.mean for estimate in estimates])


def _row(level: str, colour: str, estimate: Estimate | None, metric: MetricSummary, scale: Scale) -> Row:
    if estimate is None:
        return Row(level, colour, DASH, "", DASH, "", DASH, "", DASH, None, "0")
    return Row(
        level=level,
        colour=colour,
        mean=scale.show(estimate.mean),
        mean_interval=interval(estimate.mean_low, estimate.mean_high, scale),
        difference=signed(estimate.difference, scale),
        difference_interval=interval(estimate.difference_low, estimate.difference_high, scale),
        ratio=ratio(estimate.ratio),
        ratio_interval=ratio_interval(estimate.ratio_low, estimate.ratio_high),
        noise_floor=percent(estimate.noise_floor),
        finding=_finding(estimate, metric),
        n=str(estimate.n),
    )


def signed(value: float | None, scale: Scale) -> str:
    """Format a difference with its sign, in the scale's unit."""
    if value is None:
        return DASH
    text = scale.show(value)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def interval(low: float | None, high: float | None, scale: Scale) -> str:
    """Format an interval in the scale's unit, empty where there is none."""
    if low is None or high is None:
        return ""
    return f"{scale.show(low)} to {scale.show(high)}"


def ratio_interval(low: float | None, high: float | None) -> str:
    """Format an interval of ratios, empty where there is none."""
    return "" if low is None or high is None else f"{ratio(low)} to {ratio(high)}"


def _refusal(trial: TrialRecord) -> Refusal:
    return Refusal(
        trial=str(trial.number),
        level=trial.level,
        block=str(trial.block + 1),
        attempt=str(trial.attempt),
        reasons=list(trial.reasons) or ["no reason was recorded"],
    )
