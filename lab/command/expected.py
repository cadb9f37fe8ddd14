"""What `lab plan` expects of an alternating experiment: the half-widths, from how the last run scattered."""

import math
from pathlib import Path

from lab.analysis.components import Components, components
from lab.analysis.effects import slice_costs
from lab.record import TrialData, read_summary, read_trial
from lab.run.progress import minutes
from lab.spec import Experiment


def expected_lines(experiment: Experiment, newest: Path) -> list[str]:
    """Return a sentence per level, and how to spend the time best; none without a run of two sets at `newest`.

    `newest` is a results folder with raw records.
    """
    if not (newest / "summary.json").exists():
        return []
    summary = read_summary(newest / "summary.json")
    trials = [read_trial(newest / "trials" / one.trial) for one in summary.trials if one.counts]
    found = list(components(slice_costs(trials), summary.compared_with))
    sets = experiment.protocol.repetitions
    lines = [_sentence(one, sets) for one in found]
    return [*lines, _advice(found, trials)] if found else lines


def _sentence(one: Components, sets: int) -> str:
    return (
        f"{one.level}: expected half-width ±{100 * one.half_width(sets, one.rounds):.1f} points with {sets} sets of "
        f"{one.rounds} rounds (last run: rounds scatter by {one.round_sd:.1%}, sets by {one.set_sd:.1%} more)"
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
