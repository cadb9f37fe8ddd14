"""Values that are only bounds, since the search for them ended without finding them (`TrialSummary.censored`)."""

from collections.abc import Iterable

from lab.record import Censoring, TrialSummary


def censoring(metric: str, trials: Iterable[TrialSummary]) -> frozenset[Censoring]:
    """Return what the trials' values of a metric are bounds of: empty if all are exact.

    With one, the trials' mean is such a bound too. With both, it bounds nothing.
    """
    return frozenset(trial.censored[metric] for trial in trials if metric in trial.censored)


def opposite(found: Iterable[Censoring]) -> frozenset[Censoring]:
    """Return what a ratio or a difference is a bound of where values like `found` are subtracted or divided by."""
    return frozenset("at most" if bound == "at least" else "at least" for bound in found)
