"""A student's run, read once: its manifest, its trials with all records, and the summary that it came with."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from pathlib import Path
from typing import Any

from lab.analysis.analyse import summarise
from lab.analysis.lab import Lab
from lab.contract import Target
from lab.errors import UserError
from lab.grading.trial import StudentTrial
from lab.record import (
    Summary,
    TrialData,
    read_manifest,
    read_summary,
    read_trial,
    read_trial_record,
    stored,
    trial_folders,
)
from lab.spec import Experiment

NAME_DIGITS = 8


@dataclass(frozen=True)
class Study:
    """A run. `stored`: its `summary.json`; None where it has none."""

    manifest: Mapping[str, Any]
    experiment: Experiment
    target: Target[Any]
    trials: Sequence[StudentTrial]
    stored: Summary | None

    @cached_property
    def computed(self) -> Summary:
        """The summary, computed anew from the raw records."""
        found = [trial.estimated for trial in self.trials]
        windows = [pieces for _, pieces in found if pieces is not None]
        return summarise(self.experiment, self.target, [trial for trial, _ in found], windows)

    @property
    def blocks(self) -> Mapping[int, Sequence[StudentTrial]]:
        """The trials of each block, in order."""
        found: defaultdict[int, list[StudentTrial]] = defaultdict(list)
        for trial in self.trials:
            found[trial.data.trial.block].append(trial)
        return dict(sorted(found.items()))

    @cached_property
    def pseudonym(self) -> str:
        """A name that follows from the raw records only."""
        prints = sorted(one for trial in self.trials for one in trial.prints)
        return sha256(" ".join(map(str, prints)).encode()).hexdigest()[:NAME_DIGITS]


def read_study(folder: Path, lab: Lab) -> Study:
    """Read a results folder, or a kept one. Raises `UserError` where a record is missing, broken or of no valid run."""
    experiment, target = lab.recorded(folder)
    trials = [
        StudentTrial(one.name, _data(one), target.judgement, not (one / "counters.jsonl").exists())
        for one in trial_folders(folder)
    ]
    summary = folder / "summary.json"
    return Study(read_manifest(folder), experiment, target, trials, read_summary(summary) if stored(summary) else None)


def _data(folder: Path) -> TrialData:
    """Read what a trial left; of a rejected one its verdict is enough."""
    trial = read_trial_record(folder)
    try:
        return read_trial(folder)
    except UserError:
        if trial.valid:
            raise
        return TrialData(trial, {})
