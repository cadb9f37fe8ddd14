"""What may differ from the golden records, and why: the only table of allowed renames and removals.

A row applies to the golden side before the comparison. `where` is a pattern (`fnmatch`) of a place:
the record, then keys and indexes, joined with "/". Every row must apply somewhere.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

Json = Any


@dataclass(frozen=True)
class RenamedKey:
    """The key `old` of the mappings at `where` is `new` now."""

    where: str
    old: str
    new: str
    reason: str


@dataclass(frozen=True)
class RenamedText:
    """In the texts at `where`, what matches the regular expression `old` is `new` now (`re.sub`)."""

    where: str
    old: str
    new: str
    reason: str


@dataclass(frozen=True)
class Removed:
    """What was at `where` no longer exists."""

    where: str
    reason: str


@dataclass(frozen=True)
class Added:
    """What is at `where` is new. It is left out of the current side."""

    where: str
    reason: str


Row = RenamedKey | RenamedText | Removed | Added

VERSION_2 = "Records have version 2: lab migrate converts those of version 1."
TOPOLOGY = "The services read the topology that the lab resolved, from the folder of their start."
SINK = "quick sends to the lab's own sink, which is built in seconds."
COLLECTOR = "The Collector's pipelines have a folder of their own."
INCONCLUSIVE = "What the data do not decide is called inconclusive."
REJECTED = "A trial that does not count is called rejected."
CENSORED = "An estimate can be a bound."
PLAIN = "Plain English: the same check, the same numbers, other words."


def _reason(old: str, new: str) -> RenamedText:
    """Allow other words in a trial's reasons."""
    return RenamedText("trials/*/reasons/*", old, new, PLAIN)


ALLOWED: tuple[Row, ...] = (
    RenamedText("compose/*/volumes/*/source", r"^<root>/experiments/topologies/.*$", "/trial/topology.json", TOPOLOGY),
    RenamedText(
        "compose/*/volumes/*/target", r"^/etc/tollbooth/topology\.yaml$", "/etc/tollbooth/topology.json", TOPOLOGY
    ),
    Added("compose/*/files/topology.json", TOPOLOGY),
    RenamedText(
        "compose/*/volumes/*/source",
        r"^<root>/backends/collector/config\.yaml$",
        "<root>/collector/pipelines/recommended.yaml",
        COLLECTOR,
    ),
    RenamedText("compose/quick/*/environment/OTEL_EXPORTER_OTLP_ENDPOINT", r"//jaeger:", "//sink:", SINK),
    RenamedText("compose/quick/*/files/targets.json", r"jaeger", "sink", SINK),
    Removed("compose/quick/*/services/jaeger", SINK),
    Added("compose/quick/*/services/sink", SINK),
    RenamedKey("summaries/*/levels/*", "refused", "rejected", REJECTED),
    RenamedText("summaries/*/finding", r"^cannot tell$", "inconclusive", INCONCLUSIVE),
    RenamedText("summaries/*/verdict", r"^cannot tell$", "inconclusive", INCONCLUSIVE),
    RenamedText("summaries/*/answer", r"^cannot tell$", "inconclusive", INCONCLUSIVE),
    RenamedText("claims/*/verdict", r"^cannot tell$", "inconclusive", INCONCLUSIVE),
    RenamedText("claims/*/answer", r"^cannot tell$", "inconclusive", INCONCLUSIVE),
    Removed("summaries/*/summary/version", VERSION_2),
    Added("summaries/*/summary/version", VERSION_2),
    Removed("summaries/*/claims/version", VERSION_2),
    Added("summaries/*/claims/version", VERSION_2),
    Removed("claims/*/version", VERSION_2),
    Added("claims/*/version", VERSION_2),
    Added("summaries/*/summary/headline", "A summary names its main metrics; the report had them fixed."),
    Added("summaries/*/summary/block_correlation", "A summary says where neighbouring blocks are correlated."),
    Added("summaries/*/estimates/*/censored", CENSORED),
    Added("summaries/*/estimates/*/comparison_censored", CENSORED),
    Added("summaries/*/trials/*/censored", CENSORED),
    RenamedText("summaries/*/metrics/*/title", r", beside the services$", ", while the services ran", PLAIN),
    RenamedText(
        "summaries/*/metrics/*/title", r"had stood, side by side$", "had run before its window, side by side", PLAIN
    ),
    RenamedText("summaries/*/metrics/*/title", r"that a breaker or", "that a circuit breaker or", PLAIN),
    RenamedText("summaries/*/metrics/*/title", r"refused$", "rejected", PLAIN),
    _reason("is not whole$", "is incomplete"),
    _reason("its log says why$", "see its log"),
    _reason("it measured itself$", "generator saturated"),
    _reason(": not proved: ", ": not verified: "),
    _reason(": refused: ", ": not possible: "),
    _reason(r", where a share of ([\d.]+) was to be$", r", expected a share of \1"),
    _reason(r"([\d.]+) ms were to be$", r"\1 ms were expected"),
    _reason(r"too few to tell a share", "too few to distinguish a share"),
    _reason("no operation was asked for$", "no operation was requested"),
)


def expected(record: str, golden: Json, rows: Iterable[Row] = ALLOWED) -> tuple[Json, set[Row]]:
    """Return a golden record with its renames and removals, and the rows that applied."""
    used: set[Row] = set()
    return _golden(golden, record, tuple(row for row in rows if not isinstance(row, Added)), used), used


def compared(record: str, current: Json, rows: Iterable[Row] = ALLOWED) -> tuple[Json, set[Row]]:
    """Return what the code says now without what may be new, and the rows that applied."""
    used: set[Row] = set()
    return _without(current, record, tuple(row for row in rows if isinstance(row, Added)), used), used


def _golden(data: Json, place: str, rows: tuple[Row, ...], used: set[Row]) -> Json:
    if isinstance(data, dict):
        kept = _without(data, place, tuple(row for row in rows if isinstance(row, Removed)), used, deep=False)
        return {
            _key(key, place, rows, used): _golden(value, f"{place}/{key}", rows, used) for key, value in kept.items()
        }
    if isinstance(data, list):
        return [_golden(value, f"{place}/{index}", rows, used) for index, value in enumerate(data)]
    if isinstance(data, str):
        for row in rows:
            if isinstance(row, RenamedText) and fnmatchcase(place, row.where) and re.search(row.old, data):
                used.add(row)
                data = re.sub(row.old, row.new, data)
    return data


def _key(key: str, place: str, rows: tuple[Row, ...], used: set[Row]) -> str:
    for row in rows:
        if isinstance(row, RenamedKey) and row.old == key and fnmatchcase(place, row.where):
            used.add(row)
            return row.new
    return key


def _without(data: Json, place: str, rows: tuple[Row, ...], used: set[Row], *, deep: bool = True) -> Json:
    """Return `data` without the keys at the rows' places."""
    if not rows:
        return data
    if isinstance(data, dict):
        kept = {}
        for key, value in data.items():
            found = [row for row in rows if fnmatchcase(f"{place}/{key}", row.where)]
            used.update(found)
            if not found:
                kept[key] = _without(value, f"{place}/{key}", rows, used) if deep else value
        return kept
    if isinstance(data, list) and deep:
        return [_without(value, f"{place}/{index}", rows, used) for index, value in enumerate(data)]
    return data
