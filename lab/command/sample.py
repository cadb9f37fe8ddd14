"""A small copy of a run, to ship or to hand to a class: all of its estimates, little of its raw records."""

import json
import math
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.errors import UserError
from lab.record import (
    Stream,
    TrialRecord,
    read_json,
    read_summary,
    read_trial,
    read_trial_record,
    write_json_atomic,
    write_packed,
)

MOST_SAMPLES = 20
"""Of each counter, from the load's start to the window's end: enough for curves a few centimetres wide."""
MOST_REQUESTS = 1500
"""Of a trial, evenly over its load: enough for the course of a distribution, not for its outermost hundredth."""
SHOWN_KINDS = ("container", "slow", "jvm")
SECOND_NS = 1_000_000_000


def write_sample(folder: Path, out: Path) -> None:
    """Copy a results folder that was analysed into `out`: its estimates, and what the figures need of its raw records.

    The latter are those of each level's first valid trial, its requests and the counters of services and backends
    thinned; rejected attempts keep their reasons; profiles stay behind. Large files are compressed. It can be shown,
    but not analysed again: that needs all trials.
    Raises `UserError` where `out` is there already, or a file of the run is missing or broken.
    """
    if out.exists():
        raise UserError(f"{out} is there already", "remove it first, or name another folder")
    read_summary(folder / "summary.json")
    summary = read_json(folder / "summary.json", "tollbooth.summary", 2)
    trials = {path.parent: read_trial_record(path.parent) for path in sorted(folder.glob("trials/*/trial.json"))}
    _copy(["manifest.json", "claims.json"], folder, out)
    write_packed(out / "summary.json", _compact(summary))
    shown: set[str] = set()
    for source, trial in trials.items():
        goal = out / "trials" / source.name
        if trial.valid and trial.level in shown:
            continue
        _copy(["trial.json"], source, goal)
        if trial.valid:
            shown.add(trial.level)
            kept = trial.model_copy(update={"streams": _pack_records(source, goal, trial)})
            write_json_atomic(goal / "trial.json", kept.json_record())


def _pack_records(source: Path, goal: Path, trial: TrialRecord) -> Mapping[str, Stream]:
    """Write what the figures need of a trial's records; return these streams."""
    kept: dict[str, Callable[[str], str]] = {"requests": _fewer, "trace": str, "results": str}
    if trial.window is not None:
        kept["counters"] = lambda text: thinned(text, trial)
    read_trial(source)  # thinning trusts the records' lines; this names one that is broken
    streams = {name: stream for name, stream in trial.streams.items() if name in kept}
    for name, stream in streams.items():
        for file in stream.files.values():
            write_packed(goal / file, kept[name]((source / file).read_text()))
    return streams


def _copy(names: Sequence[str], source: Path, goal: Path) -> None:
    goal.mkdir(parents=True)
    for name in names:
        if (source / name).exists():
            shutil.copyfile(source / name, goal / name)


def _fewer(requests: str) -> str:
    """Return every so-manieth row of a whole `requests.csv`, below its format and header."""
    declared, header, *rows = requests.splitlines()
    step = max(1, math.ceil(len(rows) / MOST_REQUESTS))
    return "\n".join([declared, header, *rows[::step], ""])


def thinned(counters: str, trial: TrialRecord) -> str:
    """Return a whole `counters.jsonl` with what the figures show, at most every second, as another one."""
    header, *lines = counters.split("\n")[:-1]
    step_ns = max(SECOND_NS, (trial.window_end_ns - trial.load_start_ns) // MOST_SAMPLES)
    spaced = json.loads(header) | {"interval_ns": step_ns, "slow_interval_ns": step_ns}
    return "\n".join([_compact(spaced), *_thinned(lines, trial, step_ns), ""])


def _compact(data: Mapping[str, Any]) -> str:
    return json.dumps(data, separators=(",", ":"))


def _thinned(lines: Sequence[str], trial: TrialRecord, step_ns: int) -> Iterator[str]:
    names = {*trial.measured(), *trial.names("backend")}
    # A sample before and one after, since the values at the edges lie between two.
    begin_ns, end_ns = trial.load_start_ns - 2 * step_ns, trial.window_end_ns + 2 * step_ns
    next_ns: dict[tuple[str, str], float] = {}
    for line in lines:
        sample = json.loads(line)
        if sample["kind"] not in SHOWN_KINDS or sample["name"] not in names:
            continue
        series = sample["kind"], sample["name"]
        if max(begin_ns, next_ns.get(series, 0)) <= sample["t_ns"] <= end_ns:
            # No tick is on time to the nanosecond: one that is a little early still counts as due.
            next_ns[series] = sample["t_ns"] + 0.9 * step_ns
            yield line
