"""Does the first command give an answer, run after run? The rows of `lab check quick`, from several runs. Pure."""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from lab.analysis.checklist import Row, at_least, at_most, contains, half_width_points, judged, within
from lab.analysis.runs import Run, mean_over_runs
from lab.analysis.sets import MOST_REJECTED_PERCENT, rejected_percent
from lab.analysis.stats import Interval
from lab.errors import UserError
from lab.record import Estimate

QUESTION = "Does quick give an answer, run after run?"
AGENT, BY_HAND = "otel-agent", "otel-manual"
FOUND = ("higher", "lower")

# Required: ten runs in a row, each of at most 8 minutes.
LEAST_RUNS, LEAST_BY_HAND = 10, 9
MOST_MINUTES = 8.0
# A point is 0.01 of a ratio. Where its rounds scatter little, an interval has to be narrower.
MOST_POINTS, MOST_POINTS_IF_QUIET = 5.0, 4.0
QUIET_ROUND_SD = 0.08
PLACEBO_MARGIN = 0.015


def repeated(runs: Sequence[Run], round_sds: Sequence[float] = (), made: int | None = None) -> list[Row]:
    """Judge runs of `quick` together. `round_sds`: by how much the agent's ratio scatters between rounds, where known.

    `made`: how many attempts there were, these runs included; None where that is not known. A level is found in a run
    if its finding is `higher` or `lower`. The placebo's interval is Student's, over the log ratios of all runs' sets.
    Raises `UserError` if a run lacks one of the levels.
    """
    agent, by_hand = [_headline(run, AGENT) for run in runs], [_headline(run, BY_HAND) for run in runs]
    return [
        at_least("runs", len(runs), LEAST_RUNS),
        _left_out(runs, made),
        at_most("longest run", max(map(_minutes, runs)), MOST_MINUTES, " min"),
        at_most(
            "sets rejected, most of a run",
            max(rejected_percent(run.summary) for run in runs),
            MOST_REJECTED_PERCENT,
            " %",
        ),
        at_least(f"runs that find {AGENT}", _finding(agent), LEAST_RUNS),
        at_least(f"runs that find {BY_HAND}", _finding(by_hand), LEAST_BY_HAND),
        _precise(agent, round_sds),
        contains("placebo / baseline, all sets", placebo(runs), 1.0),
        within("placebo / baseline, all sets", placebo(runs), 1 - PLACEBO_MARGIN, 1 + PLACEBO_MARGIN),
    ]


def placebo(runs: Sequence[Run]) -> Interval | None:
    """Return the placebo's ratio over the sets of all runs, with its 95 % interval; None without a set."""
    ratios = [ratio for run in runs for ratio in _placebo_log_ratios(run)]
    if not ratios:
        return None
    mean = mean_over_runs(ratios, 0.95)
    low, high = (None if end is None else math.exp(end) for end in (mean.low, mean.high))
    return Interval(math.exp(mean.mean), low, high)


def _placebo_log_ratios(run: Run) -> Iterator[float]:
    """Yield the logarithm of the placebo's cost by the baseline's in each set."""
    summary = run.summary
    for cost in summary.by_block(summary.headline.primary).values():
        if summary.placebo in cost and summary.baseline in cost:
            yield math.log(cost[summary.placebo] / cost[summary.baseline])


def _left_out(runs: Sequence[Run], made: int | None) -> Row:
    """Require all attempts from the first of the runs to the last; runs of earlier versions have no number.

    Attempts before the first and after the last are not judged: the row says which of all attempts these are.
    """
    numbers = {int(run.manifest["attempt"]) for run in runs if "attempt" in run.manifest}
    if len(numbers) < len(runs):
        return judged("attempts left out", "not numbered", "at most 0", passed=False)
    first, last = min(numbers), max(numbers)
    left_out = last - first + 1 - len(numbers)
    of = f" of {made}" if made else ", of how many is not known"
    return judged("attempts left out", f"{left_out}; attempts {first} to {last}{of}", "at most 0", left_out <= 0)


def _precise(agent: Sequence[Estimate | None], round_sds: Sequence[float]) -> Row:
    """Require narrow intervals of the agent's ratio. Without its slices, the scatter of rounds is not known.

    A run without an interval counts as one with an infinite interval.
    """
    widths = map(half_width_points, agent)
    width = float(np.median([math.inf if points is None else points for points in widths]))
    most, scatter = MOST_POINTS, "scatter of rounds not known"
    if round_sds:
        sd = float(np.median(round_sds))
        most = MOST_POINTS_IF_QUIET if sd <= QUIET_ROUND_SD else MOST_POINTS
        scatter = f"rounds scatter by {100 * sd:.1f} % (from {len(round_sds)} of {len(agent)} runs)"
    return judged(
        f"half-width of {AGENT}, median", f"{width:.3g} points; {scatter}", f"at most {most:g} points", width <= most
    )


def _headline(run: Run, level: str) -> Estimate | None:
    """Return a level's estimate; None where no set of the run counts."""
    if level not in run.summary.levels:
        raise UserError(f"{run.name} has no level {level}", "name runs of `lab experiment quick`")
    return run.summary.estimate_of(run.summary.headline.primary, level)


def _finding(rows: Sequence[Estimate | None]) -> int:
    return sum(row is not None and row.finding in FOUND for row in rows)


def _minutes(run: Run) -> float:
    """Return how long a run took, from its set-up to its report (which older manifests do not time)."""
    return float(sum(run.manifest["durations_s"].values())) / 60
