"""The files of a results folder: reading all of them, and writing those that Python writes.

`docs/formats.md` describes each. A reader refuses a version it does not know, and names file and line of
what is broken.
"""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from lab.errors import UserError
from lab.record.faults import Injection, read_injections
from lab.record.series import IntArray, Series

REQUESTS_FIRST_LINE = "# tollbooth.requests v1"
REQUESTS_COLUMNS = ("user", "target", "intended_ns", "start_ns", "end_ns", "status", "bytes")
MEND = "the file was cut or changed after it was written: delete the trial's folder and run with --resume"
VERSION_HINT = "it was written by another version of the lab: analyse it with that one"

Fields = Mapping[str, Series]
Model = TypeVar("Model", bound="Record")


class Record(BaseModel):
    """A part of a JSON record: unchangeable, and open to fields that a later writer adds."""

    model_config = ConfigDict(frozen=True)


class ContainerRecord(Record):
    """What the engine said of a container when the trial ended."""

    role: Literal["service", "sidecar", "backend", "generator", "observer", "spinner"]
    image: str
    restarts: int
    oom_killed: bool
    exit_code: int


class BackendRecord(Record):
    """What the telemetry backend counted: None, and no counter, where it could not say."""

    accepted_spans: int | None
    counters: Mapping[str, float] = Field(default_factory=dict)


class SidecarRecord(Record):
    """What a sidecar counted itself during a trial's load, by Envoy's own names."""

    version: str
    counters: Mapping[str, int]


class TrialRecord(Record):
    """`trial.json`."""

    number: int
    attempt: int
    block: int
    position: int
    level: str
    settings: Mapping[str, Any]
    valid: bool
    reasons: Sequence[str]
    users: int
    load_start_ns: int
    window_start_ns: int
    window_end_ns: int
    service_cpus: Sequence[int]
    generator_cpus: Sequence[int]
    containers: Mapping[str, ContainerRecord]
    startup_s: Mapping[str, float]
    phases_s: Mapping[str, float]
    expected_spans_per_request: float | None = None
    spans_in_trace: int | None = None
    trace_difference: str | None = None
    trace_of_second_start: bool = False
    backend: BackendRecord | None = None
    expected_error_fraction: float = 0.0
    sidecars: Mapping[str, SidecarRecord] = Field(default_factory=dict)
    cores_side_by_side: float = 0.0

    @property
    def window_s(self) -> float:
        """The window's length."""
        return (self.window_end_ns - self.window_start_ns) / 1e9

    def names(self, role: str) -> list[str]:
        """Return the containers of a role."""
        return [name for name, container in self.containers.items() if container.role == role]


class MetricSummary(Record):
    """What a metric is called; of a share, the metrics that count its events and all that there were."""

    title: str
    unit: str
    better: Literal["lower", "higher"]
    share_of: tuple[str, str] | None = None


class LevelSummary(Record):
    """A level's settings, and how many of its trials are valid and refused."""

    settings: Mapping[str, Any]
    trials: int
    refused: int


class Estimate(Record):
    """One metric of one level, alone and against the baseline. None: there is nothing to compute it from."""

    metric: str
    level: str
    baseline: str
    mean: float
    mean_low: float | None = None
    mean_high: float | None = None
    ratio: float | None = None
    ratio_low: float | None = None
    ratio_high: float | None = None
    difference: float | None = None
    difference_low: float | None = None
    difference_high: float | None = None
    log_ratio_sd: float | None = None
    n: int
    p_value: float | None = None
    p_adjusted: float | None = None
    noise_floor: float | None = None
    finding: Literal["higher", "lower", "same within margin", "cannot tell"] | None = None


class TrialSummary(Record):
    """One trial's verdict and values. `position`: its place in its block, from 0; older summaries do not say."""

    trial: str
    level: str
    block: int
    position: int | None = None
    valid: bool
    reasons: Sequence[str]
    values: Mapping[str, float]


class Adjustment(Record):
    """How a metric was adjusted to equal machine speed: as measured * (usual / covariate) ** exponent.

    `usual` is the covariate's geometric mean over the run. `explained`: the share of the metric's variance within
    windows, in `pieces` pieces, that goes with the covariate. Summaries from before there was `PlaceAdjustment` have
    the time that systems had stood as a covariate: then of what levels and blocks leave of trials.
    """

    covariate: str
    usual: float
    exponent: float
    standard_error: float
    pieces: int
    explained: float


class PlaceAdjustment(Record):
    """How a metric was adjusted to equal places in the order of starts: as measured / the ratio of the trial's place.

    `ratios`: by place, to the geometric mean of all. `explained`: the share of what levels and blocks leave of the
    metric's variance that goes with the place.
    """

    ratios: Sequence[float]
    explained: float


class Summary(Record):
    """`summary.json`."""

    format: Literal["tollbooth.summary"] = "tollbooth.summary"
    version: Literal[1] = 1
    experiment: str
    title: str
    baseline: str
    placebo: str
    compared_with: tuple[str, ...] = ()
    """The levels to whose mean, block by block, the others are compared; older summaries do not say, nor have more
    than the baseline."""
    confidence: float
    equivalence_margin: float
    metrics: Mapping[str, MetricSummary]
    levels: Mapping[str, LevelSummary]
    estimates: Sequence[Estimate]
    trials: Sequence[TrialSummary]
    adjustments: Mapping[str, Adjustment | PlaceAdjustment] = Field(default_factory=dict)
    """By the metric that was adjusted; none where it was not."""

    @property
    def references(self) -> tuple[str, ...]:
        """The levels to whose mean the others are compared."""
        return self.compared_with or (self.baseline,)


@dataclass(frozen=True)
class Interface:
    """A container's network interface; `network` is the lab's network behind it, None for any other."""

    container: str
    name: str
    network: str | None
    counters: Fields


@dataclass(frozen=True)
class Event:
    """Something that the observer saw happen to a container."""

    t_ns: int
    name: str
    event: str


@dataclass(frozen=True)
class Counters:
    """`counters.jsonl`, as time series. `truncated`: the last line is not whole, its writer was killed."""

    interval_ns: int
    containers: Mapping[str, Fields]
    jvms: Mapping[str, Fields]
    """By container: what its JVM says of itself; a container without one is not among them."""
    interfaces: Sequence[Interface]
    host: Fields
    observer: Fields
    events: Sequence[Event]
    truncated: bool


@dataclass(frozen=True)
class SpinnerThread:
    """One thread of `speed.jsonl`: steps through its ring, and the time that they took."""

    steps: Series
    steps_ns: Series


@dataclass(frozen=True)
class Requests:
    """`requests.csv`, a column each, in order of ending. `truncated`: as in `Counters`."""

    user: IntArray
    target: NDArray[np.str_]
    intended_ns: IntArray
    start_ns: IntArray
    end_ns: IntArray
    status: IntArray
    bytes: IntArray
    truncated: bool

    def __len__(self) -> int:
        return len(self.end_ns)

    def first_start_ns(self) -> int:
        """Return when the first request started; 0 where there is none."""
        return int(self.start_ns.min()) if len(self) else 0

    def last_end_ns(self) -> int:
        """Return when the last request ended; 0 where there is none."""
        return int(self.end_ns.max()) if len(self) else 0

    def served_in(self, start_ns: int, end_ns: int) -> float:
        """Return how many requests were served from `start_ns` to `end_ns`, each by the share of its time inside.

        Counting those that ended would give a window all the work of a request that began before it, and none of one
        that ends after it: with few users that is several percent of a short window's requests.
        """
        inside_ns = np.minimum(self.end_ns, end_ns) - np.maximum(self.start_ns, start_ns)
        return float(np.sum(np.maximum(inside_ns, 0) / np.maximum(self.end_ns - self.start_ns, 1)))

    def ended_in(self, start_ns: int, end_ns: int) -> "Requests":
        """Return the requests that ended from `start_ns` until before `end_ns`."""
        inside = (self.end_ns >= start_ns) & (self.end_ns < end_ns)
        columns = {name: getattr(self, name)[inside] for name in REQUESTS_COLUMNS}
        return Requests(**columns, truncated=self.truncated)


@dataclass(frozen=True)
class TrialData:
    """Everything that a trial's measures are computed from.

    `trace` is `trace.json`, None where there is none; `speed` the spinner's threads, none where no spinner ran.
    """

    trial: TrialRecord
    counters: Counters
    requests: Requests
    trace: Mapping[str, Any] | None = None
    injections: Sequence[Injection] = ()
    speed: Sequence[SpinnerThread] = ()


def write_json_atomic(path: Path, data: Mapping[str, Any]) -> None:
    """Write `data` to `path`, whole or not at all, also where the machine stops in between."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w") as file:
        json.dump(data, file, indent=1, allow_nan=False)
        file.write("\n")
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


def write_targets(path: Path, names: Mapping[str, str], networks: Mapping[str, str]) -> None:
    """Write `targets.json`: container id to Compose name, and network name to subnet."""
    head = {"format": "tollbooth.targets", "version": 1}
    write_json_atomic(path, {**head, "containers": dict(names), "networks": dict(networks)})


def read_json(path: Path, format_name: str, version: int) -> dict[str, Any]:
    """Read a JSON record; raises `UserError` where it is missing, broken, or of another format or version."""
    data = _json_object(_read_text(path), str(path))
    _check_format(data, format_name, version, str(path))
    return data


def read_trial_record(folder: Path) -> TrialRecord:
    """Read a trial's `trial.json`."""
    path = folder / "trial.json"
    return _validated(TrialRecord, read_json(path, "tollbooth.trial", 1), path)


def read_trial(folder: Path) -> TrialData:
    """Read a trial's record, counters, requests and, where there are any, trace and spinner's record."""
    trace, speed = (folder / name for name in ("trace.json", "speed.jsonl"))
    return TrialData(
        read_trial_record(folder),
        read_counters(folder / "counters.jsonl"),
        read_requests(folder / "requests.csv"),
        read_json(trace, "tollbooth.trace", 1) if trace.exists() else None,
        read_injections(folder / "faults.jsonl"),
        parse_speed(_read_text(speed), str(speed)) if speed.exists() else (),
    )


def read_summary(path: Path) -> Summary:
    """Read `summary.json`."""
    return _validated(Summary, read_json(path, "tollbooth.summary", 1), path)


def read_counters(path: Path) -> Counters:
    """Read `counters.jsonl`."""
    return parse_counters(_read_text(path), str(path))


def read_requests(path: Path) -> Requests:
    """Read `requests.csv`."""
    return parse_requests(_read_text(path), str(path))


def parse_counters(text: str, source: str) -> Counters:
    """Parse the observer's JSON Lines; errors name `source` and line."""
    lines, truncated = _whole_lines(text)
    if not lines:
        raise UserError(f"{source} is empty", MEND)
    header = _json_object(lines[0], f"{source}, line 1")
    _check_format(header, "tollbooth.counters", 1, source)
    sorter = _Sorter()
    for number, data in enumerate(_json_objects(lines[1:], source), start=2):
        try:
            sorter.add(data)
        except (KeyError, TypeError) as error:
            raise UserError(f"{source}, line {number}: not a counter record ({error})", MEND) from error
    return sorter.counters(int(header["interval_ns"]), truncated)


def parse_speed(text: str, source: str) -> list[SpinnerThread]:
    """Parse the spinner's JSON Lines; errors name `source` and line. A last line that is not whole is left out."""
    lines, _ = _whole_lines(text)
    if not lines:
        raise UserError(f"{source} is empty", MEND)
    _check_format(_json_object(lines[0], f"{source}, line 1"), "tollbooth.speed", 1, source)
    threads: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)
    for number, data in enumerate(_json_objects(lines[1:], source), start=2):
        try:
            threads[data["thread"]].append((data["t_ns"] + 0, data["steps"] + 0, data["steps_ns"] + 0))
        except (KeyError, TypeError) as error:
            raise UserError(f"{source}, line {number}: not a spinner's record ({error})", MEND) from error
    tables = (np.array(rows, dtype=np.int64).T for rows in threads.values())
    return [SpinnerThread(Series(t_ns, steps), Series(t_ns, steps_ns)) for t_ns, steps, steps_ns in tables]


def parse_requests(text: str, source: str) -> Requests:
    """Parse the load generator's CSV; errors name `source` and line."""
    lines, truncated = _whole_lines(text)
    if len(lines) < 2 or lines[0] != REQUESTS_FIRST_LINE or lines[1] != ",".join(REQUESTS_COLUMNS):
        raise UserError(f"{source} does not begin with '{REQUESTS_FIRST_LINE}' and its header", VERSION_HINT)
    rows = []
    for number, line in enumerate(lines[2:], start=3):
        try:
            user, target, *numbers = line.split(",")
            intended, start, end, status, size = map(int, numbers)
            rows.append((int(user), target, intended, start, end, status, size))
        except ValueError as error:
            raise UserError(f"{source}, line {number}: not a request ({error})", MEND) from error
    columns = dict(zip(REQUESTS_COLUMNS, zip(*rows, strict=True), strict=True)) if rows else {}
    arrays = {name: np.array(columns.get(name, ()), dtype=np.int64) for name in REQUESTS_COLUMNS if name != "target"}
    return Requests(target=np.array(columns.get("target", ()), dtype=np.str_), truncated=truncated, **arrays)


class _Sorter:
    """Sorts counter records by the container, JVM, interface, host or observer that they are of."""

    def __init__(self) -> None:
        self._samples: dict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
        self._networks: dict[tuple[str, str], str | None] = {}
        self._events: list[Event] = []

    def add(self, data: Mapping[str, Any]) -> None:
        """Take one record; raises `KeyError` or `TypeError` where it is not one."""
        data["t_ns"] + 0
        match data["kind"]:
            case "container" | "slow":
                self._samples["container", data["name"]].append(data)
            case "jvm":
                self._samples["jvm", data["name"]].append(data)
            case "network":
                key = (data["name"], data["interface"])
                self._networks[key] = data.get("network", self._networks.get(key))
                self._samples["network", *key].append(data)
            case "host" | "observer" as kind:
                self._samples[kind,].append(data)
            case "event":
                self._events.append(Event(data["t_ns"], data.get("name", ""), data["event"]))
            case kind:
                raise KeyError(f"unknown kind {kind!r}")

    def counters(self, interval_ns: int, truncated: bool) -> Counters:
        """Return what was taken, as arrays."""
        found = {key: _Fields(samples) for key, samples in self._samples.items()}
        return Counters(
            interval_ns=interval_ns,
            containers={key[1]: fields for key, fields in found.items() if key[0] == "container"},
            jvms={key[1]: fields for key, fields in found.items() if key[0] == "jvm"},
            interfaces=[
                Interface(key[1], key[2], self._networks[key[1], key[2]], fields)
                for key, fields in found.items()
                if key[0] == "network"
            ],
            host=found.get(("host",), {}),
            observer=found.get(("observer",), {}),
            events=self._events,
            truncated=truncated,
        )


class _Fields(Mapping[str, Series]):
    """Samples of one thing as a series per field. Few of the fields are ever asked for: only those are made."""

    def __init__(self, samples: Sequence[Mapping[str, Any]]) -> None:
        self._samples = samples
        self._made: dict[str, Series] = {}

    def __getitem__(self, name: str) -> Series:
        if name not in self._made:
            having = [sample for sample in self._samples if isinstance(sample.get(name), int)]
            if not having:
                raise KeyError(name)
            columns = ([sample[column] for sample in having] for column in ("t_ns", name))
            self._made[name] = Series(*(np.array(column, dtype=np.int64) for column in columns))
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        names = dict.fromkeys(name for sample in self._samples for name in sample)
        return (name for name in names if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)


def _whole_lines(text: str) -> tuple[list[str], bool]:
    """Split into lines; a last one without its end (its writer was killed) is left out."""
    *lines, rest = text.split("\n")
    return lines, rest != ""


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} is missing", "was this folder written by `lab run`?") from None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}", MEND) from error


def _json_objects(lines: Sequence[str], source: str) -> list[dict[str, Any]]:
    """Parse a JSON object from each line: all at once, and one by one where that fails, to name the line."""
    try:
        found = json.loads(f"[{','.join(lines)}]")
    except json.JSONDecodeError:
        found = []
    if len(found) == len(lines) and all(isinstance(data, dict) for data in found):
        return found  # type: ignore[no-any-return]
    return [_json_object(line, f"{source}, line {number}") for number, line in enumerate(lines, start=2)]


def _json_object(text: str, where: str) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: not JSON ({error.msg})", MEND) from error
    if not isinstance(data, dict):
        raise UserError(f"{where}: not a JSON object", MEND)
    return data


def _check_format(data: Mapping[str, Any], format_name: str, version: int, source: str) -> None:
    found = data.get("format"), data.get("version")
    if found != (format_name, version):
        raise UserError(
            f"{source}: is {found[0]} version {found[1]}, not {format_name} version {version}", VERSION_HINT
        )


def _validated(model: type[Model], data: dict[str, Any], path: Path) -> Model:
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UserError(f"{path}: {where}: {first['msg']}", MEND) from error
