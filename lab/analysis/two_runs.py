"""Two runs, of one design or of two: the ratio of their ratios, level by level (docs/explanation/statistics.md)."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import scipy

from lab.analysis.pooled import censoring
from lab.analysis.stats import Comparison, Interval, holm, independent, log_ratios, mean_of, of_overheads, paired
from lab.record import Estimate, Summary

Contrast = Literal["differs", "same within margin", "inconclusive"]


@dataclass(frozen=True)
class Compared:
    """A level in two runs: its ratio to the baseline in each, and the second run's ratio divided by the first's.

    `quotient` is None where a value is only a bound. It has no interval if one of the runs has fewer than two blocks.
    """

    level: str
    one: Estimate
    other: Estimate
    quotient: Interval | None
    word: Contrast = "inconclusive"


def compare_runs(one: Summary, other: Summary, metric: str) -> list[Compared]:
    """Compare a metric's ratios to the baseline, of the levels for which both runs have one.

    Welch's interval of the difference of log ratios, from the values of each run's blocks, which share nothing across
    runs; it is wider where neighbouring blocks of a run are correlated. p values are corrected for the number of levels
    (Holm). The margin is that of overheads.
    """
    found = {row.level: row for row in _compared(one, other, metric)}
    p_values = {name: row.quotient.p_value for name, row in found.items() if row.quotient}
    adjusted = holm({name: p_value for name, p_value in p_values.items() if p_value is not None})
    alpha = 1 - one.confidence
    margins = {
        name: of_overheads(one.equivalence_margin, row.other.ratio, row.one.ratio) for name, row in found.items()
    }
    return [
        replace(row, word=_word(row.quotient, adjusted.get(name), alpha, margins[name])) for name, row in found.items()
    ]


def _word(quotient: Interval | None, p_adjusted: float | None, alpha: float, margin: float) -> Contrast:
    found = Comparison(0, quotient, Interval(0.0)).finding(p_adjusted, alpha, margin)
    return "differs" if found in {"higher", "lower"} else found  # type: ignore[return-value]


def _compared(one: Summary, other: Summary, metric: str) -> Iterator[Compared]:
    rows, others = (run.estimates_of(metric) for run in (one, other))
    for level in rows:
        if level in others and rows[level].ratio is not None and others[level].ratio is not None:
            logs = log_ratios_of(one, metric, level), log_ratios_of(other, metric, level)
            correlations = [run.block_correlation.get(metric, 0.0) for run in (one, other)]
            found = quotient(*logs, one.confidence, correlations) if all(logs) else None
            yield Compared(level, rows[level], others[level], found)


def quotient(
    one: Sequence[float], other: Sequence[float], confidence: float, correlations: Sequence[float] = (0.0, 0.0)
) -> Interval:
    """Return exp(mean of `other` - mean of `one`), both log ratios by block, with Welch's interval.

    `correlations`: of neighbouring blocks, of each side (`serial`). There is no interval where a side has fewer than
    two blocks, or no side's values vary.
    """
    difference = float(np.mean(other) - np.mean(one))
    if min(len(one), len(other)) < 2 or len(set(one)) == len(set(other)) == 1:
        return Interval(math.exp(difference))
    first, of_first = _variance(one, correlations[0])
    second, of_second = _variance(other, correlations[1])
    error = math.sqrt(first + second)
    freedom = (first + second) ** 2 / (first**2 / of_first + second**2 / of_second)
    reach = float(scipy.special.stdtrit(freedom, (1 + confidence) / 2)) * error
    p_value = float(2 * scipy.special.stdtr(freedom, -abs(difference) / error))
    return Interval(math.exp(difference), math.exp(difference - reach), math.exp(difference + reach), p_value)


def _variance(logs: Sequence[float], correlation: float) -> tuple[float, float]:
    """Return the variance of the blocks' mean, and its degrees of freedom."""
    factor, freedom = independent(len(logs), correlation)
    return float(factor) * float(np.var(logs, ddof=1)) / len(logs), float(freedom)


def log_ratios_of(summary: Summary, metric: str, level: str) -> Sequence[float]:
    """Return a level's log ratio to what it is compared with, in each block that has both.

    Nothing if a value is only a bound or not positive.
    """
    others = [name for name in summary.compared_with if name != level]
    trials = [trial for trial in summary.trials if trial.counts and trial.level in {level, *others}]
    if censoring(metric, trials):
        return []
    values = {
        name: {trial.block: trial.values[metric] for trial in trials if trial.level == name and metric in trial.values}
        for name in {level, *others}
    }
    pairs = np.array(paired(values[level], mean_of([values[name] for name in others]))).reshape(-1, 2)
    if not len(pairs) or pairs.min() <= 0:
        return []
    return list(map(float, log_ratios(*pairs.T)))
