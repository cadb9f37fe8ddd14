"""What a kept run has in place of the log of its traces, a line for each: what the lab computes from it."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from lab.analysis.metrics import values
from lab.analysis.metrics.bounds import bounds
from lab.contract import Metric
from lab.record import LOCAL, Results, Stream, TrialData, write_packed
from lab.record.results import FORMAT, VERSION
from lab.report.courses import course, course_text

LOGS = ("trace-log", "arrivals", "generator")
POINTS = 60
"""Of what is drawn over time."""
FILES = {"kept": "kept.json", "course": "course.json"}


def without_logs(streams: Mapping[str, Stream]) -> Mapping[str, Stream]:
    """Return a trial's streams with the stand-ins for its logs, if it has any."""
    if not streams.keys() & LOGS:
        return streams
    others = {name: stream for name, stream in streams.items() if name not in LOGS}
    return {**others, **{name: Stream(version=1, files={LOCAL: file}) for name, file in FILES.items()}}


def write_stand_ins(goal: Path, data: TrialData, metrics: Mapping[str, Metric]) -> None:
    """Write what the logs of a trial say, if it has any: values that need them, and what is drawn over time."""
    if not data.streams.keys() & LOGS:
        return
    rest = TrialData(data.trial, {name: stream for name, stream in data.streams.items() if name not in LOGS})
    said = _needing_logs(data, rest, metrics).model_dump(mode="json")
    write_packed(goal / FILES["kept"], json.dumps({"format": FORMAT, "version": VERSION, **said}))
    length_s = (data.trial.window_end_ns - data.trial.load_start_ns) / 1e9
    drawn = course(data, np.linspace(0.0, length_s, POINTS + 1))
    if drawn is not None:
        write_packed(goal / FILES["course"], course_text(drawn))


def _needing_logs(data: TrialData, rest: TrialData, metrics: Mapping[str, Metric]) -> Results:
    """Return the values and bounds that the rest of the records does not give."""
    return Results(
        values=_different(values(data, metrics), values(rest, metrics)),
        censored=_different(bounds(data, metrics), bounds(rest, metrics)),
    )


def _different(one: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in one.items() if other.get(name) != value}
