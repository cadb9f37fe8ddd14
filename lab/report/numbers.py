"""Numbers for readers: few digits, a fitting unit, and a sign for changes."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import floor, isfinite, log10

from lab.analysis.stats import Interval
from lab.record import Censoring

DASH = "\N{EN DASH}"
"""Shown where there is no value."""
MINUS = "\N{MINUS SIGN}"
BOUNDS: Mapping[Censoring, str] = {"at least": "\N{GREATER-THAN OR EQUAL TO}", "at most": "\N{LESS-THAN OR EQUAL TO}"}
TIMES = "\N{MULTIPLICATION SIGN}"
LEAST_SHOWN = 0.001
"""Fractions below it are only said to be below it."""


@dataclass(frozen=True)
class Scale:
    """How a metric's values are shown: in which unit, how many of the record's that is, with how many decimals."""

    unit: str
    factor: float
    decimals: int

    def show(self, value: float) -> str:
        """Format a value given in the record's unit."""
        return fixed(value / self.factor, self.decimals)


def scale_for(unit: str, values: Sequence[float]) -> Scale:
    """Choose a scale for all `values`: the largest decides the unit, the smallest the digits.

    Only bytes have several units; fractions are shown in percent.
    """
    sizes = [abs(value) for value in values if value]
    if unit in {"B", "bytes"}:
        shown_unit, factor = _byte_unit(max(sizes, default=0.0))
    else:
        shown_unit, factor = ("%", 0.01) if unit == "fraction" else (unit, 1.0)
    return Scale(shown_unit, factor, decimals_of(min(sizes, default=0.0) / factor))


def _byte_unit(largest: float) -> tuple[str, float]:
    for name, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if largest >= factor:
            return name, factor
    return "B", 1.0


def number(value: float | None, digits: int = 3) -> str:
    """Format with `digits` significant digits, never in scientific notation; a dash for what is not there."""
    if value is None or not isfinite(value):
        return DASH
    shown = fixed(value, decimals_of(value, digits))
    return shown if shown.strip(f"{MINUS}0.") else "0"


def decimals_of(value: float, digits: int = 3) -> int:
    """Count the decimals that leave `digits` significant digits of `value`."""
    if value == 0 or not isfinite(value):
        return 0
    return min(6, max(0, digits - 1 - floor(log10(abs(value)))))


def fixed(value: float, decimals: int) -> str:
    """Format with `decimals`, a real minus sign, and no minus before zero."""
    return f"{round(value, decimals) + 0.0:,.{decimals}f}".replace("-", MINUS)


def signed(value: float | None, scale: Scale) -> str:
    """Format a difference with its sign, in the scale's unit."""
    if value is None:
        return DASH
    text = scale.show(value)
    return f"+{text}" if value > 0 and text.strip("0.") else text


def bounded(text: str, censored: Censoring | None) -> str:
    """Mark a number that is only a bound: `≥ 120`."""
    return text if censored is None else f"{BOUNDS[censored]} {text}"


def interval(low: float | None, high: float | None, show: Callable[[float], str]) -> str:
    """Format an interval's ends with `show`, empty where there is none."""
    return "" if low is None or high is None else f"{show(low)} to {show(high)}"


def within(estimate: Interval, show: Callable[[float], str]) -> str:
    """Format the ends of an estimate's interval with `show`, empty where there is none."""
    return interval(estimate.low, estimate.high, show)


def ends(estimate: Interval) -> tuple[float, float]:
    """Return where to draw an estimate's interval: at the estimate itself where it has none."""
    low, high = estimate.low, estimate.high
    return (estimate.mean, estimate.mean) if low is None or high is None else (low, high)


def divided(estimate: Interval, factor: float) -> Interval:
    """Return an estimate in a unit `factor` times as large."""
    low, high = (None if end is None else end / factor for end in (estimate.low, estimate.high))
    return Interval(estimate.mean / factor, low, high)


def ratio(value: float | None) -> str:
    """Format a ratio with two decimals, more digits where it is small."""
    if value is None or not isfinite(value):
        return DASH
    return f"{value:.2f}" if value >= 0.1 else number(value, 2)


def ratio_interval(low: float | None, high: float | None) -> str:
    """Format the ends of a ratio's interval, with more digits where one would be shown as 1 and is not."""
    apart = low is not None and high is not None and not low <= 1 <= high and "1.00" in interval(low, high, ratio)
    return interval(low, high, (lambda end: f"{end:.5f}" if round(end, 3) == 1 else f"{end:.3f}") if apart else ratio)


def times(value: float) -> str:
    """Format a ratio as an axis shows it: 1.5 with a times sign."""
    return f"{TIMES}{value:g}"


def change(value: float | None) -> str:
    """Format a ratio as the change from the baseline: `+42 %`."""
    if value is None or not isfinite(value):
        return DASH
    by = (value - 1) * 100
    text = f"{abs(by):,.0f} %" if abs(by) >= 9.95 else f"{abs(by):.1f} %"
    return text if text == "0.0 %" else ("+" if by > 0 else MINUS) + text


def percent(value: float | None) -> str:
    """Format a fraction as a percentage without a sign."""
    if value is None or not isfinite(value):
        return DASH
    return "below 0.1 %" if value < LEAST_SHOWN else f"{number(value * 100, 2)} %"


def noise(floor: float | None) -> str:
    """Format a noise floor as a percentage. Above 100 % any ratio may be noise."""
    return ">100 %" if floor is not None and floor > 1 else percent(floor)


def duration(seconds: float) -> str:
    """Format a span of time: `45 s`, `7 min 05 s`, `2 h 03 min`."""
    rounded = round(seconds)
    if rounded < 60:
        return f"{number(seconds, 2)} s"
    if rounded < 3600:
        return f"{rounded // 60} min {rounded % 60:02d} s"
    return f"{rounded // 3600} h {rounded % 3600 // 60:02d} min"


def short(name: str, longest: int = 32) -> str:
    """Shorten a name for a figure's label; tables show it completely."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
