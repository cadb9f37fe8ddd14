"""Do several ways to run find the same ratios? The rows of `lab check ways`, from two or more runs. Pure."""

from collections.abc import Iterator, Sequence
from itertools import combinations

from lab.analysis.checklist import Row, within
from lab.analysis.runs import Run
from lab.analysis.two_runs import compare_runs
from lab.errors import UserError

QUESTION = "Do the ways to run find the same ratios?"
# Required: the ratio of two ways' ratios is known to differ by at most 3 %.
LOW, HIGH = 0.97, 1.03


def same_ratios(runs: Sequence[Run]) -> list[Row]:
    """Require each two runs to find the same ratio of every level that both have, but the baseline and its placebo.

    All rows have to pass, so nothing is corrected for their number. Raises `UserError` where there is nothing to
    compare.
    """
    if len({(run.started, run.manifest["seed"]) for run in runs}) < max(2, len(runs)):
        raise UserError("ways are compared in at least two runs, each named once", "name one run of each way")
    return [
        row
        for (first, one), (second, other) in combinations(enumerate(runs, 1), 2)
        for row in _of_two(one, other, f"run {second} / run {first}")
    ]


def _of_two(one: Run, other: Run, which: str) -> Iterator[Row]:
    """Yield a row for each level; it fails where one of the runs has no ratio of it."""
    levels = [
        level
        for level in one.summary.levels
        if level in other.summary.levels and level not in one.summary.compared_with
    ]
    if not levels or one.summary.baseline != other.summary.baseline:
        raise UserError(
            f"{one.name} and {other.name} have different baselines, or no other level in common",
            "name runs of the same levels",
        )
    found = compare_runs(one.summary, other.summary, one.summary.headline.primary)
    quotients = {row.level: row.quotient for row in found}
    for level in levels:
        yield within(f"{level}, {which}", quotients.get(level), LOW, HIGH)
