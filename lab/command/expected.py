"""What `lab plan` expects of an alternating experiment: the half-widths, from how an earlier run scattered."""

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from lab.analysis.components import Components, components
from lab.command.paths import ROOT
from lab.command.slices import slices_of
from lab.record import SliceCost, Summary, read_summary, stored
from lab.run.progress import minutes
from lab.run.turns import in_squares
from lab.spec import Experiment


def earlier_runs(experiment: Experiment, newest: Path) -> Iterator[tuple[str, Path, Summary]]:
    """Yield the run of the experiment at `newest`, then the kept one, as far as they are there and analysed."""
    runs = {"last run": newest, "kept run": ROOT / "docs" / "results" / experiment.name}
    for which, folder in runs.items():
        if stored(folder / "summary.json"):
            yield which, folder, read_summary(folder / "summary.json")


def expected_lines(experiment: Experiment, newest: Path) -> list[str]:
    """Return a sentence per level, and how to spend the time best; none without a run of two sets.

    The run is the one at `newest`, or else the kept one: the first that has its slices and two sets that count.
    """
    if not experiment.load.schedule.alternates:
        return []
    for which, folder, summary in earlier_runs(experiment, newest):
        costs = slices_of(folder, summary)
        if found := list(components(costs, summary.compared_with)):
            return [*(_sentence(one, experiment, which) for one in found), _advice(found, costs)]
    return []


def _sentence(one: Components, experiment: Experiment, which: str) -> str:
    """Say what to expect with the planned rounds, or with those of the run if the plan is for a time."""
    sets, planned = experiment.protocol.repetitions, getattr(experiment.load.schedule, "rounds", None)
    rounds = in_squares(len(experiment.all_levels()), planned) if planned else one.rounds
    if sets < 2:
        return f"{one.level}: one set has no interval"
    return (
        f"{one.level}: expected half-width ±{100 * one.half_width(sets, rounds):.1f} points with {sets} sets of "
        f"{rounds} rounds ({which}: rounds scatter by {one.round_sd:.1%}, means of {one.rounds} rounds by "
        f"{one.mean_sd:.1%}{'' if one.set_sd else ', less than independent rounds would'})"
    )


def _advice(found: list[Components], costs: Sequence[SliceCost]) -> str:
    """Say how many rounds of a set are best for the time that sets and rounds took."""
    # Of each round the earliest slice: of interleaved ones, several begin within a moment.
    starts = sorted(
        sorted({one.round: one.start_ns for one in reversed(costs) if one.set == number}.values())
        for number in {one.set for one in costs}
    )
    first = starts[0]
    # From the begin of a round to that of the next one; a set has more than one.
    round_s = (first[-1] - first[0]) / 1e9 / (len(first) - 1)
    # Between other sets there may have been one that does not count.
    apart_s = min(later[0] - sooner[0] for sooner, later in pairwise(starts)) / 1e9
    best = min(one.best_rounds(apart_s - round_s * len(first), round_s) for one in found)
    if math.isinf(best):
        return "Means of sets scatter no more than independent rounds would: the best number of rounds is not known."
    return f"About {best:.0f} rounds a set give most precision for the time (a round takes {minutes(round_s)})."
