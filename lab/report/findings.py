"""The answer in sentences, built from the findings alone, so that it never says more than they do."""

from collections.abc import Collection, Sequence

from lab.analysis.metrics.speed import CACHE_STEP, STOOD
from lab.record.summary import Adjustment, Estimate, PlaceAdjustment, Summary
from lab.report.numbers import change, noise, number, percent

PRIMARY = "cpu_per_request_services_ms"
"""The measure of the headline, where the summary has it; the first one otherwise."""
PRIMARY_WITH_SIDECARS = "cpu_per_request_proxied_ms"
"""The same where a level has sidecars: their CPU is a part of what it costs."""


def has_sidecars(summary: Summary) -> bool:
    """Whether some level has sidecars."""
    return "cpu_per_request_sidecars_ms" in summary.metrics


def primary_metric(summary: Summary) -> str | None:
    """Name the metric that the headline speaks of."""
    primary = PRIMARY_WITH_SIDECARS if has_sidecars(summary) else PRIMARY
    return primary if primary in summary.metrics else next(iter(summary.metrics), None)


def compared_levels(summary: Summary) -> list[str]:
    """Name the levels that are held against the baseline, without the placebo."""
    return [name for name in summary.levels if name not in {summary.baseline, summary.placebo}]


def estimate_of(summary: Summary, metric: str | None, level: str) -> Estimate | None:
    """Find a level's estimate of a metric."""
    wanted = (metric, level)
    return next((found for found in summary.estimates if (found.metric, found.level) == wanted), None)


def answers(summary: Summary) -> list[tuple[str, str]]:
    """Say a sentence or two of each compared level: (level, sentences)."""
    return [(level, _answer(summary, level)) for level in compared_levels(summary)]


def _answer(summary: Summary, level: str) -> str:
    metric = primary_metric(summary)
    estimate = estimate_of(summary, metric, level)
    if metric is None or estimate is None:
        return "No valid trial, so nothing can be said of it."
    title = _title(summary, metric)
    if estimate.ratio is None:
        return f"{title} has no ratio to {summary.baseline}: no block has a valid trial of both."
    return f"{_sentence(estimate, title)}{_means(summary, estimate)}.{_doubt(estimate)}"


def _means(summary: Summary, estimate: Estimate) -> str:
    baseline = estimate_of(summary, estimate.metric, summary.baseline)
    if baseline is None:
        return ""
    unit = summary.metrics[estimate.metric].unit
    return f"; {number(estimate.mean)} {unit} against {number(baseline.mean)} {unit}"


def _sentence(estimate: Estimate, title: str) -> str:
    by = f"{change(estimate.ratio)} ({change_interval(estimate)})"
    match estimate.finding:
        case "higher" | "lower":
            return f"{title}: {estimate.finding} than the baseline's, {by}"
        case "same within margin":
            return f"{title}: the same within the margin, {by}"
        case _:
            return f"{title}: this run cannot tell whether it differs, {by}"


def _doubt(estimate: Estimate) -> str:
    if not within_noise(estimate):
        return ""
    return f" That is not more than this run's noise, {noise(estimate.noise_floor)}: doubt it."


def within_noise(estimate: Estimate) -> bool:
    """Whether an estimate was called different although the placebo reaches as far from 1."""
    if estimate.finding not in {"higher", "lower"} or estimate.ratio is None or estimate.noise_floor is None:
        return False
    return abs(estimate.ratio - 1) <= estimate.noise_floor


def finding_word(estimate: Estimate) -> str:
    """Say the finding, and whether the placebo reaches as far; empty where there is none."""
    if estimate.finding is None:
        return ""
    return doubted(estimate.finding) if within_noise(estimate) else estimate.finding


def doubted(word: str) -> str:
    """Say a finding that the placebo's own interval reaches as far as."""
    return f"{word}, within noise"


def placebo_sentence(summary: Summary) -> str:
    """Say what the placebo showed: the baseline under another name, it should be called different nowhere."""
    estimate = estimate_of(summary, primary_metric(summary), summary.placebo)
    if estimate is None or estimate.ratio is None:
        return "It gave no ratio, so this run does not know its own noise: doubt every difference."
    by = f"{change(estimate.ratio)} ({change_interval(estimate)})"
    shown = f"It is the baseline run a second time, and came out at {by}."
    if estimate.noise_floor is None:
        return f"{shown} How large this run's noise is, it does not show."
    if estimate.noise_floor > 1:
        return f"{shown} So any difference may be noise here."
    return f"{shown} So a difference below {noise(estimate.noise_floor)} is noise here."


MEASURING = ("observer_cpu_fraction", "generator_cpu_fraction")
"""What observer and load generator use, as shares of the services' CPU."""


WATCHED = {
    CACHE_STEP: ("A step through the cache beside the services", "ns"),
}
"""How fast the machine was, in words: what took longer, and the unit."""


def remarks(summary: Summary) -> list[str]:
    """Say what to know of the table: what is compared, how times were adjusted, and what measuring took."""
    return [remark for remark in (_compared_with(summary), _adjustment(summary), _measuring(summary)) if remark]


def _compared_with(summary: Summary) -> str:
    """Say what levels are compared with, where that is not the baseline alone."""
    if len(summary.compared_with) == 1:
        return ""
    return f"Levels are compared, block by block, with {references(summary)}, which are the same system."


def references(summary: Summary) -> str:
    """Name what levels are compared with."""
    names = summary.compared_with
    return f"that of {names[0]}" if len(names) == 1 else f"the mean of {' and '.join(names)}"


def _adjustment(summary: Summary) -> str:
    """Say how times were adjusted to equal machine speed; empty where none was."""
    metric = primary_metric(summary)
    found = summary.adjustments.get(metric or "")
    if metric is None or found is None:
        return ""
    if isinstance(found, PlaceAdjustment):
        return (
            "Times are as if every system had been started at every place of its block's order. Against the mean of "
            f"all places {_title(summary, metric)} was {change(found.ratios[0])} at the first and "
            f"{change(found.ratios[-1])} at the last; places are {percent(found.explained)} of what levels and blocks "
            "leave. Values as measured are among the other measures."
        )
    taken = [trial.values[found.covariate] for trial in summary.trials if found.covariate in trial.values]
    if found.covariate == STOOD:
        return (
            "Times are as if every system had stood equally long. When its window began a system had stood "
            f"{number(min(taken))} to {number(max(taken))} s; between trials {_title(summary, metric)} went with "
            f"that to the power of {number(found.exponent, 2)} ± {number(2 * found.standard_error, 2)}, which is "
            f"{percent(found.explained)} of what levels and blocks leave. Values as measured are among the other "
            "measures."
        )
    what, unit = WATCHED[found.covariate]
    return (
        f"Times are as on a machine that is always equally fast. {what} took "
        f"{number(min(taken))} to {number(max(taken))} {unit}, trial by trial; within windows "
        f"{_title(summary, metric)} went with that to the power of {number(found.exponent, 2)} ± "
        f"{number(2 * found.standard_error, 2)}, which is {percent(found.explained)} of its ups and downs there. "
        "Values as measured are among the other measures."
    )


def _measuring(summary: Summary) -> str:
    """Say how much CPU the measuring itself took, over the levels; empty where the run does not know."""
    observer, generator = (
        {estimate.level: estimate.mean for estimate in summary.estimates if estimate.metric == metric}
        for metric in MEASURING
    )
    total = [observer[level] + generator[level] for level in observer.keys() & generator.keys()]
    if not total:
        return ""
    return (
        f"Measuring itself took {_span(total)} of the services' CPU, level by level: the observer "
        f"{_span(observer.values())}, the load generator {_span(generator.values())}."
    )


def _span(shares: Collection[float]) -> str:
    return f"{percent(min(shares)).removesuffix(' %')} to {percent(max(shares))}"


def change_interval(estimate: Estimate) -> str:
    """Format an estimate's interval as changes from the baseline."""
    if estimate.ratio_low is None or estimate.ratio_high is None:
        return "no interval"
    return f"{change(estimate.ratio_low)} to {change(estimate.ratio_high)}"


def cautions(summary: Summary) -> list[str]:
    """Name what should make a reader distrust the run."""
    return [
        *_placebo_called_different(summary),
        *_levels_all_refused(summary),
        *_too_few_blocks(summary),
        *_machine_slower_beside(summary),
    ]


def _placebo_called_different(summary: Summary) -> Sequence[str]:
    wrong = [
        f"{_title(summary, estimate.metric)} ({change_interval(estimate)})"
        for estimate in summary.estimates
        if estimate.level == summary.placebo and estimate.finding in {"higher", "lower"}
    ]
    if not wrong:
        return []
    return [f"The {summary.placebo} was called different from the baseline that it repeats: {'; '.join(wrong)}."]


def _levels_all_refused(summary: Summary) -> Sequence[str]:
    empty = [f"{name} ({level.rejected} rejected)" for name, level in summary.levels.items() if level.trials == 0]
    return [f"No valid trial of {', '.join(empty)}."] if empty else []


def _machine_slower_beside(summary: Summary) -> Sequence[str]:
    """Name the levels beside which the machine seemed to have another speed: it may have been the level that did it."""
    found = summary.adjustments.get(primary_metric(summary) or "")
    # The order of starts is drawn: a system's place, or how long it stood, is none of its level's doing.
    if not isinstance(found, Adjustment) or found.covariate == STOOD:
        return []
    rows = [row for row in summary.estimates if row.metric == found.covariate]
    wrong = [f"{row.level} ({change_interval(row)})" for row in rows if row.finding in {"higher", "lower"}]
    if not wrong:
        return []
    return [
        f"{WATCHED[found.covariate][0]} did not take as long at every level: {', '.join(wrong)}. If a level "
        f"itself makes it longer, a part of its cost, that change to the power of {number(found.exponent, 2)}, was "
        "taken for the machine's."
    ]


def _too_few_blocks(summary: Summary) -> Sequence[str]:
    blocks = {trial.block for trial in summary.trials if trial.valid}
    if len(blocks) >= 2:
        return []
    return ["There are valid trials of one block at most: this is a first impression, not a measurement."]


def _title(summary: Summary, metric: str) -> str:
    return summary.metrics[metric].title if metric in summary.metrics else metric
