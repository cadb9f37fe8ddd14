"""What `lab plan` expects of an alternating experiment: the half-widths, from how an earlier run scattered."""

import math
from pathlib import Path

from lab.analysis.components import Components, components
from lab.analysis.effects import slice_costs
from lab.command.paths import ROOT
from lab.command.runs import raw_trials
from lab.record import TrialData, read_summary, stored
from lab.run.progress import minutes
from lab.spec import Experiment


def expected_lines(experiment: Experiment, newest: Path) -> list[str]:
    """Return a sentence per level, and how to spend the time best; none without a run of two sets.

    The run is the one at `newest`, or else the kept one, if its raw records are there.
    """
    runs = {"last run": newest, "kept run": ROOT / "docs" / "results" / experiment.name}
    for which, folder in runs.items():
        if not stored(folder / "summary.json"):
            continue
        summary = read_summary(folder / "summary.json")
        if trials := raw_trials(folder, summary):
            found = list(components(slice_costs(trials), summary.compared_with))
            lines = [_sentence(one, experiment.protocol.repetitions, which) for one in found]
            return [*lines, _advice(found, trials)] if found else lines
    return []


def _sentence(one: Components, sets: int, which: str) -> str:
    return (
        f"{one.level}: expected half-width ±{100 * one.half_width(sets, one.rounds):.1f} points with {sets} sets of "
        f"{one.rounds} rounds ({which}: rounds scatter by {one.round_sd:.1%}, sets by {one.set_sd:.1%} more)"
    )


def _advice(found: list[Components], trials: list[TrialData]) -> str:
    """Say how many rounds of a set are best for the time that sets and rounds took."""
    starts_ns = sorted({trial.trial.window_start_ns for trial in trials})
    slices = [turn for trial in trials if trial.trial.window_start_ns == starts_ns[0] for turn in trial.trial.slices]
    rounds_s = (max(turn.next_ns for turn in slices) - starts_ns[0]) / 1e9
    apart_s = (starts_ns[-1] - starts_ns[0]) / 1e9 / (len(starts_ns) - 1)
    round_s = rounds_s / found[0].rounds
    best = min(one.best_rounds(apart_s - rounds_s, round_s) for one in found)
    if math.isinf(best):
        return f"Sets did not scatter beyond their rounds: more rounds, of {minutes(round_s)} each, are best."
    return f"About {best:.0f} rounds a set give most precision for the time (a round takes {minutes(round_s)})."
