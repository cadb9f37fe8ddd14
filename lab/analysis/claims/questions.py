"""From a claim's tests to elementary questions: one ratio or value, of one metric, within bounds or not."""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from lab.analysis.claims.spec import Claim, Order, OverheadRatio, Ratio, Same, Test, Trend, Value

Quantity = Literal["value", "ratio", "overhead ratio", "change"]
"""`value`: of one level, in the metric's unit. `ratio`: of the first level to the second. `overhead ratio`: of the
first's to the second's distance from the third, the baseline. `change`: the last level to the first, along the line
that fits all levels."""


@dataclass(frozen=True)
class Bounds:
    """A range of ratios; every ratio lies above 0 and below infinity."""

    low: float = 0.0
    high: float = math.inf


ABOVE = Bounds(low=1.0)


@dataclass(frozen=True)
class Question:
    """Whether a ratio lies within `bounds`.

    The answer is yes if the interval lies within `bounds`, and no if it misses them: both only become more likely with
    more data. With `beyond_noise`, a yes must lie above the noise floor too. `clear`: the ratios that differ from 1 as
    claimed and by more than the margin. Data that do not decide may still exclude them.
    """

    metric: str
    quantity: Quantity
    levels: tuple[str, ...]
    bounds: Bounds
    clear: Bounds = Bounds()
    beyond_noise: bool = False


def questions(claim: Claim, baseline: str, margin: float) -> list[Question]:
    """Return the questions that must all be answered with yes; `margin` is for tests without their own."""
    return [
        question
        for test in claim.tests
        for metric in test.metrics
        for question in _questions(test, metric, baseline, margin)
    ]


def _questions(test: Test, metric: str, baseline: str, margin: float) -> Iterator[Question]:
    match test:
        case Order(lower=lower, higher=higher):
            clear = Bounds(low=1 + (test.margin or margin))
            for below, level in itertools.product(lower, higher):
                yield Question(metric, "ratio", (level, below), ABOVE, clear, test.by_more_than is not None)
        case Same(levels=levels):
            near = _near(test.margin)
            for pair in itertools.combinations(levels, 2):
                if test.of == "value" or baseline in pair:
                    yield Question(metric, "ratio", pair, near)
                else:
                    yield Question(metric, "overhead ratio", (*pair, baseline), near)
        case OverheadRatio(level=level, to=to, within=within):
            yield Question(metric, "overhead ratio", (level, to, baseline), Bounds(*within))
        case Ratio(level=level, to=to, within=within):
            yield Question(metric, "ratio", (level, to), Bounds(*within))
        case Value(level=level, within=within):
            yield Question(metric, "value", (level,), Bounds(*within))
        case Trend(over=over):
            yield from _trend(test, metric, over, test.margin or margin)


def _trend(test: Trend, metric: str, over: Sequence[str], margin: float) -> Iterator[Question]:
    """Yield the change over the complete list and, for a steady trend, each step.

    What a level has above the baseline changes as the level itself does, since the baseline is the same along the list.
    """
    levels = tuple(over)
    if test.goes == "nowhere":
        yield Question(metric, "change", levels, _near(margin))
        return
    turned = _inverse if test.goes == "down" else lambda bounds: bounds
    yield Question(metric, "change", levels, turned(ABOVE), turned(Bounds(low=1 + margin)))
    if test.steadily:
        for before, after in itertools.pairwise(levels):
            yield Question(metric, "ratio", (after, before), turned(Bounds(low=1 / (1 + margin))))


def _inverse(bounds: Bounds) -> Bounds:
    """Return the same bounds of the inverse ratio."""
    return Bounds(1 / bounds.high, 1 / bounds.low if bounds.low else math.inf)


def _near(margin: float) -> Bounds:
    """Return the bounds of ratios that are the same within the margin, in either direction."""
    return Bounds(1 / (1 + margin), 1 + margin)
