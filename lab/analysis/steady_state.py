"""Is the cost in production known well enough, in time? The rows of `lab check steady`, from one run. Pure."""

from collections.abc import Sequence

from lab.analysis.checklist import MISSING, Row, at_least, at_most, half_width_points, judged, within
from lab.analysis.effects import Effect
from lab.analysis.metrics.jvm import SETTLED_JIT_FRACTION
from lab.analysis.sets import MOST_REJECTED_PERCENT, rejected_percent
from lab.record import Estimate, Summary

QUESTION = "Is the cost of a warm JVM known well enough?"
COMPILING = "jit_cpu_fraction"

# Required: six sets of 60 rounds within an hour, each ratio to ±3 points, no change of 3 % while a set is measured.
LEAST_SETS, LEAST_ROUNDS = 6, 60
MOST_MINUTES = 60.0
# A point is 0.01 of a ratio.
MOST_POINTS = 3.0
MOST_CHANGE = 0.03


def required(summary: Summary, minutes: float, halves: Sequence[Effect], rounds: int | None) -> list[Row]:
    """Judge a run that took so long. `halves`: its second half by its first; empty where its slices are gone.

    They are of the sets that had settled. `rounds`: of each set, as recorded; None where they are not.
    """
    names = [name for name in summary.levels if name not in summary.compared_with]
    rows = summary.estimates_of(summary.headline.primary)
    changes = [
        within(f"{half.what}, second half / first", half.ratio, 1 - MOST_CHANGE, 1 + MOST_CHANGE) for half in halves
    ]
    return [
        at_least("settled sets", min(level.trials for level in summary.levels.values()), LEAST_SETS),
        at_least("rounds of a set", rounds, LEAST_ROUNDS),
        at_most("sets rejected", rejected_percent(summary), MOST_REJECTED_PERCENT, " %"),
        at_most("from set-up to report", minutes, MOST_MINUTES, " min"),
        *(_precise(name, rows.get(name)) for name in names),
        _compiling(summary),
        *(changes or [judged("second half / first", MISSING, f"within ±{MOST_CHANGE:.0%}", passed=False)]),
    ]


def _compiling(summary: Summary) -> Row:
    """Require compilers to use as little in the windows as they do of a settled system, at every level."""
    shares = [100 * row.mean for row in summary.estimates if row.metric == COMPILING]
    return at_most(
        "CPU of compilers, largest of a level",
        max(shares) if len(shares) == len(summary.levels) else None,
        100 * SETTLED_JIT_FRACTION,
        " %",
    )


def _precise(level: str, row: Estimate | None) -> Row:
    return at_most(f"half-width of {level}'s ratio", half_width_points(row), MOST_POINTS, " points")
