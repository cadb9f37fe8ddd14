"""The slices of a run, as its folder still shows them."""

from collections.abc import Sequence
from pathlib import Path

from lab.analysis.effects import slice_costs
from lab.record import SliceCost, Summary, TrialData, read_slices, read_trial, stored


def slices_of(folder: Path, summary: Summary) -> Sequence[SliceCost]:
    """Return the slices of the trials that count, as kept or by the raw records; none where both are gone."""
    kept = folder / "slices.json"
    return read_slices(kept).slices if stored(kept) else slice_costs(raw_trials(folder, summary))


def raw_trials(folder: Path, summary: Summary) -> list[TrialData]:
    """Return the trials of a run that count; none where one of them has no raw records, as in most kept runs."""
    folders = [folder / "trials" / one.trial for one in summary.trials if one.counts]
    complete = all(stored(one / "counters.jsonl") for one in folders)
    return [read_trial(one) for one in folders] if complete else []
