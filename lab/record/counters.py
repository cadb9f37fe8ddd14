"""`counters.jsonl`: the observer's samples as time series."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from lab.errors import UserError
from lab.record.files import (
    FIX_HINT,
    check_format,
    complete_lines,
    json_object,
    json_objects,
    read_text,
    write_json_atomic,
)
from lab.record.series import Series

Fields = Mapping[str, Series]


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


def write_targets(path: Path, names: Mapping[str, str], networks: Mapping[str, str]) -> None:
    """Write `targets.json`: container id to Compose name, and network name to subnet."""
    head = {"format": "tollbooth.targets", "version": 1}
    write_json_atomic(path, {**head, "containers": dict(names), "networks": dict(networks)})


def read_counters(path: Path) -> Counters:
    """Read `counters.jsonl`."""
    return parse_counters(read_text(path), str(path))


def parse_counters(text: str, source: str) -> Counters:
    """Parse the observer's JSON Lines; errors name `source` and line."""
    lines, truncated = complete_lines(text)
    if not lines:
        raise UserError(f"{source} is empty", FIX_HINT)
    header = json_object(lines[0], f"{source}, line 1")
    check_format(header, "tollbooth.counters", 1, source)
    sorter = _Sorter()
    for number, data in enumerate(json_objects(lines[1:], source), start=2):
        try:
            sorter.add(data)
        except (KeyError, TypeError) as error:
            raise UserError(f"{source}, line {number}: not a counter record ({error})", FIX_HINT) from error
    return sorter.counters(int(header["interval_ns"]), truncated)


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
