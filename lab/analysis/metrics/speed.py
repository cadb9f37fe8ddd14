"""The machine's speed in the window, as the spinner measured it, and values adjusted to a machine of constant speed.

Another program on the same physical core makes the same work cost more CPU time, in one trial more than in the next.
The spinner measures this: its cache step is the covariate. How strongly a metric follows it is estimated *within*
windows, piece by piece, where nothing else differs. Between trials it is then removed (docs/explanation/statistics.md).
Systems that run at once share the machine's speed, but not their place in the order of starts: there the effect of the
place is removed.
What is adjusted is declared by each metric (`Metric.adjusted_as`).
"""

import itertools
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from lab.analysis.metrics.alternating import IDLE
from lab.analysis.metrics.window import known, over
from lab.analysis.stats import FloatArray, Slope, lessens_scatter, within_slope
from lab.analysis.stats.places import Row, without_places
from lab.contract import Measure, Metric
from lab.record import SECOND_NS, Adjustment, NotDerivableError, PlaceAdjustment, TrialData, TrialRecord, TrialSummary

CACHE_STEP = "cache_step_ns"
RAN_BESIDE = "stood_side_by_side_s"
# In shorter pieces noise hides the relation: the slope comes out too small.
PIECE_S = 10.0
FEWEST_PARTS = 3


def _cache_step_ns(data: TrialData) -> float | None:
    """Return the mean time of a step through the second-level cache; None where no spinner ran."""
    if not data.speed:
        return None
    window = data.trial.window_start_ns, data.trial.window_end_ns
    steps = sum(thread.steps.increase(*window) for thread in data.speed)
    if steps == 0:
        raise NotDerivableError("the spinner got no CPU in the window")
    return sum(thread.steps_ns.increase(*window) for thread in data.speed) / steps


def _ran_beside_s(data: TrialData) -> float | None:
    """Return how long a system had run when the window began; None if its load did not share the CPUs with others."""
    if not data.trial.cores_side_by_side or data.trial.slices:
        return None
    # The observer is started first and samples at once.
    return (data.trial.window_start_ns - int(data.counters.host["cpus"].t_ns[0])) / SECOND_NS


METRICS = (
    Metric(CACHE_STEP, "Step through the CPU's cache, while the services ran", "ns", compute=_cache_step_ns),
    Metric(RAN_BESIDE, "Time that a system had run before its window, side by side", "s", compute=_ran_beside_s),
)


def as_measured_name(metric: str) -> str:
    """Return the name of a metric's value as measured: `latency_p95_as_measured_ms`."""
    return "_as_measured_".join(metric.rsplit("_", 1))


def adjusted(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return the metrics that are adjusted, by name."""
    return {name: metric for name, metric in metrics.items() if metric.adjusted_as}


def timed(metrics: Mapping[str, Metric]) -> dict[str, Metric]:
    """Return the metrics that follow the machine's speed, by name."""
    return {name: metric for name, metric in metrics.items() if metric.adjusted_as == "time"}


def as_measured(metrics: Mapping[str, Metric]) -> dict[str, Measure]:
    """Return the measures that keep values as measured, by name."""
    return {
        as_measured_name(name): Measure(as_measured_name(name), f"{metric.title}, as measured", metric.unit)
        for name, metric in adjusted(metrics).items()
    }


Pieces = Mapping[str, FloatArray]
"""A trial's window in pieces, by metric: a row for each, with the logarithms of the covariate and of the metric."""


def pieces(data: TrialData, metrics: Mapping[str, Metric]) -> Pieces:
    """Measure each piece of a trial's window by itself, in the metrics that follow the machine's speed."""
    rows: dict[str, list[tuple[float, float]]] = {name: [] for name in timed(metrics)}
    for start_ns, end_ns in itertools.pairwise(piece_edges_ns(data.trial)):
        part = over(data, start_ns, end_ns)
        step = known(_cache_step_ns, part)
        for name, found in rows.items():
            value = known(metrics[name].compute, part) if step else None
            if step and value:
                found.append((math.log(step), math.log(value)))
    return {name: np.array(found).reshape(-1, 2) for name, found in rows.items()}


def piece_edges_ns(trial: TrialRecord) -> Sequence[int]:
    """Return where the pieces of a trial's window begin, and where the last one ends."""
    count = max(FEWEST_PARTS, round(trial.window_s / PIECE_S))
    return list(map(int, np.linspace(trial.window_start_ns, trial.window_end_ns, count + 1).astype(np.int64)))


def with_adjusted_values(
    trials: Sequence[TrialSummary], windows: Sequence[Pieces], metrics: Mapping[str, Metric]
) -> tuple[list[TrialSummary], dict[str, Adjustment | PlaceAdjustment]]:
    """Adjust each valid trial's `metrics`, and keep the values as measured; return how each metric was adjusted.

    A trial without the covariate has values as measured only: it cannot be compared with the others. Nothing is
    changed without a covariate, or if a metric does not clearly follow it, or if that would make trials of one level
    differ more. Nothing is adjusted to equal places if there are too few blocks to separate places from levels.
    """
    if any(name in trial.values for trial in trials for name in (RAN_BESIDE, IDLE)):
        return _at_equal_places(trials, metrics)
    slopes = {name: within_slope([one[name] for one in windows]) for name in timed(metrics)}
    clear = {
        name: slope
        for name, slope in slopes.items()
        if slope is not None and slope.clear and _lessens_scatter(trials, name, slope)
    }
    measured = [trial.values[CACHE_STEP] for trial in trials if trial.valid and CACHE_STEP in trial.values]
    if not clear or not measured:
        return list(trials), {}
    usual = float(np.exp(np.mean(np.log(measured))))
    return [_at_usual_speed(trial, clear, usual) if trial.valid else trial for trial in trials], {
        name: Adjustment(covariate=CACHE_STEP, usual=usual, **asdict(slope)) for name, slope in clear.items()
    }


def _lessens_scatter(trials: Sequence[TrialSummary], name: str, slope: Slope) -> bool:
    rows = [trial for trial in trials if trial.valid and CACHE_STEP in trial.values and trial.values.get(name, 0) > 0]
    return lessens_scatter(
        [row.level for row in rows],
        [row.block for row in rows],
        np.log([(row.values[CACHE_STEP], row.values[name]) for row in rows]).reshape(-1, 2),
        slope.exponent,
    )


def _at_usual_speed(trial: TrialSummary, slopes: Mapping[str, Slope], usual: float) -> TrialSummary:
    measured = [name for name in slopes if name in trial.values]
    if CACHE_STEP not in trial.values:
        return _replaced(trial, measured, {})
    faster = usual / trial.values[CACHE_STEP]
    return _replaced(trial, measured, {name: trial.values[name] * faster ** slopes[name].exponent for name in measured})


def _at_equal_places(
    trials: Sequence[TrialSummary], names: Collection[str]
) -> tuple[list[TrialSummary], dict[str, Adjustment | PlaceAdjustment]]:
    """Remove what a trial's place in the order of starts adds to each of the metrics, where that can be estimated."""
    changed, how = list(trials), dict[str, Adjustment | PlaceAdjustment]()
    for name in names:
        rows = {
            index: Row(trial.level, trial.block, trial.position, math.log(trial.values[name]))
            for index, trial in enumerate(trials)
            if trial.counts and trial.position is not None and trial.values.get(name, 0) > 0
        }
        found = without_places(list(rows.values()))
        if found is None:
            continue
        for index, left in zip(rows, found.left, strict=True):
            changed[index] = _replaced(changed[index], [name], {name: math.exp(left)})
        how[name] = PlaceAdjustment(
            ratios=np.exp(found.effects).tolist(),
            explained=found.explained,
            by_chance=found.by_chance,
            p_value=found.p_value,
        )
    return changed, how


def _replaced(trial: TrialSummary, names: Sequence[str], adjusted: Mapping[str, float]) -> TrialSummary:
    """Return the trial with these metrics under their names as measured, and the adjusted ones under their own."""
    values = {name: value for name, value in trial.values.items() if name not in names}
    values |= {as_measured_name(name): trial.values[name] for name in names}
    return trial.model_copy(update={"values": {**values, **adjusted}})
