"""Reads a results folder into what the report is built from; the only part of it that reads files."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.analysis.claims.records import Verdicts, read_verdicts
from lab.record import Summary, TrialRecord, read_manifest, read_summary, read_trial, read_trial_record
from lab.report.figures.gantt import Span
from lab.report.observed import Observed, observe, trace_spans


@dataclass(frozen=True)
class Source:
    """A run: its summary, its manifest, every trial's record, and what the valid ones' raw records show."""

    summary: Summary
    manifest: Mapping[str, Any]
    trials: Sequence[TrialRecord]
    observed: Sequence[Observed]
    traces: Mapping[str, Sequence[Span]]
    """A trace for each level that has one: that of its first valid trial."""
    second_starts: Collection[str]
    """The levels whose trace is not of the trial's load but of services that were started once more after it."""
    verdicts: Verdicts | None
    """What became of the claims that the experiment tests; None where it tests none."""


def read(results_dir: Path) -> Source:
    """Read everything once, one trial at a time; raises `UserError` where a record is missing or broken."""
    trials = []
    observed = []
    traces: dict[str, Sequence[Span]] = {}
    second_starts = set()
    for path in sorted((results_dir / "trials").glob("*/trial.json")):
        trial = read_trial_record(path.parent)
        trials.append(trial)
        if not trial.valid:
            continue
        data = read_trial(path.parent)
        if trial.window is not None:
            observed.append(observe(data))
        if data.trace is not None and trial.level not in traces:
            traces[trial.level] = trace_spans(data.trace)
            if trial.trace_of_second_start:
                second_starts.add(trial.level)
    verdicts = results_dir / "claims.json"
    return Source(
        summary=read_summary(results_dir / "summary.json"),
        manifest=read_manifest(results_dir),
        trials=sorted(trials, key=lambda trial: (trial.number, trial.attempt)),
        observed=observed,
        traces=traces,
        second_starts=second_starts,
        verdicts=read_verdicts(verdicts) if verdicts.exists() else None,
    )
