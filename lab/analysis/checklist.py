"""What a `lab check` says: a row for each thing that is required of a run, with PASS or FAIL. Pure."""

import math
from dataclasses import dataclass
from typing import Literal

from lab.analysis.stats import Interval
from lab.record import Estimate

INCONCLUSIVE = "inconclusive"
MISSING = "not measured"


@dataclass(frozen=True)
class Row:
    """One thing that is required. `value`: what was found, `bound`: what is required of it, both as text."""

    name: str
    value: str
    bound: str
    verdict: Literal["PASS", "FAIL"]

    @property
    def passed(self) -> bool:
        """Whether the run keeps the bound."""
        return self.verdict == "PASS"


def half_width_points(row: Estimate | None) -> float | None:
    """Return half the width of a ratio's interval in points, of which 100 are a ratio of 1; None without one."""
    if row is None or row.ratio_low is None or row.ratio_high is None:
        return None
    return 100 * (row.ratio_high - row.ratio_low) / 2


def within(name: str, found: Interval | None, low: float, high: float, decimals: int = 3, unit: str = "") -> Row:
    """Require the complete interval to lie from `low` to `high`.

    If only the estimate lies there, the row fails as inconclusive: more sets could decide.
    """
    return _inside(name, found, low, high, f"within {low:.{decimals}f} to {high:.{decimals}f}{unit}", decimals, unit)


def above(name: str, found: Interval | None, least: float, decimals: int = 2, unit: str = "") -> Row:
    """Require the complete interval to be at least `least`. See `within`."""
    return _inside(name, found, least, math.inf, f"at least {least:.{decimals}f}{unit}", decimals, unit)


def below(name: str, found: Interval | None, most: float, decimals: int = 2, unit: str = "") -> Row:
    """Require the complete interval to be at most `most`. See `within`."""
    return _inside(name, found, -math.inf, most, f"at most {most:.{decimals}f}{unit}", decimals, unit)


def contains(name: str, found: Interval | None, truth: float, decimals: int = 3, unit: str = "") -> Row:
    """Require the interval to contain `truth`."""
    ends = _ends(found)
    passed = ends is not None and ends[0] <= truth <= ends[1]
    return judged(name, shown(found, decimals, unit), f"contains {truth:.{decimals}f}{unit}", passed)


def at_least(name: str, found: float | None, least: float) -> Row:
    """Require a number of at least `least`. It fails where none is known."""
    value = MISSING if found is None else f"{found:g}"
    return judged(name, value, f"at least {least:g}", found is not None and found >= least)


def at_most(name: str, found: float | None, most: float, unit: str = "") -> Row:
    """Require a number of at most `most`. It fails where none is known."""
    value = MISSING if found is None else f"{found:.3g}{unit}"
    return judged(name, value, f"at most {most:g}{unit}", found is not None and found <= most)


def shown(found: Interval | None, decimals: int, unit: str = "") -> str:
    """Return an estimate and its interval as text."""
    if found is None:
        return MISSING
    ends = _ends(found)
    interval = f" ({ends[0]:.{decimals}f} to {ends[1]:.{decimals}f})" if ends else ""
    return f"{found.mean:.{decimals}f}{interval}{unit}"


def _inside(name: str, found: Interval | None, low: float, high: float, bound: str, decimals: int, unit: str) -> Row:
    ends = _ends(found)
    passed = ends is not None and low <= ends[0] and ends[1] <= high
    undecided = not passed and found is not None and low <= found.mean <= high
    return judged(name, shown(found, decimals, unit) + (f", {INCONCLUSIVE}" if undecided else ""), bound, passed)


def _ends(found: Interval | None) -> tuple[float, float] | None:
    if found is None or found.low is None or found.high is None:
        return None
    return found.low, found.high


def judged(name: str, value: str, bound: str, passed: bool) -> Row:
    """Return what was required, found, and whether that is enough."""
    return Row(name, value, bound, "PASS" if passed else "FAIL")
