"""What a finding is called: no interval that excludes equality is called the same."""

from lab.analysis.stats import Interval
from lab.record import Combined, Estimate, Finding, Summary

SAME: Finding = "same within margin"


def name_of(finding: str, ratio: Interval | None, summary: Summary | Combined, of: str = " of the overhead") -> str:
    """Name the finding about a ratio. `of`: what the margin is a share of, if not of the baseline's cost."""
    if finding != SAME or ratio is None or ratio.low is None or ratio.high is None or ratio.low <= 1 <= ratio.high:
        return finding
    return f"differs by less than {100 * summary.equivalence_margin:g} %{of}"


def name_of_estimate(summary: Summary, estimate: Estimate) -> str:
    """Name an estimate's finding. Its margin is of the baseline's cost, or of an overhead between two other levels."""
    if estimate.ratio is None or estimate.finding is None:
        return estimate.finding or "not compared"
    ratio = Interval(estimate.ratio, estimate.ratio_low, estimate.ratio_high)
    of = "" if estimate.baseline == summary.baseline else " of the overhead"
    return name_of(estimate.finding, ratio, summary, of)
