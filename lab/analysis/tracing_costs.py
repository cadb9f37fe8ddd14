"""How precisely a run measures what each tracer of a proxy costs, and what a change of its runtime did. Pure.

The rows of two `lab check`.
"""

import math
from collections.abc import Iterator

import scipy

from lab.analysis.checklist import MISSING, Row, at_most, judged
from lab.analysis.stats import blocks_for
from lab.errors import UserError
from lab.record import Estimate, Summary

MEAN, CPU = "latency_mean_ms", "cpu_per_request_us"
BEFORE, AFTER, TOOK = "exports_before_change_per_s", "exports_after_change_per_s", "runtime_change_took_s"
UNTRACED = "none"

# Required: the half of an interval, and how long a run may take on two cores.
MOST_MEAN_MS = 0.02
MOST_CPU_US = 5.0
MOST_MINUTES = 40.0
# The first reading after a change is of the next tenth of a second, and an export holds spans back.
MOST_TOOK_S = 1.0


def precise(summary: Summary, minutes: float) -> list[Row]:
    """Judge how well a run knows what each traced level adds to the baseline. `minutes`: how long it took.

    Raises `UserError` if no level is traced.
    """
    levels = [name for name, level in summary.levels.items() if level.settings.get("tracer", UNTRACED) != UNTRACED]
    if not levels:
        raise UserError("this run has no level with a tracer", "name a run of `lab experiment proxy-tracing`")
    found = {(row.metric, row.level): row for row in summary.estimates}
    return [
        *(
            _half_width(f"{level}: added {what}", found.get((metric, level)), most, unit, summary.confidence)
            for level in levels
            for what, metric, most, unit in (("mean", MEAN, MOST_MEAN_MS, "ms"), ("CPU", CPU, MOST_CPU_US, "µs"))
        ),
        at_most("the run took", minutes, MOST_MINUTES, " min"),
    ]


def blocks_needed(half_width: float, blocks: int, wanted: float, confidence: float) -> int:
    """Return about how many blocks bring an interval that has `half_width` with `blocks` to `wanted`.

    The blocks' standard deviation follows from Student's interval, and stays.
    """
    sd = half_width * math.sqrt(blocks) / float(scipy.special.stdtrit(blocks - 1, (1 + confidence) / 2))
    return blocks_for(sd, wanted, confidence)


def changes(summary: Summary) -> list[Row]:
    """Say of each valid trial whose runtime changed how many exports there were before and after, and how soon.

    Raises `UserError` if there is none.
    """
    rows = list(_changes(summary))
    if not rows:
        raise UserError(
            "this run has no valid trial whose runtime changed", "name a run of `lab experiment proxy-batching`"
        )
    return rows


def _half_width(name: str, row: Estimate | None, most: float, unit: str, confidence: float) -> Row:
    bound = f"±{most:g} {unit}"
    if row is None or row.difference is None or row.difference_low is None or row.difference_high is None:
        return Row(name, MISSING, bound, "FAIL")
    half_width = (row.difference_high - row.difference_low) / 2
    value = f"{row.difference:+.3g} ±{half_width:.2g} {unit}"
    if half_width <= most:
        return Row(name, value, bound, "PASS")
    needed = blocks_needed(half_width, row.n, most, confidence)
    return Row(name, f"{value}; about {needed} blocks are needed, these are {row.n}", bound, "FAIL")


def _changes(summary: Summary) -> Iterator[Row]:
    for trial in summary.trials:
        if not trial.valid or BEFORE not in trial.values:
            continue
        before, after, took_s = (trial.values.get(name) for name in (BEFORE, AFTER, TOOK))
        soon = "no clear change of the spans per export" if took_s is None else f"new after {took_s:.2g} s"
        passed = took_s is not None and took_s <= MOST_TOOK_S
        yield judged(
            f"{trial.trial}: exports",
            f"{before:.4g}/s before, {after:.4g}/s after, {soon}",
            f"new after {MOST_TOOK_S:g} s",
            passed,
        )
