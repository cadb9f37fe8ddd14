"""Verdicts in a few words, the same in the terminal and in the report."""

import math

from lab.analysis.claims.records import Judged, Part
from lab.report.numbers import DASH, TIMES, change, number, ratio

_VERBS = {"holds": "hold", "does not hold": "do not hold", "inconclusive": "are inconclusive"}


def headline(judged: Judged) -> str:
    """Say what decided a claim: the comparison of the verdict that is closest to failing, or fails most."""
    if not judged.parts:
        return judged.reason or ""
    answer = judged.verdict.removesuffix(" here")
    deciding = [part for part in judged.parts if part.answer == answer]
    shown = describe(min(deciding, key=_slack))
    if len(judged.parts) == 1:
        return shown
    example = "the closest" if answer == "holds" else "such as"
    return f"{len(deciding)} of {len(judged.parts)} comparisons {_VERBS[answer]}, {example}: {shown}"


def describe(part: Part) -> str:
    """Say what a part found: metric, levels, estimate, interval, blocks."""
    found = estimate(part)
    bounds = f" ({interval(part)})" if part.low is not None else ""
    reason = f"; {part.reason}" if part.reason else ""
    return f"{part.title}, {compared(part)}: {found}{bounds}, n = {part.n}{reason}"


def compared(part: Part) -> str:
    """Name what is compared with what."""
    first, last = part.levels[0], part.levels[-1]
    match part.quantity:
        case "value":
            return first
        case "ratio":
            return f"{first} against {last}"
        case "change":
            return f"from {first} to {last}"
        case "overhead ratio":
            return f"overhead of {first} to overhead of {part.levels[1]}"


def wanted(part: Part) -> str:
    """Name the bounds that the complete interval must lie within."""
    low, high = part.wanted_low, part.wanted_high
    if low is not None and high is not None:
        return f"{_show(part, low)} to {_show(part, high)}"
    if low is not None:
        return "higher" if low == 1 else f"above {_show(part, low)}"
    return "lower" if high == 1 else f"below {_show(part, high)}"


def estimate(part: Part) -> str:
    """Format the estimate: as a change, as a factor where it is of overheads."""
    return _show(part, part.estimate)


def interval(part: Part) -> str:
    """Format the interval; empty where there is none."""
    return "" if part.low is None else f"{_show(part, part.low)} to {_show(part, part.high)}"


def _show(part: Part, value: float | None) -> str:
    if value is None:
        return DASH
    if part.quantity == "value":
        return number(value)
    return f"{TIMES}{ratio(value)}" if part.quantity == "overhead ratio" else change(value)


def _slack(part: Part) -> float:
    """Return how far inside its bounds the interval ends, as a share of the bound; negative where it reaches out."""
    ends = ((part.low, part.wanted_low, 1), (part.high, part.wanted_high, -1))
    return min(
        side * (end / bound - 1) if end is not None else -math.inf for end, bound, side in ends if bound is not None
    )
