"""From raw records to estimates: `trials/*` in, `summary.json` out."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from lab.analysis.metrics import (
    MEASURES,
    Measure,
    Pieces,
    pieces,
    values,
    with_adjusted_values,
    with_paired_values,
)
from lab.analysis.metrics.shares import by_counts, share_interval
from lab.analysis.stats.compare import Comparison, compare, mean_of, paired
from lab.analysis.stats.intervals import Interval, mean_interval
from lab.analysis.stats.multiple import holm
from lab.errors import UserError
from lab.record.records import (
    VERSION_HINT,
    Estimate,
    LevelSummary,
    MetricSummary,
    Summary,
    TrialSummary,
    read_json,
    read_trial,
    read_trial_record,
    write_json_atomic,
)
from lab.spec.experiment import PLACEBO, Experiment, Level

CONFIDENCE = 0.95
# The half of the smallest effect that the studies argue about (10 %).
EQUIVALENCE_MARGIN = 0.05


def analyse(results_dir: Path) -> Summary:
    """Estimate every metric of every level from a run's records, and write `summary.json` beside them.

    Raises `UserError` where the folder holds no run or a record is broken.
    """
    experiment = experiment_of(results_dir)
    folders = sorted(path.parent for path in results_dir.glob("trials/*/trial.json"))
    judged = [_judged(folder) for folder in folders]
    windows = [found for _, found in judged if found is not None]
    summary = summarise(experiment, [trial for trial, _ in judged], windows)
    write_json_atomic(results_dir / "summary.json", summary.model_dump(mode="json"))
    return summary


def summarise(experiment: Experiment, trials: Sequence[TrialSummary], windows: Sequence[Pieces] = ()) -> Summary:
    """Estimate every metric of every level from its valid trials' values, and from their `windows` in pieces."""
    levels = {level.name: level.settings() for level in _ordered_levels(experiment)}
    trials, adjustments = with_adjusted_values(trials, windows)
    trials = with_paired_values(trials, _compared_with(experiment))
    counted = [trial for trial in trials if trial.valid and trial.level in levels]
    estimates = [row for metric in MEASURES for row in _estimates(metric, experiment, list(levels), counted)]
    shown = {estimate.metric for estimate in estimates}
    return Summary(
        experiment=experiment.name,
        title=experiment.title,
        baseline=experiment.baseline,
        placebo=PLACEBO,
        compared_with=_compared_with(experiment),
        confidence=CONFIDENCE,
        equivalence_margin=EQUIVALENCE_MARGIN,
        metrics={name: _metric_summary(metric) for name, metric in MEASURES.items() if name in shown},
        levels={
            name: LevelSummary(
                settings=settings,
                trials=sum(trial.level == name for trial in counted),
                refused=sum(trial.level == name and not trial.valid for trial in trials),
            )
            for name, settings in levels.items()
        },
        estimates=estimates,
        trials=trials,
        adjustments=adjustments,
    )


def experiment_of(results_dir: Path) -> Experiment:
    """Return the experiment that a run's manifest holds; raises `UserError` where this lab does not know its form."""
    path = results_dir / "manifest.json"
    manifest = read_json(path, "tollbooth.manifest", 1)
    try:
        return Experiment.model_validate(_without_reference(manifest.get("spec")))
    except ValidationError as error:
        raise UserError(f"{path}: its experiment is not one that this lab knows", VERSION_HINT) from error


def _without_reference(spec: Any) -> Any:
    """Drop `reference: false`, a setting that the protocol had once and no kept run used. Until lab migrate."""
    protocol = spec.get("protocol") if isinstance(spec, dict) else None
    if not isinstance(protocol, dict) or protocol.get("reference") is not False:
        return spec
    return {**spec, "protocol": {name: value for name, value in protocol.items() if name != "reference"}}


def _ordered_levels(experiment: Experiment) -> list[Level]:
    """Return baseline, placebo, then the others as the file has them."""
    others = [level for level in experiment.levels() if level.name != experiment.baseline]
    return [experiment.baseline_level(), experiment.placebo_level(), *others]


def _judged(folder: Path) -> tuple[TrialSummary, Pieces | None]:
    """Read a trial's verdict and, if it is valid, its values: a refused one's records may not even be there."""
    trial = read_trial_record(folder)
    data = read_trial(folder) if trial.valid else None
    summary = TrialSummary(
        trial=folder.name,
        level=trial.level,
        block=trial.block,
        position=trial.position,
        valid=trial.valid,
        reasons=trial.reasons,
        values=values(data) if data else {},
    )
    return summary, pieces(data) if data and data.speed else None


def _metric_summary(metric: Measure) -> MetricSummary:
    return MetricSummary(title=metric.title, unit=metric.unit, better=metric.better, share_of=metric.share_of)


def _estimates(
    metric: str, experiment: Experiment, levels: Sequence[str], trials: Sequence[TrialSummary]
) -> list[Estimate]:
    """Return a row for each level that has the metric."""
    seed = experiment.protocol.seed
    by_level: defaultdict[str, list[TrialSummary]] = defaultdict(list)
    for trial in trials:
        if metric in trial.values:
            by_level[trial.level].append(trial)
    beside = _compared_with(experiment)
    comparisons = {
        level: found
        for level in by_level
        if level != experiment.baseline and (found := _comparison(metric, by_level, level, beside, seed)) is not None
    }
    adjusted = holm({name: found.p_value for name, found in comparisons.items() if found.p_value is not None})
    noise_floor = _noise_floor(comparisons.get(PLACEBO))
    rows = []
    for level in levels:
        if level not in by_level:
            continue
        mean = _mean(metric, by_level[level], seed)
        row = Estimate(
            metric=metric,
            level=level,
            baseline=experiment.baseline,
            mean=mean.mean,
            mean_low=mean.low,
            mean_high=mean.high,
            n=len(by_level[level]),
            noise_floor=noise_floor,
        )
        if level != experiment.baseline and not by_level.keys().isdisjoint(beside):
            row = row.model_copy(update=_compared(comparisons.get(level), adjusted.get(level)))
        rows.append(row)
    return rows


def _mean(metric: str, trials: Sequence[TrialSummary], seed: int) -> Interval:
    """Return a level's mean over blocks; of a share, that of all its trials together."""
    share_of = MEASURES[metric].share_of
    share = share_interval(share_of, trials, CONFIDENCE) if share_of else None
    return share or mean_interval(list(_by_block(metric, trials).values()), CONFIDENCE, seed)


def _compared_with(experiment: Experiment) -> tuple[str, ...]:
    """Return what levels are compared with: the baseline, which every block has twice."""
    return experiment.baseline, PLACEBO


def _comparison(
    metric: str, by_level: Mapping[str, Sequence[TrialSummary]], level: str, beside: Sequence[str], seed: int
) -> Comparison | None:
    """Compare a level with the mean of those `beside`, but for itself; None where no block has both."""
    trials = by_level[level]
    references = [by_level.get(name, ()) for name in beside if name != level]
    pairs = paired(_by_block(metric, trials), mean_of([_by_block(metric, reference) for reference in references]))
    if not pairs:
        return None
    comparison, share_of = compare(pairs, CONFIDENCE, seed), MEASURES[metric].share_of
    if share_of is None:
        return comparison
    return by_counts(share_of, comparison, trials, [trial for found in references for trial in found], CONFIDENCE)


def _by_block(metric: str, trials: Sequence[TrialSummary]) -> dict[int, float]:
    return {trial.block: trial.values[metric] for trial in trials}


def _compared(comparison: Comparison | None, p_adjusted: float | None) -> dict[str, object]:
    """Return an estimate's fields that hold the comparison; None: no block has both."""
    if comparison is None:
        return {"n": 0, "finding": "cannot tell"}
    ratio, difference = comparison.ratio, comparison.difference
    return {
        "ratio": ratio and ratio.mean,
        "ratio_low": ratio and ratio.low,
        "ratio_high": ratio and ratio.high,
        "difference": difference.mean,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "log_ratio_sd": comparison.log_ratio_sd,
        "n": comparison.n,
        "p_value": comparison.p_value,
        "p_adjusted": p_adjusted,
        "finding": comparison.finding(p_adjusted, 1 - CONFIDENCE, EQUIVALENCE_MARGIN),
    }


def _noise_floor(placebo: Comparison | None) -> float | None:
    """Return how far from 1 the placebo's ratio may be: what this run cannot tell from no effect."""
    if placebo is None or placebo.ratio is None or placebo.ratio.low is None or placebo.ratio.high is None:
        return None
    return max(abs(placebo.ratio.low - 1), abs(placebo.ratio.high - 1))
