"""Shares of requests: how sure one is, how two differ, and whether several runs agree.

All of it takes requests to fail independently of each other, with one probability. `pool` says whether runs look so.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

# A p value to half a thousandth: the question is whether it is under some hundredths.
RESAMPLES = 2_000


@dataclass(frozen=True)
class Count:
    """`events` (failed requests, say) among `total`; raises `ValueError` for what cannot be counted."""

    events: int
    total: int

    def __post_init__(self) -> None:
        if not 0 <= self.events <= self.total or self.total == 0:
            raise ValueError(f"{self.events} of {self.total} is not a share")

    @property
    def rate(self) -> float:
        """The share."""
        return self.events / self.total


@dataclass(frozen=True)
class ConfidenceInterval:
    """Both bounds belong to it."""

    low: float
    high: float

    def covers(self, value: float) -> bool:
        """Say whether `value` is among those that the data leave open."""
        return self.low <= value <= self.high


def clopper_pearson(count: Count, confidence: float, divisor: float = 1.0) -> ConfidenceInterval:
    """Return the exact interval of a share (Clopper and Pearson, 1934, "The use of confidence or fiducial limits").

    It covers every truth in at least `confidence` of cases, also where events are few or none, and is wider for it.
    `divisor`: both counts are divided by it first.
    """
    events, others, tail = count.events / divisor, (count.total - count.events) / divisor, (1 - confidence) / 2
    return ConfidenceInterval(
        low=float(scipy.special.betaincinv(events, others + 1, tail)) if events else 0.0,
        high=float(scipy.special.betaincinv(events + 1, others, 1 - tail)) if others else 1.0,
    )


@dataclass(frozen=True)
class Pooled:
    """Several runs as one.

    `dispersion` is the variance between the runs by what chance alone gives, about 1 where requests fail independently
    with one probability; `p_value` is of the test that it is no more. Both are None where nothing can differ: a single
    run, no event, or nothing else.
    """

    count: Count
    runs: int
    dispersion: float | None = None
    p_value: float | None = None

    def interval(self, confidence: float) -> ConfidenceInterval:
        """Return the exact interval of the pooled share; where the runs differ, of as many fewer requests.

        They differ if chance alone explains it in too few cases: requests are not independent, or runs not alike.

        Both counts are divided by the dispersion (Rao and Scott, 1992, "A simple method for the analysis of clustered
        binary data"), and, as that is estimated from few runs, by how much wider Student's quantile is than the normal
        one, squared (Korn and Graubard, 1998, "Confidence intervals for proportions with small expected number of
        positive counts estimated from survey data").
        """
        if self.dispersion is None or self.p_value is None or self.p_value > 1 - confidence:
            return clopper_pearson(self.count, confidence)
        tail = (1 + confidence) / 2
        wider = float(scipy.special.stdtrit(self.runs - 1, tail) / scipy.special.ndtri(tail))
        return clopper_pearson(self.count, confidence, divisor=self.dispersion * wider**2)


def pool(runs: Sequence[Count], seed: int) -> Pooled:
    """Add up runs of the same setting, and test whether they agree; raises `ValueError` without any.

    The statistic is the chi-square of homogeneity. Its p value is had by dealing the events out to the runs at random:
    with an event or two in a run, as at small error rates, the chi-square distribution would be a guess.
    """
    if not runs:
        raise ValueError("nothing to pool: no run")
    events, totals = np.array([(run.events, run.total) for run in runs], dtype=np.int64).T
    count = Count(int(events.sum()), int(totals.sum()))
    if len(runs) == 1 or count.events in (0, count.total):
        return Pooled(count, len(runs))
    dealt = np.random.default_rng(seed).multivariate_hypergeometric(totals, count.events, RESAMPLES, method="marginals")
    expected = totals * count.rate
    found, by_chance = (np.sum((x - expected) ** 2 / expected, axis=-1) / (1 - count.rate) for x in (events, dealt))
    p_value = (1 + int(np.sum(by_chance >= found * (1 - 1e-12)))) / (1 + RESAMPLES)
    return Pooled(count, len(runs), float(found) / (len(runs) - 1), p_value)


def difference(one: Pooled, other: Pooled, confidence: float) -> ConfidenceInterval:
    """Return the interval of `one`'s share less `other`'s.

    From both shares' own intervals (Newcombe, 1998, "Interval estimation for the difference between independent
    proportions", method 10, in its general form of Zou and Donner, 2008, "Construction of confidence limits about
    effect measures: a general approach"): it keeps its coverage where events are few or none, as Wald's does not.
    Where both meet the same draws their shares go together, and the interval is wider than it need be.
    """
    first, second = one.interval(confidence), other.interval(confidence)
    gap = one.count.rate - other.count.rate
    return ConfidenceInterval(
        low=gap - math.hypot(one.count.rate - first.low, second.high - other.count.rate),
        high=gap + math.hypot(first.high - one.count.rate, other.count.rate - second.low),
    )
