"""What may differ from the golden records, and why: the only table of allowed renames and removals.

A row applies to the golden side before the comparison. `where` is a pattern (`fnmatch`) of a place:
the record (or "*"), then keys and indexes, joined with "/". An item of a list that is about one metric has the
metric's name instead of its index. Every row must apply somewhere.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cache
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
NO_MBEANS = "The agent's metrics are off, so it does not look for MBeans a minute after the start, in a window."
WATCHED = "Services look for the file of a fault only if one of the level's faults is theirs."
COLLECTOR = "The Collector's pipelines have a folder of their own."
INCONCLUSIVE = "What the data do not decide is called inconclusive."
REJECTED = "A trial that does not count is called rejected."
CENSORED = "An estimate can be a bound."
SETTLED = "Alternating systems can be waited for until they have settled."
PLAIN = "Plain English: the same check, the same numbers, other words."
RSS = "Memory is RSS first: the working set has page cache, which the kernel charges to the first reader."
PEAK = "The sum of samples of different moments gave way to the kernel's own peak of each service."
FILLED = "Memory of services and of backends is judged separately, and a backend's only once it is filled."
MATCHED = "Claims that depend on the requests at once, which the thesis does not state, are judged at several."
LACKS_FILLED = r"\g<0>, no metric memory_backends_filled_mib"
FOUR_PARTS = "The documents are in four parts: tutorial, how-to, reference, explanation."
WITHDRAWN = "Kept results of a saturated machine, whose analysis is retired, are withdrawn."
EXCLUDED = "A claim is refuted only by an interval that excludes it; what is small is bounded instead."


def _reason(old: str, new: str) -> RenamedText:
    """Allow other words in a trial's reasons."""
    return RenamedText("trials/*/reasons/*", old, new, PLAIN)


def _reworded(where: str, reason: str) -> tuple[Row, Row]:
    """Allow another text, or one where there was none."""
    return Removed(where, reason), Added(where, reason)


ALLOWED: tuple[Row, ...] = (
    RenamedText("compose/*/volumes/*/source", r"^<root>/experiments/topologies/.*$", "/trial/topology.json", TOPOLOGY),
    RenamedText(
        "compose/*/volumes/*/target", r"^/etc/tollbooth/topology\.yaml$", "/etc/tollbooth/topology.json", TOPOLOGY
    ),
    Added("compose/*/files/topology.json", TOPOLOGY),
    Removed("compose/outage/*/environment/WATCH_FAULTS", WATCHED),
    Removed("compose/golden sidecars/*/fan-out/envoy-killed/*/environment/WATCH_FAULTS", WATCHED),
    RenamedText(
        "compose/*/volumes/*/source",
        r"^<root>/backends/collector/config\.yaml$",
        "<root>/collector/pipelines/recommended.yaml",
        COLLECTOR,
    ),
    RenamedText(
        "compose/*/services/collector/image",
        r"^tollbooth/collector:0\.140\.0$",
        "tollbooth/collector:0.149.0",
        "The Collector has processors that release 0.140.0 cannot be built with.",
    ),
    RenamedText("compose/quick/*/environment/OTEL_EXPORTER_OTLP_ENDPOINT", r"//jaeger:", "//sink:", SINK),
    RenamedText("compose/quick/*/files/targets.json", r"jaeger", "sink", SINK),
    Removed("compose/quick/*/services/jaeger", SINK),
    Added("compose/quick/*/services/sink", SINK),
    Added("compose/*/environment/OTEL_JMX_ENABLED", NO_MBEANS),
    *_reworded("compose/ladder/*/services/sink/command", "The sink counts the spans that a tracer delivered twice."),
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
    Added("summaries/*/summary/alternating", "A summary says whether its systems took turns."),
    Added("summaries/*/summary/block_correlation", "A summary says where neighbouring blocks are correlated."),
    Added("summaries/*/estimates/*/censored", CENSORED),
    Added("summaries/*/estimates/*/comparison_censored", CENSORED),
    Added("summaries/*/trials/*/censored", CENSORED),
    Added("summaries/*/trials/*/settled", SETTLED),
    Added("summaries/*/levels/*/not_settled", SETTLED),
    Added("summaries/*/levels/*/settings/memory_mib", "A level may limit the memory of its services."),
    RenamedText("summaries/*/metrics/*/title", r", beside the services$", ", while the services ran", PLAIN),
    RenamedText(
        "summaries/*/metrics/*/title", r"had stood, side by side$", "had run before its window, side by side", PLAIN
    ),
    RenamedText("summaries/*/metrics/*/title", r"that a breaker or", "that a circuit breaker or", PLAIN),
    RenamedText("summaries/*/metrics/*/title", r"refused$", "rejected", PLAIN),
    RenamedText(
        "summaries/*/title",
        r"^Memory, (services|sidecars|backends|services and backends), mean$",
        r"Working set, \1, mean",
        RSS,
    ),
    Added("*/memory_services_rss_mean_mib", RSS),
    Added("*/memory_services_kernel_peak_mib", PEAK),
    Removed("*/memory_services_peak_mib", PEAK),
    Added("*/memory_backends_filled_mib", FILLED),
    Added("*/latency_p999_ms", "The claims on exporters are about percentiles up to the 99.9th."),
    Removed("claims/*/parts/memory_total_mean_mib", FILLED),
    Removed("claims/*/parts/memory_backends_mean_mib", FILLED),
    Added("claims/*/parts/memory_services_mean_mib", FILLED),
    RenamedText("claims/batching/claims/0/verdict", "^inconclusive$", "not tested here", FILLED),
    RenamedText("claims/sampling/claims/0/verdict", "^does not hold here$", "not tested here", FILLED),
    RenamedText("claims/telemetry-overhead/claims/3/verdict", "^does not hold here$", "not tested here", FILLED),
    *_reworded("claims/batching/claims/0/reason", FILLED),
    *_reworded("claims/sampling/claims/0/reason", FILLED),
    *_reworded("claims/telemetry-overhead/claims/[234]/reason", FILLED),
    RenamedText("claims/telemetry-overhead/claims/9/reason", "batch-1$", LACKS_FILLED, FILLED),
    RenamedText("claims/telemetry-overhead/claims/11/reason", "sampling-1-32$", LACKS_FILLED, FILLED),
    Removed("claims/side-by-side-*", WITHDRAWN),
    *_reworded("claims/telemetry-overhead/claims/3/parts/cpu_per_request_backends_ms/answer", EXCLUDED),
    *_reworded("claims/telemetry-overhead/claims/3/parts/cpu_per_request_backends_ms/reason", EXCLUDED),
    *_reworded("claims/telemetry-overhead/claims/4/parts/cpu_per_request_total_ms/reason", EXCLUDED),
    *_reworded("claims/telemetry-overhead/claims/2/parts/latency_p95_ms/reason", EXCLUDED),
    RenamedText("*/sources/*", r"docs/sources\.md", "docs/reference/sources.md", FOUR_PARTS),
    Added("claims/*/swept", MATCHED),
    Added("summaries/*/swept", MATCHED),
    RenamedText("claims/sidecar-resilience/claims/[0234]/verdict", "^does not hold here$", "not tested here", MATCHED),
    *_reworded("claims/sidecar-resilience/claims/[0234]/reason", MATCHED),
    *_reworded("claims/sidecar-resilience/claims/[0234]/parts", MATCHED),
    *_reworded("summaries/sidecars/claims/claims/[0234]/reason", MATCHED),
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
    return _golden(golden, record, tuple(row for row in _about(record, rows) if not isinstance(row, Added)), used), used


def compared(record: str, current: Json, rows: Iterable[Row] = ALLOWED) -> tuple[Json, set[Row]]:
    """Return what the code says now without what may be new, and the rows that applied."""
    used: set[Row] = set()
    return _without(current, record, tuple(row for row in _about(record, rows) if isinstance(row, Added)), used), used


def _about(record: str, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows that can apply to a record: the first part of a pattern is its name, or is "*"."""
    return (row for row in rows if row.where.partition("/")[0] in (record, "*"))


def _is_at(row: Row, place: str) -> bool:
    """Say whether a row applies to a place. Nearly all places have another end, which takes less time to see."""
    return place.endswith(_end(row.where)) and fnmatchcase(place, row.where)


@cache
def _end(pattern: str) -> str:
    """Return the end of a pattern, after its last wildcard."""
    return re.split(r"[*?\]]", pattern)[-1]


def _golden(data: Json, place: str, rows: tuple[Row, ...], used: set[Row]) -> Json:
    if isinstance(data, dict):
        kept = _without(data, place, tuple(row for row in rows if isinstance(row, Removed)), used, deep=False)
        return {
            _key(key, place, rows, used): _golden(value, f"{place}/{key}", rows, used) for key, value in kept.items()
        }
    if isinstance(data, list):
        left = _without(data, place, tuple(row for row in rows if isinstance(row, Removed)), used, deep=False)
        return [_golden(value, f"{place}/{name}", rows, used) for name, value in _items(left)]
    if isinstance(data, str):
        for row in rows:
            if isinstance(row, RenamedText) and _is_at(row, place) and re.search(row.old, data):
                used.add(row)
                data = re.sub(row.old, row.new, data)
    return data


def _key(key: str, place: str, rows: tuple[Row, ...], used: set[Row]) -> str:
    for row in rows:
        if isinstance(row, RenamedKey) and row.old == key and _is_at(row, place):
            used.add(row)
            return row.new
    return key


def _without(data: Json, place: str, rows: tuple[Row, ...], used: set[Row], *, deep: bool = True) -> Json:
    """Return `data` without the keys and items at the rows' places."""
    if not rows:
        return data
    if not isinstance(data, dict | list):
        return data
    kept = []
    for name, value in _items(data):
        below = f"{place}/{name}"
        found = [row for row in rows if _is_at(row, below)]
        used.update(found)
        if not found:
            kept.append((name, _without(value, below, rows, used) if deep else value))
    return dict(kept) if isinstance(data, dict) else [value for _, value in kept]


def _items(data: Json) -> list[tuple[str, Json]]:
    """Return the names of a mapping's or a list's items in places, and the items."""
    if isinstance(data, dict):
        return list(data.items())
    return [
        (str(item["metric"] if isinstance(item, dict) and "metric" in item else index), item)
        for index, item in enumerate(data)
    ]
