"""From raw records to estimates: `trials/*` in, `summary.json` out."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from lab.analysis.metrics import measures, values, with_paired_values
from lab.analysis.metrics.bounds import bounds
from lab.analysis.metrics.speed import Pieces, adjusted, pieces, with_adjusted_values
from lab.analysis.pooled import by_counts, censoring, opposite, share_interval
from lab.analysis.stats import (
    Comparison,
    Interval,
    compare,
    correlation_of,
    holm,
    mean_interval,
    mean_of,
    of_overheads,
    paired,
)
from lab.contract import Judgement, Measure, Target
from lab.record import (
    Column,
    Estimate,
    Headline,
    LevelSummary,
    MetricSummary,
    Summary,
    TrialData,
    TrialSummary,
    read_trial,
    read_trial_record,
    trial_folders,
    write_json_atomic,
)
from lab.spec import PLACEBO, Experiment, HeadlineChoice

CONFIDENCE = 0.95
# The half of the smallest effect that the studies argue about (10 %).
EQUIVALENCE_MARGIN = 0.05
OF_ONE_LEVEL = {"metric", "level", "mean", "mean_low", "mean_high", "noise_floor", "censored"}
"""The fields of an estimate that do not depend on what the level is compared with."""


def analyse(results_dir: Path, experiment: Experiment, target: Target[Any]) -> Summary:
    """Estimate every metric of every level from a run's records, and write `summary.json` to the same folder.

    Raises `UserError` where a record is broken.
    """
    found = [of_trial(one.name, _counted(one), target.judgement) for one in trial_folders(results_dir)]
    summary = summarise(experiment, target, [trial for trial, _ in found], [one for _, one in found if one is not None])
    write_json_atomic(results_dir / "summary.json", summary.model_dump(mode="json"))
    return summary


def summarise(
    experiment: Experiment, target: Target[Any], trials: Sequence[TrialSummary], windows: Sequence[Pieces] = ()
) -> Summary:
    """Estimate every metric of every level from its valid trials' values, and from their `windows` in pieces."""
    known = measures(target.judgement)
    # The baseline comes first, then the placebo.
    levels = {
        level.name: level.recorded()
        for level in (
            experiment.baseline_level(),
            *sorted(experiment.all_levels(), key=lambda level: level.name != PLACEBO),
        )
    }
    trials, adjustments = with_adjusted_values(trials, windows, adjusted(target.judgement.metrics))
    trials = with_paired_values(trials, _compared_with(experiment), target.judgement.paired)
    counted = [trial for trial in trials if trial.counts and trial.level in levels]
    correlations = {
        name: correlation_of([_by_block(name, found) for found in _by_level(name, counted).values()]) for name in known
    }
    estimates = [
        row
        for name, measure in known.items()
        for row in _estimates(measure, experiment, list(levels), counted, correlations[name])
    ]
    shown = {estimate.metric for estimate in estimates}
    return Summary(
        experiment=experiment.name,
        title=experiment.title,
        baseline=experiment.baseline,
        placebo=PLACEBO,
        compared_with=_compared_with(experiment),
        headline=with_choice(target.declaration.headline(shown), experiment.headline, known),
        confidence=CONFIDENCE,
        equivalence_margin=EQUIVALENCE_MARGIN,
        metrics={
            name: MetricSummary.model_validate(measure, from_attributes=True)
            for name, measure in known.items()
            if name in shown
        },
        levels={
            name: LevelSummary(
                settings=settings,
                trials=sum(trial.level == name for trial in counted),
                rejected=sum(trial.level == name and not trial.valid for trial in trials),
                not_settled=sum(trial.level == name and trial.valid and not trial.counts for trial in trials),
            )
            for name, settings in levels.items()
        },
        estimates=estimates,
        trials=trials,
        adjustments=adjustments,
        alternating=experiment.load.schedule.alternates,
        block_correlation={name: correlation for name, correlation in correlations.items() if correlation},
    )


def contrasts(
    summary: Summary, metric: str, pairs: Sequence[tuple[str, str]], seed: int
) -> dict[tuple[str, str], Estimate]:
    """Estimate a metric of levels against other levels: (level, compared with), of the pairs whose levels have it.

    Against the baseline these are the summary's own estimates. The other pairs are corrected for their number, and are
    the same where their overheads are.
    """
    rows = summary.estimates_of(metric)
    known = [pair for pair in pairs if all(level in rows for level in pair)]
    by_level = _by_level(metric, [trial for trial in summary.trials if trial.counts])
    how = summary.metrics[metric].share_of, summary.block_correlation.get(metric, 0.0), seed
    found = {
        f"{level} {to}": _comparison(metric, by_level, level, (to,), *how)
        for level, to in known
        if to != summary.baseline
    }
    adjusted = holm({name: one.p_value for name, one in found.items() if one and one.p_value is not None})
    return {
        (level, to): rows[level]
        if to == summary.baseline
        else Estimate.model_validate(
            rows[level].model_dump(include=OF_ONE_LEVEL)
            | {"baseline": to}
            | _compared(
                found[f"{level} {to}"],
                adjusted.get(f"{level} {to}"),
                of_overheads(EQUIVALENCE_MARGIN, rows[level].ratio, rows[to].ratio),
            )
        )
        for level, to in known
    }


def with_choice(headline: Headline, choice: HeadlineChoice | None, known: Mapping[str, Measure]) -> Headline:
    """Return the target's headline with what an experiment declares; `known`: the target's measures."""
    if choice is None:
        return headline
    compare = [(one.level, one.to) for one in choice.compare]
    chosen = headline.model_copy(update={"also": choice.also, "compare": compare})
    if choice.metric in (None, headline.primary):
        return chosen
    # The target's own metric takes the last column's place.
    own = Column(metric=headline.primary, heading=f"{headline.what.partition(' ')[0]}\n{known[headline.primary].unit}")
    columns = [own, *(column for column in headline.columns if column.metric != choice.metric)]
    main = [choice.metric, *(name for name in headline.main if name != choice.metric)]
    return chosen.model_copy(
        update={
            "primary": choice.metric,
            "what": known[choice.metric].title,
            "columns": columns[: len(headline.columns)],
            "main": main,
        }
    )


def of_trial(name: str, data: TrialData, judgement: Judgement) -> tuple[TrialSummary, Pieces | None]:
    """Return the verdict of the trial in a folder called `name` and, if it is valid, its values and their pieces."""
    trial, metrics = data.trial, judgement.metrics
    summary = TrialSummary(
        trial=name,
        level=trial.level,
        block=trial.block,
        position=trial.position,
        valid=trial.valid,
        settled=trial.settled,
        reasons=trial.reasons,
        values=values(data, metrics) if trial.valid else {},
        censored=bounds(data, metrics) if trial.valid else {},
    )
    return summary, pieces(data, metrics) if trial.valid and data.speed else None


def _counted(folder: Path) -> TrialData:
    """Read what a trial is counted by: of a rejected one only its verdict, as its records may be missing."""
    trial = read_trial_record(folder)
    return read_trial(folder) if trial.valid else TrialData(trial, {})


def _estimates(
    measure: Measure,
    experiment: Experiment,
    levels: Sequence[str],
    trials: Sequence[TrialSummary],
    correlation: float,
) -> list[Estimate]:
    """Return a row for each level that has the metric, whose neighbouring blocks have this correlation."""
    metric, seed, references = measure.name, experiment.protocol.seed, _compared_with(experiment)
    by_level = _by_level(metric, trials)
    comparisons = {
        level: found
        for level in by_level
        if level != experiment.baseline
        and (found := _comparison(metric, by_level, level, references, measure.share_of, correlation, seed)) is not None
    }
    adjusted = holm({name: found.p_value for name, found in comparisons.items() if found.p_value is not None})
    noise_floor = _noise_floor(comparisons.get(PLACEBO))
    rows = []
    for level in levels:
        kinds = censoring(metric, by_level.get(level, ()))
        # Above some trials' values and below others', the mean bounds nothing.
        if level not in by_level or len(kinds) > 1:
            continue
        mean, censored = _mean(measure, by_level[level], seed), next(iter(kinds), None)
        row = Estimate(
            metric=metric,
            level=level,
            baseline=experiment.baseline,
            mean=mean.mean,
            mean_low=None if censored else mean.low,
            mean_high=None if censored else mean.high,
            n=len(by_level[level]),
            noise_floor=noise_floor,
            censored=censored,
        )
        if level != experiment.baseline and not by_level.keys().isdisjoint(references):
            row = row.model_copy(update=_compared(comparisons.get(level), adjusted.get(level)))
        rows.append(row)
    return rows


def _by_level(metric: str, trials: Sequence[TrialSummary]) -> Mapping[str, Sequence[TrialSummary]]:
    having = [trial for trial in trials if metric in trial.values]
    return {level: [trial for trial in having if trial.level == level] for level in {trial.level for trial in having}}


def _mean(measure: Measure, trials: Sequence[TrialSummary], seed: int) -> Interval:
    """Return a level's mean over blocks; of a share, that of all its trials together."""
    return (share_interval(measure.share_of, trials, CONFIDENCE) if measure.share_of else None) or mean_interval(
        list(_by_block(measure.name, trials).values()), CONFIDENCE, seed
    )


def _compared_with(experiment: Experiment) -> tuple[str, ...]:
    """Return what levels are compared with: the baseline, which a block has twice unless there is no placebo."""
    return (experiment.baseline, PLACEBO) if experiment.protocol.placebo else (experiment.baseline,)


def _comparison(
    metric: str,
    by_level: Mapping[str, Sequence[TrialSummary]],
    level: str,
    references: Sequence[str],
    share_of: tuple[str, str] | None,
    correlation: float,
    seed: int,
) -> Comparison | None:
    """Compare a level with the mean of the `references` other than itself.

    None where no block has both, or where both are bounds from which nothing follows.
    """
    trials = by_level.get(level, ())
    others = [by_level.get(name, ()) for name in references if name != level]
    pairs = paired(_by_block(metric, trials), mean_of([_by_block(metric, other) for other in others]))
    compared = [trial for found in others for trial in found]
    kinds = censoring(metric, trials) | opposite(censoring(metric, compared))
    if not pairs or len(kinds) > 1:
        return None
    comparison = replace(compare(pairs, CONFIDENCE, seed, correlation), bound=next(iter(kinds), None))
    return comparison if share_of is None else by_counts(share_of, comparison, trials, compared, CONFIDENCE)


def _by_block(metric: str, trials: Sequence[TrialSummary]) -> dict[int, float]:
    return {trial.block: trial.values[metric] for trial in trials}


def _compared(
    comparison: Comparison | None, p_adjusted: float | None, margin: float = EQUIVALENCE_MARGIN
) -> dict[str, object]:
    """Return an estimate's fields that hold the comparison; None: no block has both."""
    if comparison is None:
        return {"n": 0, "finding": "inconclusive"}
    ratio, difference = comparison.ratio, comparison.difference
    intervals = {
        "ratio_low": ratio and ratio.low,
        "ratio_high": ratio and ratio.high,
        "difference_low": difference.low,
        "difference_high": difference.high,
        "log_ratio_sd": comparison.log_ratio_sd,
    }
    return {
        **({} if comparison.bound else intervals),
        "ratio": ratio and ratio.mean,
        "difference": difference.mean,
        "comparison_censored": comparison.bound,
        "n": comparison.n,
        "p_value": comparison.p_value,
        "p_adjusted": p_adjusted,
        "finding": comparison.finding(p_adjusted, 1 - CONFIDENCE, margin),
    }


def _noise_floor(placebo: Comparison | None) -> float | None:
    """Return how far from 1 the placebo's ratio may be: smaller differences may be noise."""
    ratio = None if placebo is None or placebo.bound else placebo.ratio
    return max(
        (abs(limit - 1) for limit in ((ratio.low, ratio.high) if ratio else ()) if limit is not None), default=None
    )
