"""The figures of single trials: one trace of each level, and the order in which all were run."""

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from lab.record import TrialRecord, TrialSummary
from lab.report.figures import order as figure
from lab.report.figures.gantt import Span, gantt
from lab.report.figures.order import Cell
from lab.report.numbers import number
from lab.report.palette import Colour
from lab.report.source import Source

MOST_SPANS = 1500
"""A topology may make ten thousand calls per request. More bars than this only make the page large."""


@dataclass(frozen=True)
class Trace:
    """A level's trace, drawn; how many spans it has, in words; the levels whose traces differ only in their times.

    `second_start`: see `Source.second_starts`.
    """

    level: str
    extent: str
    figure: Markup
    alike: Sequence[str]
    second_start: bool


def traces(source: Source) -> list[Trace]:
    """Draw a trace of each level that has one. Equal traces are drawn once."""
    drawn = []
    traced = {level: source.traces[level] for level in source.summary.levels if source.traces.get(level)}
    alike: dict[Hashable, list[str]] = {}
    for level, spans in traced.items():
        alike.setdefault(_tree(spans), []).append(level)
    for index, (level, *others) in enumerate(alike.values(), start=1):
        spans = traced[level]
        services = ", ".join(dict.fromkeys(span.service for span in spans))
        description = (
            f"A request of {level}: {len(spans)} spans of {services}, "
            f"{number(max(span.end_ms for span in spans))} ms in all."
        )
        shown = spans[:MOST_SPANS]
        extent = f"{len(spans)} spans" if shown == spans else f"{len(spans)} spans, the first {len(shown)} drawn"
        drawing = gantt(f"trace-{index}", shown, description)
        drawn.append(Trace(level, extent, drawing, others, level in source.second_starts))
    return drawn


def _tree(spans: Sequence[Span]) -> Hashable:
    """Return what two traces have in common that are of one instrumentation, whichever service received the request."""
    return frozenset(Counter((span.kind, span.depth, span.tags) for span in spans).items())


def order(source: Source, colours: Mapping[str, Colour]) -> Markup | None:
    """Draw the outcome of each planned trial."""
    cells = order_cells(source.manifest, source.trials, source.summary.trials)
    known = [cell for cell in cells if cell.level in colours]
    if not known:
        return None
    said = [
        f"trial {cell.number}: block {cell.block + 1}, position {cell.position + 1}, {cell.level}, {cell.outcome}"
        for cell in known
    ]
    return figure.order(known, colours, ". ".join(said))


def order_cells(
    manifest: Mapping[str, Any], trials: Sequence[TrialRecord], summarised: Sequence[TrialSummary] = ()
) -> list[Cell]:
    """Return the outcome of each planned trial. Without a plan in the manifest, these are the trials that were run.

    A sample has the records of few trials; its summary has all trials. If a run ended early by its protocol, blocks
    that were not begun are left out.
    """
    planned = {trial.number: (trial.block, trial.position, trial.level) for trial in trials}
    begun = {trial.block for trial in trials} | {trial.block for trial in summarised}
    without_records = {_number(trial) for trial in summarised if trial.valid}
    for entry in manifest.get("order") or []:
        if isinstance(entry, Mapping) and (entry["block"] in begun or not manifest.get("stopped")):
            planned.setdefault(entry["number"], (entry["block"], entry["position"], entry["level"]))
    cells = []
    for trial_number, (block, position, level) in sorted(planned.items()):
        attempts = [trial for trial in trials if trial.number == trial_number]
        valid = any(trial.valid for trial in attempts) or trial_number in without_records
        outcome = "valid" if valid else "rejected" if attempts else "not run"
        rejected = sum(not trial.valid for trial in attempts)
        cells.append(Cell(trial_number, block, position, level, outcome, rejected))
    return cells


def _number(trial: TrialSummary) -> int:
    """Return a trial's number, with which its folder's name begins."""
    return int(trial.trial.partition("-")[0])
