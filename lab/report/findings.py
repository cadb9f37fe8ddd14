"""What is said of a run in sentences: findings, remarks, cautions. They never say more than the findings do."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from lab.analysis.metrics import jvm, speed
from lab.record import Adjustment, Estimate, PlaceAdjustment, Summary
from lab.report.numbers import LEAST_SHOWN, bounded, change, noise, number, percent


def compared_levels(summary: Summary) -> list[str]:
    """Name the levels that are compared with the baseline, without the placebo."""
    return [name for name in summary.levels if name not in {summary.baseline, summary.placebo}]


def within_noise(estimate: Estimate) -> bool:
    """Return whether an estimate was called different although the placebo's interval reaches as far from 1."""
    if estimate.finding not in {"higher", "lower"} or estimate.ratio is None or estimate.noise_floor is None:
        return False
    return abs(estimate.ratio - 1) <= estimate.noise_floor


def placebo_sentence(summary: Summary) -> str:
    """Say what the placebo showed. It is the baseline under another name, so its true ratio is 1."""
    metrics = _first(summary)
    rows = (summary.estimate_of(metric, summary.placebo) for metric in metrics)
    estimate = next((row for row in rows if row is not None and row.ratio is not None), None)
    if estimate is None:
        why = "has no ratio" if summary.placebo in summary.levels else "did not run"
        return f"It {why}, so the noise of this run is unknown: any difference may be noise."
    by = f"{change_of(estimate)} ({change_interval(estimate)})"
    of = "" if estimate.metric == metrics[0] else f" of {summary.title_of(estimate.metric)}"
    shown = f"It is the baseline under another name. Its ratio{of} differs from 1 by {by}."
    if estimate.noise_floor is None:
        return f"{shown} Without an interval the noise of this run is unknown."
    if estimate.noise_floor > 1:
        return f"{shown} Any difference in this run may be noise."
    return f"{shown} Differences below {noise(max(estimate.noise_floor, LEAST_SHOWN))} may be noise."


@dataclass(frozen=True)
class _Covariate:
    """How an adjustment by a covariate is described: to what times were adjusted, its range, its unit, what remains.

    `by_level`: a level may change the covariate itself.
    """

    adjusted: str
    ranged: str
    unit: str
    compared: str
    explained: str
    by_level: bool


_COVARIATES = {
    speed.CACHE_STEP: _Covariate(
        "Times are adjusted to a machine of constant speed.",
        "A step through the CPU's cache took",
        "ns in the trials",
        "within windows",
        "of the variance within windows",
        by_level=True,
    ),
    # Runs of side-by-side blocks used it before places in the order of starts were adjusted for.
    speed.RAN_BESIDE: _Covariate(
        "Times are adjusted to systems that ran equally long before their window began.",
        "They ran",
        "s in the trials",
        "between trials",
        "of the variance that levels and blocks leave",
        by_level=False,
    ),
}
"""What kept runs were adjusted by."""


def remarks(summary: Summary) -> list[str]:
    """Return remarks on the table: what is compared, how times were adjusted, what measuring and compiling cost."""
    both = f"Within each block, levels are compared with {references(summary)}, which are the same system."
    said = (_adjustment(summary), _correlated(summary), _measuring(summary), _settled(summary))
    return [remark for remark in (both if len(summary.compared_with) > 1 else "", *said) if remark]


def _correlated(summary: Summary) -> str:
    """Say for which of the headline's metrics neighbouring blocks resemble each other; empty where none do."""
    found = summary.block_correlation
    seen = [f"{summary.title_of(name)} ({found[name]:.1f})" for name in dict.fromkeys(_first(summary)) if name in found]
    if not seen:
        return ""
    return f"Neighbouring blocks are correlated, so intervals are wider: {', '.join(seen)}."


def references(summary: Summary) -> str:
    """Name what levels are compared with."""
    return f"{'the mean of ' if len(summary.compared_with) > 1 else ''}{' and '.join(summary.compared_with)}"


def _adjustment(summary: Summary) -> str:
    """Say how the first of the headline's times, and of its sizes of memory, was adjusted; empty where none was."""
    adjusted = [name for name in _first(summary) if name in summary.adjustments]
    by_unit = {summary.metrics[name].unit: name for name in reversed(adjusted)}
    said = " ".join(
        dict.fromkeys(
            sentence
            for metric in sorted(by_unit.values(), key=adjusted.index)
            for sentence in _adjusted(summary, metric)
        )
    )
    return said and f"{said} The other measures include the values as measured."


def _adjusted(summary: Summary, metric: str) -> tuple[str, ...]:
    """Return the sentences on one metric. Two metrics may share the first, which is then printed once."""
    found, title = summary.adjustments[metric], summary.title_of(metric)
    if isinstance(found, PlaceAdjustment):
        return (_places(found, title, "Memory is" if summary.metrics[metric].unit == "MiB" else "Times are"),)
    return _followed(summary, found, title)


def _places(found: PlaceAdjustment, title: str, what: str) -> str:
    said = (
        f"{what} adjusted to equal places in the order of starts. Compared with the mean of all places, "
        f"{title} was {change(found.ratios[0])} at the first place and {change(found.ratios[-1])} at the last. "
        f"Places explain {percent(found.explained)} of the variance that levels and blocks leave."
    )
    if found.by_chance is None or found.p_value is None:
        return said
    p_value = "< 0.001" if found.p_value < 0.001 else f"= {found.p_value:.2g}"
    return f"{said} Chance alone explains {percent(found.by_chance)} (F test: p {p_value})."


def _followed(summary: Summary, found: Adjustment, title: str) -> tuple[str, ...]:
    taken = [trial.values[found.covariate] for trial in summary.trials if found.covariate in trial.values]
    covariate = _COVARIATES[found.covariate]
    return (
        f"{covariate.adjusted} {covariate.ranged} {number(min(taken))} to {number(max(taken))} {covariate.unit}.",
        f"{covariate.compared.capitalize()}, {title} follows this time to the power of {number(found.exponent, 2)} ± "
        f"{number(2 * found.standard_error, 2)}; this explains {percent(found.explained)} {covariate.explained}.",
    )


def _measuring(summary: Summary) -> str:
    """Say how much CPU measuring used, over the levels; empty where the run has no value of it."""
    observer, generator = (
        {estimate.level: estimate.mean for estimate in summary.estimates if estimate.metric == metric}
        for metric in ("observer_cpu_fraction", "generator_cpu_fraction")
    )
    total = [observer[level] + generator[level] for level in observer.keys() & generator.keys()]
    if not total:
        return ""
    return (
        f"Measuring used {_span(total)} of the services' CPU, depending on the level: the observer "
        f"{_span(observer.values())}, the load generator {_span(generator.values())}."
    )


def _settled(summary: Summary) -> str:
    """Say how much compilers used, where their CPU time was counted, and how many sets had not settled."""
    shares = [row.mean for row in summary.estimates if row.metric == "jit_cpu_fraction"]
    left_out = max((level.not_settled for level in summary.levels.values()), default=0)
    apart = f"Sets that had not settled, and are left out: {left_out}." if left_out else ""
    if not shares or "jit_cpu_per_request_ms" not in summary.metrics:
        return apart
    used = f"compilers used {_span(shares)} of the services' CPU"
    if any(trial.settled is not None for trial in summary.trials):
        return (
            "In the warm-up of all sets that count, each system once had three quiet blocks of 200 requests "
            f"(compilers at most {percent(jvm.SETTLED_JIT_FRACTION)} of its CPU). In the windows, {used}. {apart}"
        ).rstrip()
    state = "Settled" if max(shares) <= jvm.SETTLED_JIT_FRACTION else "Not settled"
    return f"{state}: {used} in the windows (limit {percent(jvm.SETTLED_JIT_FRACTION)})."


def _span(shares: Collection[float]) -> str:
    return f"{percent(min(shares)).removesuffix(' %')} to {percent(max(shares))}"


def change_of(estimate: Estimate) -> str:
    """Format an estimate as a change from the baseline: `+42 %`, and `≥ +42 %` for a bound."""
    return bounded(change(estimate.ratio), estimate.comparison_censored)


def change_interval(estimate: Estimate) -> str:
    """Format an estimate's interval as changes from the baseline."""
    if estimate.ratio_low is None or estimate.ratio_high is None:
        return "no interval"
    return f"{change(estimate.ratio_low)} to {change(estimate.ratio_high)}"


def cautions(summary: Summary) -> list[str]:
    """Return reasons to distrust the run."""
    wrong = [
        f"{summary.title_of(estimate.metric)} ({change_interval(estimate)})"
        for estimate in summary.estimates
        if estimate.level == summary.placebo
        and estimate.finding in {"higher", "lower"}
        # Of many other measures, one differs by chance in most runs.
        and estimate.metric in _first(summary)
    ]
    empty = [
        f"{name} ({level.rejected} rejected{f', {level.not_settled} not settled' if level.not_settled else ''})"
        for name, level in summary.levels.items()
        if level.trials == 0
    ]
    differs = f"The {summary.placebo} differs from the baseline, although both are the same system: {'; '.join(wrong)}."
    few = len({trial.block for trial in summary.trials if trial.counts}) < 2
    return [
        *([differs] if wrong else []),
        *([f"No trial of {', '.join(empty)} counts."] if empty else []),
        *(["At most one block counts: this is a first impression, not a measurement."] if few else []),
        *_covariate_differs(summary),
    ]


def _covariate_differs(summary: Summary) -> Sequence[str]:
    """Name the levels at which the covariate differs: it may be the level that changed it, not the machine."""
    adjusted = (summary.adjustments.get(name) for name in _first(summary))
    found = next((one for one in adjusted if isinstance(one, Adjustment)), None)
    if found is None or not _COVARIATES[found.covariate].by_level:
        return []
    rows = [row for row in summary.estimates if row.metric == found.covariate]
    wrong = [f"{row.level} ({change_interval(row)})" for row in rows if row.finding in {"higher", "lower"}]
    if not wrong:
        return []
    return [
        f"The time of a step through the CPU's cache differs at {', '.join(wrong)}. If the level itself changes it, "
        f"the adjustment removed a part of the level's cost: this change to the power of {number(found.exponent, 2)}."
    ]


def _first(summary: Summary) -> Sequence[str]:
    """Return the headline's metrics, beginning with the one that answers the question."""
    return (summary.headline.primary, *summary.headline.main)
