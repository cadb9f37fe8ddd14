"""Says what the first errors of ramps follow: the rate, the workers, the connections or the queue."""

import math
from collections.abc import Sequence

from lab.analysis.collector.first_error import INCONCLUSIVE, FirstError, Ramp, Spread, first_error
from lab.record import Summary, TrialSummary
from lab.report.numbers import DASH, TIMES, number, ratio
from lab.report.tables import Cell, Column, Table

CANDIDATES = {
    "first_error_traces_per_s": "traces per second",
    "first_error_workers": "workers",
    "first_error_connections": "connections",
    "first_error_queue": "queue of the exporters",
}
FEWEST_LEVELS = 2


def first_error_table(summary: Summary) -> Table | None:
    """Compare what all levels had reached at their first errors; None if the experiment is not about that."""
    # A run of an earlier version did not count connections.
    names = [name for name in CANDIDATES if any(name in trial.values for trial in summary.trials)]
    ramps = [ramp for level in _levels(summary) if (ramp := _ramp(summary, level, names)) is not None]
    if summary.headline.primary not in CANDIDATES or len(ramps) < FEWEST_LEVELS:
        return None
    found = first_error(ramps, summary.confidence)
    return Table(
        "What the first error follows",
        [
            Column("At the first error", "words", "at the first error"),
            Column("Mean of all levels", narrow="mean"),
            Column("Spread between levels", "interval", "spread"),
        ],
        [[Cell(CANDIDATES[name]), Cell(_mean(spread)), _spread(spread)] for name, spread in found.spreads.items()],
        [_said(found, len(ramps))],
    )


def _levels(summary: Summary) -> list[str]:
    """Return the levels, without those that are the baseline under another name."""
    return [level for level in summary.levels if level == summary.baseline or level not in summary.compared_with]


def _ramp(summary: Summary, level: str, candidates: Sequence[str]) -> Ramp | None:
    """Return a level's ramps as one: what they had reached on average; None if the records do not say."""
    names = summary.compared_with if level == summary.baseline else (level,)
    trials = [trial for trial in summary.trials if trial.counts and trial.level in names]
    complete = [trial for trial in trials if trial.values.keys() >= set(candidates)]
    failing = [trial for trial in complete if not trial.censored.keys() & set(candidates)]
    if not complete:
        return None
    return Ramp({name: _geometric(failing or complete, name) for name in candidates}, failed=bool(failing))


def _geometric(trials: Sequence[TrialSummary], name: str) -> float:
    """Return the geometric mean over trials; an empty queue counts as one of 1."""
    return math.exp(sum(math.log(max(1.0, trial.values[name])) for trial in trials) / len(trials))


def _mean(spread: Spread) -> str:
    return f"at least {number(spread.value)}" if spread.at_least else number(spread.value)


def _spread(spread: Spread) -> Cell:
    """Show a standard deviation of logarithms as the factor that it is."""
    if spread.sd is None:
        return Cell(DASH)
    within = "" if spread.low is None or spread.high is None else f"{_factor(spread.low)} to {_factor(spread.high)}"
    return Cell(_factor(spread.sd), within)


def _factor(sd: float) -> str:
    # Between two levels the interval has no end in practice.
    return f"{TIMES}{ratio(math.exp(sd))}" if sd < math.log(1000) else f"over {TIMES}1,000"


def _said(found: FirstError, levels: int) -> str:
    how = (
        "A first error that follows a quantity comes at the same value of it on all levels, whatever else they change. "
        f"{levels} levels were compared; the spread is a standard deviation as a factor, {TIMES}1.00 if all are equal."
    )
    p_value = "" if found.p_value is None else f" (p = {number(found.p_value, 2)} that the best two spread equally)"
    if found.follows == INCONCLUSIVE:
        return f"Inconclusive what it follows{p_value}. {how}"
    return f"It follows {CANDIDATES[found.follows]}{p_value}. {how}"
