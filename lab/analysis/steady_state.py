"""Is the cost in production known well enough, in time? The rows of `lab check steady`, from one run. Pure."""

from collections.abc import Sequence

from lab.analysis.checklist import MISSING, Row, at_least, at_most, judged, within
from lab.analysis.effects import Effect
from lab.analysis.sets import MOST_REJECTED_PERCENT, rejected_percent
from lab.record import Estimate, Summary

QUESTION = "Is the cost of a warm JVM known well enough?"

# Issue 20: six sets within an hour, each ratio to ±3 points, and no change of 3 % while a set is measured.
LEAST_SETS = 6
MOST_MINUTES = 60.0
# A point is 0.01 of a ratio.
MOST_POINTS = 3.0
MOST_CHANGE = 0.03


def required(summary: Summary, minutes: float, halves: Sequence[Effect]) -> list[Row]:
    """Judge a run that took so long. `halves`: its second half by its first; empty where its raw records are gone."""
    names = [name for name in summary.levels if name not in summary.compared_with]
    rows = {row.level: row for row in summary.estimates if row.metric == summary.headline.primary}
    changes = [
        within(f"{half.what}, second half / first", half.ratio, 1 - MOST_CHANGE, 1 + MOST_CHANGE) for half in halves
    ]
    return [
        at_least("settled sets", min(level.trials for level in summary.levels.values()), LEAST_SETS),
        at_most("sets rejected", rejected_percent(summary), MOST_REJECTED_PERCENT, " %"),
        at_most("from set-up to report", minutes, MOST_MINUTES, " min"),
        *(_precise(name, rows.get(name)) for name in names),
        *(changes or [judged("second half / first", MISSING, f"within ±{MOST_CHANGE:.0%}", passed=False)]),
    ]


def _precise(level: str, row: Estimate | None) -> Row:
    name = f"half-width of {level}'s ratio"
    if row is None or row.ratio_low is None or row.ratio_high is None:
        return judged(name, MISSING, f"at most {MOST_POINTS:g} points", passed=False)
    return at_most(name, 100 * (row.ratio_high - row.ratio_low) / 2, MOST_POINTS, " points")
