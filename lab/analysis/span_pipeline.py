"""What is required of a streaming tracer in a system: rows of `lab check span-pipeline` and `span-saturation`. Pure.

The levels are those of experiments/span-pipeline.yaml and experiments/span-saturation.yaml.
"""

from collections.abc import Sequence

from lab.analysis.checklist import INCONCLUSIVE, MISSING, Row, above, at_most, judged, shown
from lab.analysis.overheads import overhead_ratio
from lab.analysis.stats import Interval, mean_interval
from lab.errors import UserError
from lab.record import Summary

QUESTION = "Does a streaming tracer save a system as much as is required?"
SATURATION_QUESTION = "Up to which load does each tracer deliver every span, and at what cost?"
COST, LOST, DROPPED = "cpu_per_request_services_ms", "spans_lost_fraction", "spans_dropped_fraction"
PER_REQUEST = "spans_accepted_per_request"
STREAMING, SDK, UNSAMPLED = "streaming-sink", "manual-sink", "manual-unsampled"
LEVELS = (STREAMING, SDK, UNSAMPLED)

# Required: of what the SDK adds over itself unsampled, so much is gone; and every span arrives.
LEAST_GONE = 0.5
# Less is no loss. A load waits 5 s for its last requests, and then counts a request on one side only.
MOST_LOST_PERCENT = 0.1


def required(summary: Summary, seed: int) -> list[Row]:
    """Judge a run. `seed`: of the experiment, for intervals. Raises `UserError` if it lacks one of the levels."""
    if missing := [level for level in LEVELS if level not in summary.levels]:
        raise UserError(f"this run has no level {', '.join(missing)}", "name a run of `lab experiment span-pipeline`")
    return [
        above("gone of what the SDK adds to unsampled", _gone(summary, seed), LEAST_GONE),
        _most(summary, LOST, f"spans lost, {STREAMING}", MOST_LOST_PERCENT),
        _most(summary, DROPPED, f"spans that the tracer dropped, {STREAMING}", 0),
    ]


def saturation(summary: Summary, seed: int) -> list[Row]:
    """Return for each tracer the largest load at which at most 0.1 % were lost, and the spans per second of CPU there.

    Raises `UserError` if the run has no levels of a tracer and a number of users.
    """
    loads = [level.split("/") for level in summary.levels if "/users-" in level]
    if not loads:
        raise UserError("this run has no numbers of users", "name a run of `lab experiment span-saturation`")
    return [
        _until_first_drop(
            summary, tracer, sorted(int(load.removeprefix("users-")) for one, load in loads if one == tracer), seed
        )
        for tracer in dict.fromkeys(tracer for tracer, _ in loads)
    ]


def _until_first_drop(summary: Summary, tracer: str, users: Sequence[int], seed: int) -> Row:
    """Judge a tracer by its loads, smallest first, until one lost more than 0.1 %. It fails if the smallest did.

    What a tracer counts is exact. Otherwise a share as far below 0 as it may be above is inconclusive. Beyond a load
    that is inconclusive or was not measured, nothing is known: such a row fails.
    """
    known, passed = "", False
    for number in users:
        values = [one.values for one in summary.trials if one.counts and one.level == f"{tracer}/users-{number}"]
        dropped, lost = ([100 * one[name] for one in values if name in one] for name in (DROPPED, LOST))
        shares = dropped or lost
        if not shares:
            known, passed = f"{known}; {number} users {MISSING}" if known else "", False
            break
        share = f"{min(shares):.2f} to {max(shares):.2f} % {'dropped' if dropped else 'lost'}"
        if max(shares) > MOST_LOST_PERCENT:
            known += f"{'; ' if known else ''}first above {MOST_LOST_PERCENT:g} % with {number} users, {share}"
            break
        passed = min(shares) >= -MOST_LOST_PERCENT
        mean = mean_interval(
            [1000 * one[PER_REQUEST] / one[COST] for one in values],
            summary.confidence,
            seed,
            summary.block_correlation.get(COST, 0.0),
        )
        known = f"{number} of {users[-1]} users, {share}, {shown(mean, 0)} spans per CPU-second"
        if not passed:
            known += f", {INCONCLUSIVE}"
            break
    return judged(f"largest load, {tracer}", known or MISSING, f"at most {MOST_LOST_PERCENT:g} %", passed)


def _gone(summary: Summary, seed: int) -> Interval | None:
    """Return the share that is gone, with Fieller's interval; None without blocks that have all levels."""
    left = overhead_ratio(summary, COST, STREAMING, SDK, [UNSAMPLED], seed)
    if left is None:
        return None
    return Interval(
        1 - left.mean, None if left.high is None else 1 - left.high, None if left.low is None else 1 - left.low
    )


def _most(summary: Summary, metric: str, name: str, most_percent: float) -> Row:
    """Judge a metric's largest share over the trials of the streaming tracer. It fails where none is known."""
    shares = [
        100 * one.values[metric]
        for one in summary.trials
        if one.counts and one.level == STREAMING and metric in one.values
    ]
    return at_most(name, max(shares, default=None), most_percent, " %")
