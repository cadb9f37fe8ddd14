"""`counters.jsonl` and `speed.jsonl`: the observer's and the spinner's samples as time series."""

import json
import os
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.record.files import json_lines, read_text, write_json_atomic
from lab.record.series import Series

Fields = Mapping[str, Series]

# More than the observer writes of all containers in one tick.
TAIL_BYTES = 1 << 16


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


def write_targets(path: Path, names: Mapping[str, str], networks: Mapping[str, str]) -> None:
    """Write `targets.json`: container id to Compose name, and network name to subnet."""
    content = {"containers": dict(names), "networks": dict(networks)}
    write_json_atomic(path, {"format": "tollbooth.targets", "version": 1, **content})


def read_counters(path: Path) -> Counters:
    """Read `counters.jsonl`."""
    return parse_counters(read_text(path), str(path))


def parse_counters(text: str, source: str) -> Counters:
    """Parse the observer's JSON Lines; errors name `source` and line."""
    samples: defaultdict[tuple[str, ...], list[Mapping[str, Any]]] = defaultdict(list)
    networks: dict[tuple[str, ...], str | None] = {}
    events: list[Event] = []

    def take(data: Mapping[str, Any]) -> None:
        data["t_ns"] + 0
        match data["kind"]:
            case "container" | "slow":
                samples["container", data["name"]].append(data)
            case "jvm":
                samples["jvm", data["name"]].append(data)
            case "network":
                key = (data["name"], data["interface"])
                networks[key] = data.get("network", networks.get(key))
                samples["network", *key].append(data)
            case "host" | "observer" as kind:
                samples[kind,].append(data)
            case "event":
                events.append(Event(data["t_ns"], data.get("name", ""), data["event"]))
            case kind:
                raise KeyError(f"unknown kind {kind!r}")

    header, truncated = json_lines(text, source, "tollbooth.counters", 1, "a counter record", take)
    found = {key: SampledFields(of_one) for key, of_one in samples.items()}
    return Counters(
        interval_ns=int(header["interval_ns"]),
        containers={key[1]: fields for key, fields in found.items() if key[0] == "container"},
        jvms={key[1]: fields for key, fields in found.items() if key[0] == "jvm"},
        interfaces=[
            Interface(key[1], key[2], networks[key[1:]], fields) for key, fields in found.items() if key[0] == "network"
        ],
        host=found.get(("host",), {}),
        observer=found.get(("observer",), {}),
        events=events,
        truncated=truncated,
    )


def observed_until_ns(folder: Path) -> int:
    """Return when the observer last sampled a container, by its record in a start's folder.

    0 before its first sample, or if the record is incomplete.
    """
    with (folder / "counters.jsonl").open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read().split(b"\n")[1:-1]
    samples = (json.loads(line) for line in reversed(lines))
    return next((int(sample["t_ns"]) for sample in samples if sample["kind"] == "container"), 0)


def read_speed(path: Path) -> list[SpinnerThread]:
    """Read `speed.jsonl`."""
    return parse_speed(read_text(path), str(path))


def parse_speed(text: str, source: str) -> list[SpinnerThread]:
    """Parse the spinner's JSON Lines; errors name `source` and line. A last line that is not whole is left out."""
    threads: defaultdict[int, list[tuple[int, int, int]]] = defaultdict(list)

    def take(data: Mapping[str, Any]) -> None:
        threads[data["thread"]].append((data["t_ns"] + 0, data["steps"] + 0, data["steps_ns"] + 0))

    json_lines(text, source, "tollbooth.speed", 1, "a spinner's record", take)
    tables = (np.array(rows, dtype=np.int64).T for rows in threads.values())
    return [SpinnerThread(Series(t_ns, steps), Series(t_ns, steps_ns)) for t_ns, steps, steps_ns in tables]


class SampledFields(Mapping[str, Series]):
    """Samples of one thing as a series per field. Few of the fields are ever read: only those are made."""

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
