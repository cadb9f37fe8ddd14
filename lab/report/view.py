"""The page's words and tables as plain data. Everything is computed here; the templates only show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.record import Estimate, MetricSummary, Summary, TrialRecord
from lab.report import facts, findings
from lab.report.answers import Answer, answers
from lab.report.cells import NOTHING, Finding, Shown, finding_of
from lab.report.compared import Compared
from lab.report.facts import Document, Facts
from lab.report.numbers import (
    DASH,
    Scale,
    bounded,
    duration,
    interval,
    noise,
    percent,
    ratio,
    scale_for,
    signed,
)
from lab.report.palette import level_colours
from lab.report.view_rows import CrossingRows, LadderRows, crossing_rows, ladder_rows


@dataclass(frozen=True)
class Glance:
    """A cell of the overview: the change from the baseline and what was found."""

    change: Shown
    finding: Finding | None


@dataclass(frozen=True)
class Row:
    """A level's row in a metric's part of the table."""

    level: str
    mean: Shown = NOTHING
    difference: Shown = NOTHING
    ratio: Shown = NOTHING
    noise_floor: str = DASH
    finding: Finding | None = None
    n: str = "0"


@dataclass(frozen=True)
class MetricRows:
    """A metric's part of the table."""

    title: str
    unit: str
    rows: Sequence[Row]


@dataclass(frozen=True)
class Rejection:
    """A rejected attempt and why."""

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
    colours: Mapping[str, str]
    """The CSS variable of each level's colour."""
    answers: Sequence[Answer]
    cautions: Sequence[str]
    order: str
    remarks: list[str]
    glance_titles: Sequence[str]
    glance: Mapping[str, Sequence[Glance]]
    """A row per level."""
    table: Sequence[MetricRows]
    other_table: Sequence[MetricRows]
    ladders: Sequence[LadderRows]
    crossings: Sequence[CrossingRows]
    rejections: Sequence[Rejection]
    facts: Sequence[Facts]
    documents: Sequence[Document]
    commands: Sequence[str]
    rerun_note: str
    confidence: str
    baseline: str
    references: str
    margin: str


def page(summary: Summary, manifest: Mapping[str, Any], trials: Sequence[TrialRecord], compared: Compared) -> Page:
    """Build the page's words from the summary, the manifest, the trials' verdicts and what the views compare."""
    colours = level_colours(list(summary.levels), summary.baseline, summary.placebo)
    spec = facts.mapping(manifest.get("spec"))
    main = main_metrics(summary)
    others = [name for name in summary.metrics if name not in main]
    return Page(
        title=summary.title,
        question=" ".join(str(spec.get("question") or "").split()),
        experiment=summary.experiment,
        compared=_compared(summary),
        counts=_counts(summary, trials, manifest),
        colours={level: colour.variable for level, colour in colours.items()},
        answers=[
            *answers(summary, manifest, compared.crossings),
            Answer(summary.placebo, findings.placebo_sentence(summary), summary.placebo),
        ],
        cautions=[*findings.cautions(summary), *facts.shared_machine(manifest)],
        order=facts.order(manifest),
        remarks=findings.remarks(summary),
        glance_titles=[metric.title for metric in _compared_metrics(summary).values()],
        glance=_glance(summary),
        table=[metric_rows(summary, name) for name in main],
        other_table=[metric_rows(summary, name) for name in others],
        ladders=ladder_rows(compared.ladders),
        crossings=crossing_rows(summary, compared.crossings),
        rejections=[_rejection(trial) for trial in trials if not trial.valid],
        facts=facts.facts(manifest),
        documents=facts.documents(manifest),
        commands=facts.commands(manifest),
        rerun_note=facts.rerun_note(manifest),
        confidence=percent(summary.confidence),
        baseline=summary.baseline,
        references=findings.references(summary),
        margin=percent(summary.equivalence_margin),
    )


def main_metrics(summary: Summary) -> Mapping[str, MetricSummary]:
    """Return the headline's metrics that the summary has; all metrics where it has none of them."""
    main = summary.headline.main
    return {name: summary.metrics[name] for name in main if name in summary.metrics} or summary.metrics


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
        _count(len(trials) - len(valid), "rejected attempt", "rejected attempts"),
        *([(duration(took_s.get("total", sum(took_s.values()))), "in all")] if took_s else []),
    ]


def _count(count: int, one: str, many: str) -> tuple[str, str]:
    return str(count), one if count == 1 else many


def _compared_metrics(summary: Summary) -> Mapping[str, MetricSummary]:
    having = {estimate.metric for estimate in summary.estimates if estimate.difference or estimate.ratio}
    return {name: metric for name, metric in main_metrics(summary).items() if name in having}


def _glance(summary: Summary) -> Mapping[str, Sequence[Glance]]:
    metrics = _compared_metrics(summary)
    return {
        level: [_glance_cell(summary, name, metric, level) for name, metric in metrics.items()]
        for level in summary.levels
        if level != summary.baseline
    }


def _glance_cell(summary: Summary, name: str, metric: MetricSummary, level: str) -> Glance:
    estimate = findings.estimate_of(summary, name, level)
    if estimate is None:
        return Glance(NOTHING, None)
    finding = finding_of(estimate, metric.better)
    if estimate.ratio is not None:
        return Glance(Shown(findings.change_of(estimate), findings.change_interval(estimate)), finding)
    scale = scale_for(metric.unit, [estimate.difference or 0.0])
    shown = _difference(estimate, scale)
    return Glance(Shown(f"{shown.value} {scale.unit}".rstrip(), shown.interval), finding)


def metric_rows(summary: Summary, name: str) -> MetricRows:
    """Build the part of the table of one of the summary's metrics."""
    metric, scale = summary.metrics[name], metric_scale(summary, name)
    estimates = {estimate.level: estimate for estimate in summary.estimates if estimate.metric == name}
    rows = [_row(estimates[level], metric, scale) if level in estimates else Row(level) for level in summary.levels]
    return MetricRows(metric.title, scale.unit, rows)


def metric_scale(summary: Summary, name: str) -> Scale:
    """Choose how one of the summary's metrics is shown."""
    means = [estimate.mean for estimate in summary.estimates if estimate.metric == name]
    return scale_for(summary.metrics[name].unit if name in summary.metrics else "", means)


def _row(estimate: Estimate, metric: MetricSummary, scale: Scale) -> Row:
    return Row(
        level=estimate.level,
        mean=Shown(
            bounded(scale.show(estimate.mean), estimate.censored),
            interval(estimate.mean_low, estimate.mean_high, scale.show),
        ),
        difference=_difference(estimate, scale),
        ratio=Shown(
            bounded(ratio(estimate.ratio), estimate.comparison_censored),
            interval(estimate.ratio_low, estimate.ratio_high, ratio),
        ),
        noise_floor=noise(estimate.noise_floor),
        finding=finding_of(estimate, metric.better),
        n=str(estimate.n),
    )


def _difference(estimate: Estimate, scale: Scale) -> Shown:
    return Shown(
        bounded(signed(estimate.difference, scale), estimate.comparison_censored),
        interval(estimate.difference_low, estimate.difference_high, scale.show),
    )


def _rejection(trial: TrialRecord) -> Rejection:
    return Rejection(
        trial=str(trial.number),
        level=trial.level,
        block=str(trial.block + 1),
        attempt=str(trial.attempt),
        reasons=list(trial.reasons) or ["no reason was recorded"],
    )
