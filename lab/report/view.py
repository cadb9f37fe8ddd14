"""The page's words and tables as plain data. Everything is computed here; the templates only show it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from lab.analysis.sets import rejections
from lab.record import Estimate, MetricSummary, Summary, TrialRecord
from lab.report import facts, findings
from lab.report.answers import Answer, answers
from lab.report.compared import Compared, crossing_table, frontier_table, ladder_tables
from lab.report.numbers import duration, percent, scale_for
from lab.report.overhead import machine_used
from lab.report.palette import level_colours
from lab.report.tables import (
    LEVEL,
    NOTHING,
    Cell,
    Column,
    Table,
    difference_cell,
    finding_of,
    metric_table,
    named,
)

MOST_NAMED = 12
"""So many levels are named above the answer; the tables name all."""


@dataclass(frozen=True)
class Page:
    """Everything that the page says outside its figures."""

    summary: Summary
    question: str
    compared: str
    counts: Sequence[tuple[str, str]]
    colours: Mapping[str, str]
    """The CSS variable of each level's colour."""
    answers: Sequence[Answer]
    cautions: Sequence[str]
    order: str
    remarks: list[str]
    glance: Table
    table: Sequence[Table]
    """A table for each of the headline's metrics."""
    other_table: Sequence[Table]
    ladders: Sequence[Table]
    crossings: Sequence[Table]
    frontiers: Sequence[Table]
    rejections: Table
    facts: Mapping[str, facts.Rows]
    documents: Mapping[str, str]
    commands: Sequence[str]
    rerun_note: str
    confidence: str
    references: str
    margin: str
    requests: bool


def page(summary: Summary, manifest: Mapping[str, Any], trials: Sequence[TrialRecord], compared: Compared) -> Page:
    """Build the page's words from the summary, the manifest, the trials' verdicts and what the views compare."""
    colours = level_colours(list(summary.levels), summary.baseline, summary.placebo)
    main = main_metrics(summary)
    return Page(
        summary=summary,
        question=" ".join(str(facts.mapping(manifest.get("spec")).get("question") or "").split()),
        compared=_compared(summary),
        counts=_counts(summary, manifest),
        colours={level: colour.variable for level, colour in colours.items()},
        answers=[
            *answers(summary, manifest, compared.crossings),
            Answer(
                summary.placebo,
                findings.placebo_sentence(summary),
                summary.placebo if summary.placebo in summary.levels else None,
            ),
        ],
        cautions=[*findings.cautions(summary), *facts.shared_machine(manifest)],
        order=facts.order(manifest, trials),
        remarks=[*findings.remarks(summary), *machine_used(summary)],
        glance=_glance(summary),
        table=[metric_table(summary, name) for name in main],
        other_table=[metric_table(summary, name) for name in summary.metrics if name not in main],
        ladders=ladder_tables(compared.ladders),
        crossings=[crossing_table(summary, crossing) for crossing in compared.crossings],
        frontiers=[frontier_table(summary, view) for view in compared.frontiers],
        rejections=_rejections(trials, rejections(summary)),
        facts=facts.facts(manifest),
        documents=facts.documents(manifest),
        commands=facts.commands(manifest),
        rerun_note=facts.rerun_note(manifest),
        confidence=percent(summary.confidence),
        references=findings.references(summary),
        margin=percent(summary.equivalence_margin),
        # What is missing of requests is said in words, but not where the target has none.
        requests=any("requests" in trial.streams for trial in trials) or not any(trial.streams for trial in trials),
    )


def main_metrics(summary: Summary) -> Mapping[str, MetricSummary]:
    """Return the headline's metrics that the summary has; all metrics where it has none of them."""
    return {name: summary.metrics[name] for name in summary.headline.main if name in summary.metrics} or summary.metrics


def _compared(summary: Summary) -> str:
    levels = findings.compared_levels(summary)
    listed = " and ".join(filter(None, (", ".join(levels[:-1]), *levels[-1:])))
    which = listed if len(levels) <= MOST_NAMED else f"{len(levels)} levels"
    alone = "with itself, under another name" if summary.placebo in summary.levels else "with nothing, as it ran alone"
    return f"{which} against {summary.baseline}" if levels else f"{summary.baseline} {alone}"


def _counts(summary: Summary, manifest: Mapping[str, Any]) -> list[tuple[str, str]]:
    valid = [trial for trial in summary.trials if trial.valid]
    took_s = facts.durations_s(manifest)
    return [
        _count(len(summary.levels), "level", "levels"),
        _count(len({trial.block for trial in summary.trials}), "block", "blocks"),
        _count(len(valid), "valid trial", "valid trials"),
        _count(len(summary.trials) - len(valid), "rejected attempt", "rejected attempts"),
        *([(duration(took_s.get("total", sum(took_s.values()))), "in all")] if took_s else []),
    ]


def _count(count: int, one: str, many: str) -> tuple[str, str]:
    return str(count), one if count == 1 else many


def _glance(summary: Summary) -> Table:
    """Show each level's changes from the baseline; without columns where there are none."""
    having = {estimate.metric for estimate in summary.estimates if estimate.difference or estimate.ratio}
    metrics = {name: metric for name, metric in main_metrics(summary).items() if name in having}
    return Table(
        f"Change from {summary.baseline}, with its {percent(summary.confidence)} interval and finding",
        [LEVEL, *(Column(metric.title, "stacked") for metric in metrics.values())] if metrics else [],
        [
            [named(level), *(_change(summary, summary.estimate_of(name, level)) for name in metrics)]
            for level in summary.levels
            if level != summary.baseline
        ],
    )


def _change(summary: Summary, estimate: Estimate | None) -> Cell:
    if estimate is None:
        return NOTHING
    found = finding_of(summary, estimate)
    if estimate.ratio is not None:
        return Cell(findings.change_of(estimate), findings.change_interval(estimate), found)
    scale = scale_for(summary.metrics[estimate.metric].unit, [estimate.difference or 0.0])
    shown = difference_cell(estimate, scale)
    # In one column with relative changes, which are in %.
    return replace(shown, value=f"{shown.value} {scale.unit.replace('%', 'points')}".rstrip(), finding=found)


def _rejections(trials: Sequence[TrialRecord], by_level: str) -> Table:
    return Table(
        "Attempts that do not count",
        [Column("Trial", "words"), LEVEL, *map(Column, ("Block", "Attempt")), Column("Because", "words")],
        [
            [
                Cell(str(trial.number)),
                Cell(trial.level),
                Cell(str(trial.block + 1)),
                Cell(str(trial.attempt)),
                Cell(
                    "; ".join(trial.reasons)
                    or ("its set had not settled" if trial.settled is False else "no reason was recorded")
                ),
            ]
            for trial in trials
            if not trial.valid or trial.settled is False
        ],
        [by_level],
    )
