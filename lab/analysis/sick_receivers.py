"""What a proxy's requests felt of a sick receiver of its spans, and which spans were lost. Pure.

The rows of a `lab check`.
"""

from collections.abc import Iterator, Mapping

from lab.analysis.checklist import MISSING, Row, at_most
from lab.errors import UserError
from lab.record import Estimate, Summary

P99, FAILED = "latency_p99_ms", "requests_failed"
SENT, DROPPED, REJECTED, LOST = "spans_sent", "spans_dropped", "spans_refused", "spans_lost"
# Required: of the placebo, beyond which a ratio says nothing.
MOST_NOISE = 0.10

Found = Mapping[str, Estimate]


def sick(summary: Summary) -> list[Row]:
    """Say of each level with a fault whether requests were served, how their p99 changed, and which spans were lost.

    The ratio is to the baseline of the same block, which has no tracer. Raises `UserError` if no level has a fault.
    """
    levels = [name for name, level in summary.levels.items() if level.settings.get("faults")]
    if not levels:
        raise UserError("this run has no level whose receiver is sick", "name a run of `lab experiment proxy-faults`")
    floors = (row.noise_floor for row in summary.estimates if row.metric == P99)
    noise = next((floor for floor in floors if floor is not None), None)
    return [
        row
        for level in levels
        for row in _level(level, {row.metric: row for row in summary.estimates if row.level == level}, noise)
    ]


def _level(level: str, found: Found, noise: float | None) -> Iterator[Row]:
    if FAILED not in found:
        yield Row(f"{level}: valid trials", MISSING, "at least one", "FAIL")
        return
    yield at_most(f"{level}: requests that failed, of a trial", found[FAILED].mean, 0)
    yield _ratio(f"{level}: p99 to that without a tracer", found.get(P99), noise)
    yield _losses(f"{level}: spans of a trial", found)


def _ratio(name: str, row: Estimate | None, noise: float | None) -> Row:
    bound = f"noise at most {MOST_NOISE:.0%}"
    if row is None or row.ratio is None or row.ratio_low is None or row.ratio_high is None or noise is None:
        return Row(name, MISSING, bound, "FAIL")
    value = f"{row.ratio:.2f} ({row.ratio_low:.2f} to {row.ratio_high:.2f}), noise {noise:.1%}"
    if noise > MOST_NOISE:
        return Row(name, f"{value}: inconclusive", bound, "FAIL")
    return Row(name, value, bound, "PASS")


def _losses(name: str, found: Found) -> Row:
    counted = [found[metric].mean for metric in (SENT, DROPPED, REJECTED, LOST) if metric in found]
    if len(counted) < 4:
        return Row(name, MISSING, "counted", "FAIL")
    sent, dropped, rejected, lost = counted
    value = f"{lost:.0f} lost, {rejected:.0f} rejected and {dropped:.0f} dropped of {sent + dropped:.0f}"
    return Row(name, value, "counted", "PASS")
