"""Everything that a trial left, read by the streams that `trial.json` lists."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, cast

from lab.errors import UserError
from lab.record.counters import Counters, SpinnerThread, read_counters, read_speed
from lab.record.faults import Injection, read_injections
from lab.record.files import MIGRATE_HINT, PACKED, read_json
from lab.record.jmh import read_jmh
from lab.record.requests import Requests, read_requests
from lab.record.results import Results, read_results
from lab.record.search import read_search
from lab.record.series import NotDerivableError
from lab.record.traces import read_collectors, read_exports, read_generator, read_lookups, read_traces
from lab.record.trial import LOCAL, Stream, TrialRecord, read_trial_record


@dataclass(frozen=True)
class StreamKind:
    """How a stream's file is called, its version, and what reads it."""

    file: str
    version: int
    read: Callable[[Path], Any]


STREAMS: Mapping[str, StreamKind] = {
    "requests": StreamKind("requests.csv", 1, read_requests),
    "counters": StreamKind("counters.jsonl", 1, read_counters),
    "trace": StreamKind("trace.json", 1, partial(read_json, format_name="tollbooth.trace", version=1)),
    "speed": StreamKind("speed.jsonl", 1, read_speed),
    "faults": StreamKind("faults.jsonl", 1, read_injections),
    "results": StreamKind("results.json", 1, read_results),
    "trace-log": StreamKind("traces.csv", 1, read_traces),
    "generator": StreamKind("generator.jsonl", 1, read_generator),
    "lookups": StreamKind("lookups.csv", 1, read_lookups),
    "collectors": StreamKind("collector.jsonl", 1, read_collectors),
    "exports": StreamKind("exports.jsonl", 1, read_exports),
    "kept": StreamKind("kept.json", 1, read_results),
    "course": StreamKind("course.json", 1, partial(read_json, format_name="tollbooth.course", version=1)),
    "search": StreamKind("search.json", 1, read_search),
    "benchmarks": StreamKind("jmh.json", 1, read_jmh),
}
"""Every kind of stream by name. All of them are optional."""


@dataclass(frozen=True)
class TrialData:
    """Everything that a trial's metrics are computed from: its record, and its streams by name and machine."""

    trial: TrialRecord
    streams: Mapping[str, Mapping[str, Any]]

    @property
    def requests(self) -> Requests:
        """The requests that were sent. Raises `NotDerivableError` if the trial has none."""
        return cast(Requests, self._only("requests"))

    @property
    def counters(self) -> Counters:
        """The counters of the only machine. Raises `NotDerivableError` if there is none, or more than one."""
        return cast(Counters, self._only("counters"))

    def counters_by_machine(self) -> Mapping[str, Counters]:
        """Return the counters of each machine by its name."""
        return self.streams.get("counters", {})

    @property
    def trace(self) -> Mapping[str, Any] | None:
        """One trace; None if none was kept."""
        return self.streams.get("trace", {}).get(LOCAL)

    @property
    def speed(self) -> Sequence[SpinnerThread]:
        """The spinner's threads; none where no spinner ran."""
        return cast(Sequence[SpinnerThread], self.streams.get("speed", {}).get(LOCAL, ()))

    @property
    def injections(self) -> Sequence[Injection]:
        """The faults that were injected."""
        return cast(Sequence[Injection], self.streams.get("faults", {}).get(LOCAL, ()))

    @property
    def results(self) -> Results:
        """Values that other programs measured, of all parts together. Raises `NotDerivableError` if there are none."""
        parts: Sequence[Results] = list(self.streams.get("results", {}).values())
        if not parts:
            raise NotDerivableError("the trial has no results")
        return Results(
            values={name: value for part in parts for name, value in part.values.items()},
            censored={name: bound for part in parts for name, bound in part.censored.items()},
        )

    def has(self, stream: str) -> bool:
        """Return whether the trial left a stream."""
        return stream in self.streams

    def _only(self, stream: str) -> Any:
        files = self.streams.get(stream, {})
        if len(files) != 1:
            raise NotDerivableError(f"the trial has {len(files)} records of {stream}, one is needed")
        return next(iter(files.values()))


def streams_in(folder: Path) -> dict[str, Stream]:
    """Return the streams whose files are in a trial's folder. `counters-<machine>.jsonl` is that machine's."""
    found = {}
    for name, kind in STREAMS.items():
        stem, _, ending = kind.file.partition(".")
        here = {*folder.glob(f"{stem}*.{ending}"), *folder.glob(f"{stem}*.{ending}{PACKED}")}
        paths = sorted(path.with_suffix("") if path.suffix == PACKED else path for path in here)
        files = {path.stem.removeprefix(stem).lstrip("-") or LOCAL: path.name for path in paths}
        if files:
            found[name] = Stream(version=kind.version, files=files)
    return found


def read_trial(folder: Path) -> TrialData:
    """Read a trial's record and its streams. Raises `UserError` if one is missing, broken or of another version."""
    trial = read_trial_record(folder)
    streams = {}
    for name, stream in trial.streams.items():
        kind = STREAMS.get(name)
        if kind is None or kind.version != stream.version:
            raise UserError(f"{folder}: stream {name} version {stream.version} is unknown", MIGRATE_HINT)
        streams[name] = {machine: kind.read(folder / file) for machine, file in stream.files.items()}
    return TrialData(trial, streams)
