"""What the summary does not hold: values block by block, failures counted together, and levels without sidecars."""

from collections.abc import Mapping

from lab.analysis.metrics.requests import FAILED
from lab.analysis.pooled import SEED, censoring, pooled_share
from lab.analysis.stats.compare import compare, paired
from lab.analysis.stats.proportions import Pooled
from lab.record import NO_SIDECAR, Summary
from lab.report.numbers import interval, number
from lab.report.tables import NOTHING, Cell


def by_block(summary: Summary, level: str, *metrics: str) -> dict[int, float]:
    """Return the sum of the metrics in each valid trial of a level that has them all, by block.

    Nothing if a trial's value is only a bound: exact comparisons cannot be made with it.
    """
    trials = [trial for trial in summary.trials if trial.counts and trial.level == level]
    if any(censoring(metric, trials) for metric in metrics):
        return {}
    return {
        trial.block: sum(trial.values[metric] for metric in metrics)
        for trial in trials
        if all(metric in trial.values for metric in metrics)
    }


def failed(summary: Summary) -> Mapping[str, Pooled]:
    """Count requests and failures of every level that has a valid trial with both."""
    valid = [trial for trial in summary.trials if trial.counts]
    of_level = {level: [trial for trial in valid if trial.level == level] for level in summary.levels}
    pooled = {level: pooled_share(FAILED, trials) for level, trials in of_level.items()}
    return {level: found for level, found in pooled.items() if found is not None}


OF_SIDECARS = {"sidecar", "sidecar_side", "envoy_runtime"}


def mode(summary: Summary, level: str) -> str:
    """Return what the level's sidecars are: `none` where it has none."""
    return str(summary.levels[level].settings.get("sidecar", NO_SIDECAR))


def without_sidecars(summary: Summary, level: str) -> str | None:
    """Return the level's twin; None where it has no sidecars itself, or there is none."""
    if mode(summary, level) == NO_SIDECAR:
        return None
    wanted = _others(summary.levels[level].settings)
    return next(
        (
            name
            for name, one in summary.levels.items()
            if name != summary.placebo and mode(summary, name) == NO_SIDECAR and _others(one.settings) == wanted
        ),
        None,
    )


def less(summary: Summary, metric: str, level: str, twin: str, factor: float = 1.0) -> Cell:
    """Return the level's value less its twin's, paired within blocks; `factor` of the metric's units are one here."""
    pairs = paired(by_block(summary, level, metric), by_block(summary, twin, metric))
    if not pairs:
        return NOTHING
    difference = compare(pairs, summary.confidence, SEED, summary.block_correlation.get(metric, 0.0)).difference

    def show(value: float) -> str:
        return number(value / factor)

    sign = "+" if difference.mean > 0 else ""
    return Cell(f"{sign}{show(difference.mean)}", interval(difference.low, difference.high, show))


def _others(settings: Mapping[str, object]) -> dict[str, object]:
    """The settings that are not about sidecars."""
    return {name: value for name, value in settings.items() if name not in OF_SIDECARS}
