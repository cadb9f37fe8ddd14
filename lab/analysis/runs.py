"""Runs of one design together: their mean, and the interval for the next run (docs/explanation/statistics.md)."""

import datetime
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike

from lab.analysis.designs import of_surroundings
from lab.analysis.sets import with_its_set
from lab.analysis.stats import Comparison, Interval, holm
from lab.record import Combined, CombinedEstimate, CombinedRun, RunValue, Summary, TrialSummary

FEWEST_RUNS = 6
"""For a prediction interval. With fewer, Student's quantile makes it too wide to be of use."""
APART = datetime.timedelta(hours=3)
"""Runs in a row share the state of the machine; the next run, on another day, will not."""
MOST_REJECTED = 0.1
"""The largest share of a run's blocks that may be rejected: a run with more of them was not what its plan said."""
MOST_NOT_SETTLED = 0.5
"""The largest share of a run's blocks that may not have settled: runs weigh alike, however few blocks they have."""


@dataclass(frozen=True)
class Run:
    """A run that was analysed: the name of its folder, its manifest and its summary."""

    name: str
    manifest: Mapping[str, Any]
    summary: Summary

    @property
    def started(self) -> datetime.datetime:
        """When it was started."""
        return datetime.datetime.fromisoformat(self.manifest["started"])


def mean_over_runs(values: ArrayLike, confidence: float) -> Interval:
    """Return the unweighted mean of one value per run, with Student's t interval; raises `ValueError` for none.

    Unweighted, since runs differ by more than their own intervals say: a weight by these would favour one of them.
    """
    runs = np.asarray(values, dtype=np.float64)
    if runs.ndim != 1 or len(runs) == 0:
        raise ValueError("a mean needs at least one run")
    mean, n = float(runs.mean()), len(runs)
    if n == 1:
        return Interval(mean)
    error = float(runs.std(ddof=1)) / math.sqrt(n)
    reach = float(scipy.special.stdtrit(n - 1, (1 + confidence) / 2)) * error
    t = abs(mean) / error if error else math.inf if mean else 0.0
    return Interval(mean, mean - reach, mean + reach, float(2 * scipy.special.stdtr(n - 1, -t)))


def prediction(values: ArrayLike, confidence: float) -> tuple[float, float]:
    """Return the interval that holds the value of one more run: mean ± t(n - 1) · s · sqrt(1 + 1/n).

    (Hahn and Meeker, Statistical Intervals, 1991, section 4.7.) Its confidence is that of drawing n + 1 runs from one
    normal distribution. Raises `ValueError` for fewer than 2 runs.
    """
    runs = np.asarray(values, dtype=np.float64)
    n = len(runs)
    if n < 2:
        raise ValueError("a prediction needs at least two runs")
    mean = float(runs.mean())
    quantile = float(scipy.special.stdtrit(n - 1, (1 + confidence) / 2))
    reach = quantile * float(runs.std(ddof=1)) * math.sqrt(1 + 1 / n)
    return mean - reach, mean + reach


def no_prediction(started: Sequence[datetime.datetime]) -> str | None:
    """Say why runs started at these times allow no prediction interval; None where they do."""
    needs = f"{len(started)} runs: a prediction interval needs"
    if len(started) < FEWEST_RUNS:
        return f"{needs} six, started at least 3 h apart"
    gaps = [(later - sooner, sooner, later) for sooner, later in pairwise(sorted(started))]
    gap, sooner, later = min(gaps)
    if gap >= APART:
        return None
    return (
        f"{needs} them started at least 3 h apart; {sooner:%Y-%m-%d %H:%M} and {later:%Y-%m-%d %H:%M} are "
        f"{gap.total_seconds() / 60:.0f} min apart"
    )


def combine(runs: Sequence[Run]) -> Combined:
    """Combine runs of one design. Of each metric and level, only runs with a value count.

    Raises `ValueError` if fewer than two runs are left.
    """
    known = sorted(runs, key=lambda run: run.started)
    described = [_described(run) for run in known]
    used = [run for run, about in zip(known, described, strict=True) if about.left_out is None]
    if len(used) < 2:
        left_out = [f"{about.run} is left out ({about.left_out})" for about in described if about.left_out]
        raise ValueError("; ".join([f"{len(used)} of {len(known)} runs can be used, two are needed", *left_out]))
    first = used[0].summary
    reason = no_prediction([run.started for run in used])
    shared = [name for name in first.metrics if all(name in run.summary.metrics for run in used)]
    differing = (item.path for run in used[1:] for item in of_surroundings(used[0].manifest, run.manifest))
    return Combined(
        experiment=first.experiment,
        title=first.title,
        baseline=first.baseline,
        placebo=first.placebo,
        headline=first.headline,
        confidence=first.confidence,
        equivalence_margin=first.equivalence_margin,
        metrics={name: first.metrics[name] for name in shared},
        runs=described,
        differences=sorted(set(differing)),
        no_prediction=reason,
        estimates=[row for name in shared for row in _combined(name, used, reason is None)],
    )


def _described(run: Run) -> CombinedRun:
    trials, levels = run.summary.trials, run.summary.levels
    blocks = {trial.block for trial in trials}

    def incomplete(found: Sequence[TrialSummary]) -> int:
        has = {(trial.block, trial.level) for trial in found}
        return sum(any((block, level) not in has for level in levels) for block in blocks)

    rejected = incomplete([trial for trial in trials if trial.valid])
    not_settled = incomplete([trial for trial in trials if trial.counts]) - rejected
    by_level = Counter(trial.level for trial in trials if not trial.valid and not with_its_set(trial))
    return CombinedRun(
        run=run.name,
        started=run.manifest["started"],
        seed=run.manifest["seed"],
        revision=(run.manifest.get("git") or {}).get("revision"),
        blocks=len(blocks),
        rejected_blocks=rejected,
        not_settled_blocks=not_settled,
        rejected={level: by_level[level] for level in levels},
        left_out=_left_out(len(blocks), rejected, not_settled),
    )


def _left_out(blocks: int, rejected: int, not_settled: int) -> str | None:
    """Say why a run does not count; None where it does."""
    if not blocks:
        return "no block was measured"
    if rejected > MOST_REJECTED * blocks:
        return f"{rejected} of {blocks} blocks rejected"
    if not_settled > MOST_NOT_SETTLED * blocks:
        return f"{not_settled} of {blocks} blocks not settled"
    return None


def _combined(metric: str, runs: Sequence[Run], predicts: bool) -> list[CombinedEstimate]:
    """Return a row for each level that has the metric, and no bound of it, in at least two runs."""
    summary = runs[0].summary
    rows = [_row(metric, level, runs, predicts) for level in summary.levels]
    found = [row for row in rows if row is not None]
    adjusted = holm({row.level: row.p_value for row in found if row.p_value is not None})
    return [
        row
        if row.ratio is None
        else row.model_copy(
            update={
                "p_adjusted": adjusted[row.level],
                "finding": Comparison(row.n, _ratio(row), Interval(0.0)).finding(
                    adjusted[row.level], 1 - summary.confidence, summary.equivalence_margin
                ),
            }
        )
        for row in found
    ]


def _ratio(row: CombinedEstimate) -> Interval | None:
    return None if row.ratio is None else Interval(row.ratio, row.ratio_low, row.ratio_high, row.p_value)


def _row(metric: str, level: str, runs: Sequence[Run], predicts: bool) -> CombinedEstimate | None:
    confidence = runs[0].summary.confidence
    values = [
        (run.name, row) for run in runs for row in run.summary.estimates if (row.metric, row.level) == (metric, level)
    ]
    if len(values) < 2 or any(row.censored for _, row in values):
        return None
    mean = mean_over_runs([row.mean for _, row in values], confidence)
    shown = CombinedEstimate(
        metric=metric,
        level=level,
        n=len(values),
        mean=mean.mean,
        mean_low=mean.low,
        mean_high=mean.high,
        runs=[
            RunValue(run=name, mean=row.mean, ratio=row.ratio, ratio_low=row.ratio_low, ratio_high=row.ratio_high)
            for name, row in values
        ],
    )
    ratios = [row.ratio for _, row in values if row.ratio is not None and not row.comparison_censored]
    if len(ratios) < 2:
        return shown
    logs = np.log(ratios)
    found = mean_over_runs(logs, confidence)
    low, high = prediction(logs, confidence) if predicts and len(ratios) >= FEWEST_RUNS else (None, None)
    return shown.model_copy(
        update={
            "n": len(ratios),
            "ratio": math.exp(found.mean),
            "ratio_low": _exp(found.low),
            "ratio_high": _exp(found.high),
            "next_low": _exp(low),
            "next_high": _exp(high),
            "log_ratio_sd": float(logs.std(ddof=1)),
            "p_value": found.p_value,
        }
    )


def _exp(value: float | None) -> float | None:
    return None if value is None else math.exp(value)
