"""Numbers as a reader wants them: few digits, a unit that fits, and the sign that belongs to a change."""

from dataclasses import dataclass
from math import floor, isfinite, log10


@dataclass(frozen=True)
class Scale:
    """The unit that a metric's values are shown in, and how many of the record's units it holds."""

    unit: str
    factor: float


def scale_for(unit: str, largest: float) -> Scale:
    """Choose a readable scale for values of `unit` up to `largest`; only bytes have several."""
    if unit.lower() not in {"b", "byte", "bytes"}:
        return Scale(unit, 1.0)
    for name, factor in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if abs(largest) >= factor:
            return Scale(name, factor)
    return Scale("B", 1.0)


def number(value: float | None, digits: int = 3) -> str:
    """Format with `digits` significant digits, never in scientific notation; a dash for what is not there."""
    if value is None or not isfinite(value):
        return "–"
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - floor(log10(abs(value))))
    return f"{value:,.{min(decimals, 6)}f}".replace("-", "−")


def ratio(value: float | None) -> str:
    """Format a ratio with two decimals, more digits where it is small."""
    if value is None or not isfinite(value):
        return "–"
    return f"{value:.2f}" if value >= 0.1 else number(value, 2)


def times(value: float) -> str:
    """Format a ratio as an axis shows it: `×1.5`."""
    return f"×{value:g}"


def change(value: float | None) -> str:
    """Format a ratio as the change from the baseline: `+42 %`."""
    if value is None or not isfinite(value):
        return "–"
    percent = (value - 1) * 100
    text = f"{abs(percent):,.0f} %" if abs(percent) >= 9.95 else f"{abs(percent):.1f} %"
    return ("+" if percent >= 0 else "−") + text


def percent(value: float | None) -> str:
    """Format a fraction as a percentage without a sign."""
    return "–" if value is None or not isfinite(value) else f"{number(value * 100, 2)} %"


def interval(low: float | None, high: float | None) -> str:
    """Format an interval of plain numbers."""
    return f"{number(low)} to {number(high)}"


def ratio_interval(low: float | None, high: float | None) -> str:
    """Format an interval of ratios."""
    return f"{ratio(low)} to {ratio(high)}"


def duration(seconds: float) -> str:
    """Format a span of time: `45 s`, `7 min 05 s`, `2 h 03 min`."""
    whole = round(seconds)
    if whole < 60:
        return f"{number(seconds, 2)} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def short(name: str, longest: int = 32) -> str:
    """Shorten a name for a figure's label; tables show it whole."""
    return name if len(name) <= longest else name[: longest - 1] + "…"
