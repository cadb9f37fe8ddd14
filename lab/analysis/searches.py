"""Do searches find a rate that is known, and the same rate again? The rows of two `lab check`. Pure."""

import math
from collections.abc import Sequence

import numpy as np

from lab.analysis.checklist import Row, at_least, at_most
from lab.analysis.sets import MOST_REJECTED_PERCENT
from lab.errors import UserError
from lab.record import Summary, TrialSummary

CAPACITY, LASTED = "capacity_spans_per_s", "search_s"
# Of the rate that a search found, when it is sent once more.
FAILED = "traces_failed_per_s"
KNOWN = "sink_spans_per_s"

# Required: 10 of 10 searches for a known rate, and 5 of one Collector, within ±5 %, each within 10 minutes.
LEAST_KNOWN, LEAST_OF_COLLECTOR = 10, 5
MOST_PERCENT = 5.0
MOST_MINUTES = 10.0


def known_rate(summary: Summary) -> list[Row]:
    """Judge the searches of a run whose sink has a known rate. Raises `UserError` if it has none."""
    known = {name: float(level.settings.get(KNOWN) or 0) for name, level in summary.levels.items()}
    if not all(known.values()):
        raise UserError("this run has levels without a known rate", "name a run of `lab experiment known-rate`")
    searches = _searches(summary, list(summary.levels))
    off = [_off_percent(one, known[one.level]) for one in searches]
    return _rows(searches, _rejected_percent(summary, list(known)), LEAST_KNOWN, "furthest from the known rate", off)


def search_spread(summary: Summary) -> list[Row]:
    """Judge the searches of the baseline, which a run has under two names. Raises `UserError` if it made none."""
    searches = _searches(summary, summary.compared_with)
    middle = float(np.median([one.values[CAPACITY] for one in searches]))
    off = [_off_percent(one, middle) for one in searches]
    without = sum(one.values[FAILED] == 0 for one in searches)
    held = at_least("rates without a failed trace, when sent again", without, len(searches))
    rejected = _rejected_percent(summary, summary.compared_with)
    furthest = f"furthest from the median, {middle:.0f} spans/s"
    return [*_rows(searches, rejected, LEAST_OF_COLLECTOR, furthest, off), held]


def _rows(
    searches: Sequence[TrialSummary], rejected: float, least: int, furthest: str, off_percent: Sequence[float]
) -> list[Row]:
    return [
        at_least("searches", len(searches), least),
        at_most("searches rejected", rejected, MOST_REJECTED_PERCENT, " %"),
        at_most(furthest, max(off_percent), MOST_PERCENT, " %"),
        at_most("longest search", max(one.values[LASTED] for one in searches) / 60, MOST_MINUTES, " min"),
    ]


def _rejected_percent(summary: Summary, levels: Sequence[str]) -> float:
    """Return the share of these levels' attempts that were rejected; there is one at least."""
    valid = [one.valid for one in summary.trials if one.level in levels]
    return 100 * valid.count(False) / len(valid)


def _searches(summary: Summary, levels: Sequence[str]) -> list[TrialSummary]:
    """Return the valid searches of these levels; raises `UserError` if there are none."""
    found = [one for one in summary.trials if one.valid and one.level in levels and CAPACITY in one.values]
    if not found:
        raise UserError(f"this run has no valid search of {', '.join(levels)}", "name a run that searches")
    return found


def _off_percent(search: TrialSummary, from_rate: float) -> float:
    """Return how far a search's rate is from another; one that is only a bound is infinitely far."""
    return math.inf if CAPACITY in search.censored else 100 * abs(search.values[CAPACITY] / from_rate - 1)
