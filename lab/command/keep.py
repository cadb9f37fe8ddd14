"""`lab keep`: a run stored small, with or without what is needed to analyse it again. It proves what it stores."""

import json
import shutil
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.analysis.analyse import analyse
from lab.analysis.effects import middles_ns
from lab.analysis.lab import Lab
from lab.analysis.metrics.speed import piece_edges_ns
from lab.command.slices import slices_of
from lab.command.stand_ins import without_logs, write_stand_ins
from lab.contract import Metric
from lab.errors import UserError
from lab.record import (
    SECOND_NS,
    SliceCosts,
    TrialRecord,
    different,
    read_json,
    read_summary,
    read_text,
    read_trial,
    read_trial_record,
    stored,
    trial_folders,
    whole,
    write_packed,
)

DIGITS = 12
"""Of the numbers of a kept summary: more are no part of any table or figure, and do not compress."""
FEWER_DIGITS = 6
"""The same without the records of trials: then nothing is compared with what they give."""
GAUGES = {"slow", "jvm"}
"""The kinds of samples with gauges, or with counters that only make sense together with one."""
MARGIN_S = 10
"""How long before the window gauges are complete."""
NEWS = ("eden_used_bytes", "young_gc_count", "full_gc_count")
"""What a JVM allocated is known only when these change, and the last time may be long before the window."""
LAST_NEWS = 4
"""So many such changes before that are kept: a collection may be seen in several samples."""
SERIES = ("kind", "name", "interface", "thread")
"""The fields that say to which series a sample belongs."""
THINNED = ("counters", "speed")
COURSE_POINTS = 20
"""Of each counter, over the load: enough for curves a few centimetres wide."""

Json = Mapping[str, Any]


def keep(folder: Path, out: Path, lab: Lab, *, records: bool = True) -> None:
    """Store a run that was analysed in `out`, small, and analyse the result to prove that it gives the same numbers.

    Of counters it keeps the samples around the times between which the analysis takes their increase; of the rest all
    that the analysis reads, but for logs of traces what it computes from them (`stand_ins`). Rejected trials keep their
    reasons. Logs and profiles stay behind. Without `records`, those of trials stay behind too, after the proof: of
    systems that take turns, it keeps what each slice cost.
    Raises `UserError` where `out` is there already, a file of the run is missing or broken, or a number differs.
    """
    if out.exists():
        raise UserError(f"{out} is there already", "remove it first, or name another folder")
    with whole(out) as part:
        _store(folder, part, lab, records)


def _store(folder: Path, out: Path, lab: Lab, records: bool) -> None:
    analysed = read_summary(folder / "summary.json")
    summary = read_json(folder / "summary.json", "tollbooth.summary", 2)
    trials = {source: read_trial_record(source) for source in trial_folders(folder)}
    experiment, target = lab.recorded(folder)
    costs = [] if records else slices_of(folder, analysed)
    out.mkdir(parents=True)
    write_packed(out / "manifest.json", read_text(folder / "manifest.json"))
    if stored(folder / "claims.json"):
        write_packed(out / "claims.json", read_text(folder / "claims.json"))
    for source, trial in trials.items():
        _keep_trial(source, out / "trials" / source.name, trial, target.judgement.metrics)
    again = analyse(out, experiment, target).model_dump(mode="json")
    (out / "summary.json").unlink()
    if wrong := next(different(summary, again), None):
        raise UserError(
            f"{folder} analysed again gives another {wrong}", f"analyse it with this lab first: lab analyse {folder}"
        )
    _write(out / "summary.json", summary, DIGITS if records else FEWER_DIGITS)
    if not records:
        shutil.rmtree(out / "trials")
        if costs:
            _write(out / "slices.json", SliceCosts(slices=costs).model_dump(mode="json"), FEWER_DIGITS)


def _write(path: Path, record: Json, digits: int) -> None:
    write_packed(path, json.dumps(rounded(record, digits), separators=(",", ":")))


def rounded(record: Any, digits: int = DIGITS) -> Any:
    """Return a record with numbers of so many digits."""
    if isinstance(record, Mapping):
        return {name: rounded(value, digits) for name, value in record.items()}
    if isinstance(record, list):
        return [rounded(value, digits) for value in record]
    return float(f"{record:.{digits}g}") if isinstance(record, float) else record


def _keep_trial(source: Path, goal: Path, trial: TrialRecord, metrics: Mapping[str, Metric]) -> None:
    goal.mkdir(parents=True)
    kept = trial.model_copy(update={"streams": without_logs(trial.streams) if trial.valid else {}})
    write_packed(goal / "trial.json", json.dumps(kept.json_record(), separators=(",", ":")))
    if not trial.valid:
        return
    # Thinning trusts the records' lines; reading names one that is broken.
    write_stand_ins(goal, read_trial(source), metrics)
    # Of a process that a fault ended, what it counted until then is read from its last samples.
    edged = trial.window is not None and "faults" not in kept.streams
    for name in trial.streams.keys() & kept.streams:
        for file in trial.streams[name].files.values():
            text = read_text(source / file)
            write_packed(goal / file, thinned(text, times(trial)) if edged and name in THINNED else text)


@dataclass(frozen=True)
class Times:
    """The times that matter in a trial. `edges_ns`: between these the analysis takes the increase of counters.

    Gauges are kept completely from `complete_ns` on, and their largest values until `end_ns`, the window's end.
    """

    edges_ns: Sequence[int]
    complete_ns: int
    end_ns: int


def times(trial: TrialRecord) -> Times:
    """Return a trial's times that matter, with some for the course of its counters over the load."""
    begin, end = trial.load_start_ns, trial.window_end_ns
    turns = [time for one in trial.slices for time in (one.start_ns, one.end_ns, one.next_ns)]
    turns += middles_ns(trial) if trial.slices else []
    idle = (time for one in trial.idle for time in (one.start_ns, one.end_ns))
    course = np.linspace(begin, end, COURSE_POINTS + 1).astype(np.int64).tolist()
    edges = {begin, trial.window_start_ns, end, *turns, *idle, *piece_edges_ns(trial), *course}
    return Times(sorted(edges), trial.window_start_ns - MARGIN_S * SECOND_NS, end)


def thinned(text: str, wanted: Times) -> str:
    """Return a complete `counters.jsonl` or `speed.jsonl` with the samples that matter, as they were.

    One series comes after the other, and so does what is alike: that compresses better.
    """
    header, *lines = text.split("\n")[:-1]
    samples = [json.loads(line) for line in lines]
    series: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
    for index, sample in enumerate(samples):
        # Readers take events as they come: those of all containers stay in order of time.
        names = SERIES if sample.get("kind") != "event" else SERIES[:1]
        series[tuple(str(sample.get(name)) for name in names)].append(index)
    kept = [found[place] for found in series.values() for place in _places([samples[i] for i in found], wanted)]
    return "\n".join([header, *(lines[index] for index in kept), ""])


def _places(samples: Sequence[Json], wanted: Times) -> list[int]:
    """Return which samples of a series stay: the first, the last, those next to the edges; of gauges also others."""
    t_ns = np.array([sample["t_ns"] for sample in samples])
    last = len(t_ns) - 1
    before = np.searchsorted(t_ns, wanted.edges_ns, "right") - 1
    after = np.searchsorted(t_ns, wanted.edges_ns, "left")
    places = {0, last, *np.clip([*before, *after], 0, last).tolist()}
    kind = samples[0].get("kind")
    if kind == "event":
        places.update(range(last + 1))
    elif kind in GAUGES:
        complete = int(np.searchsorted(t_ns, wanted.complete_ns, "left"))
        places.update(range(complete, last + 1))
        known = [[sample.get(name) for name in NEWS] for sample in samples[:complete]]
        places.update([place for place in range(1, complete) if known[place] != known[place - 1]][-LAST_NEWS:])
        until = samples[: int(np.searchsorted(t_ns, wanted.end_ns, "right"))]
        for name in {name for sample in until for name, value in sample.items() if isinstance(value, int)}:
            places.add(max(range(len(until)), key=lambda place: until[place].get(name, 0)))
    return sorted(places)
