"""The points of a grid, from summaries of runs: what each level's Collector received, and what that cost. Pure."""

import json
import statistics
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.analysis.collector.capacity import Load, Trial
from lab.analysis.collector.duration import seconds
from lab.errors import UserError
from lab.record import Summary, TrialSummary

CPU, MEMORY, RATE, SPAN_BYTES = "cpu_per_span_us", "memory_collector_mean_mib", "spans_per_s", "span_bytes"
HINT = "name runs of `lab experiment collector-model` and `lab experiment collector-model-tail`"


@dataclass(frozen=True)
class Grid:
    """The trials of a pipeline. `num_traces`: how many traces it holds at most; None: it passes them on at once."""

    trials: Sequence[Trial]
    num_traces: int | None


def grids(summaries: Sequence[Summary]) -> Mapping[str, Grid]:
    """Return the grid of each pipeline, from the valid trials of all runs.

    Levels with the same settings are one point. Raises `UserError` for a run that has no such grid, and for a pipeline
    with two limits of traces.
    """
    points: defaultdict[str, list[TrialSummary]] = defaultdict(list)
    for summary in summaries:
        for one in summary.trials:
            if one.counts:
                points[_key(summary, one)].append(one)
    found: defaultdict[str, list[Trial]] = defaultdict(list)
    limits: defaultdict[str, set[int | None]] = defaultdict(set)
    for key, trials in points.items():
        settings = json.loads(key)
        found[settings["pipeline"]] += _trials(settings, trials)
        limits[settings["pipeline"]].add(_num_traces(settings))
    for pipeline, several in limits.items():
        if len(several) > 1:
            raise UserError(f"the runs have different limits of traces for pipeline {pipeline}", "name runs with one")
    return {pipeline: Grid(trials, *limits[pipeline]) for pipeline, trials in found.items()}


def _key(summary: Summary, trial: TrialSummary) -> str:
    """Return the settings of a trial's level as text. Raises `UserError` if they are not those of a grid."""
    settings = summary.levels[trial.level].settings
    if missing := [name for name in (CPU, MEMORY, RATE, SPAN_BYTES) if name not in trial.values]:
        raise UserError(f"trial {trial.trial} of {summary.experiment} has no {', '.join(missing)}", HINT)
    if settings.get("cpus") != 1:
        raise UserError(f"level {trial.level} of {summary.experiment} does not have one CPU (cpus: 1)", HINT)
    return json.dumps(settings, sort_keys=True)


def _trials(settings: Mapping[str, Any], trials: Sequence[TrialSummary]) -> list[Trial]:
    """Return a point's trials. They have one load, so that they are held back together."""
    least, most = settings["spans"]
    load = Load(
        spans_per_s=statistics.mean(one.values[RATE] for one in trials),
        span_bytes=statistics.mean(one.values[SPAN_BYTES] for one in trials),
        attributes=statistics.mean(settings["attributes"]),
        # A trace without spans is not sent.
        spans_per_trace=statistics.mean((max(1, least), most)),
        decision_wait_s=seconds(settings["environment"].get("DECISION_WAIT", "0s")),
    )
    return [Trial(load, one.values[CPU], one.values[MEMORY]) for one in trials]


def _num_traces(settings: Mapping[str, Any]) -> int | None:
    """Return the limit of traces of a level that holds them; None for one that passes them on at once."""
    environment = settings["environment"]
    return int(environment["NUM_TRACES"]) if "DECISION_WAIT" in environment else None
