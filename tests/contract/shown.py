"""Traces as backends show them, in one form that two tracers' traces can be compared in.

Left out are the ids of traces and spans, and times. The other differences are named below.
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

OF_A_TRACER = ("telemetry.sdk.name", "telemetry.sdk.version", "Resource SchemaURL")
"""What each tracer says of itself. The SDK says by which version of the conventions it names its resource."""
OF_THE_SDK = ("service.instance.id",)
"""Attributes of the resource that only the SDK has: a random one for each process."""

# Half of these attributes contain the start of their span's id (ExtraAttributes.java).
EXTRA, DIGITS = "tollbooth.extra.attribute_", 5
IDS_AND_TIMES = ("Trace ID", "Parent ID", "ID", "Start time", "End time")


@dataclass(frozen=True)
class Shown:
    """A span as a backend shows it. `lines` say all of it but ids and times."""

    trace: str
    id: str
    parent: str
    lines: Sequence[str]

    def text(self, inner: Iterable[str]) -> str:
        """Return its lines in order, then, further in, those of the spans below it."""
        own = [_alike(line, self.id) for line in self.lines if _key(line) not in OF_THE_SDK]
        below = [f"  {line}" for text in sorted(inner) for line in text.splitlines()]
        return "\n".join([*sorted(own), *below])


def drawn(spans: Sequence[Shown]) -> str:
    """Return all traces as one text, which is the same for the same traces in another order."""
    ids = {(span.trace, span.id) for span in spans}
    assert len(ids) == len(spans), "a span is shown twice"
    below = defaultdict[tuple[str, str], list[Shown]](list)
    roots = []
    for span in spans:
        if (span.trace, span.parent) in ids:
            below[span.trace, span.parent].append(span)
        else:
            roots.append(span)

    def text(span: Shown) -> str:
        return span.text(text(child) for child in below[span.trace, span.id])

    return "\n".join(sorted(f"{'of a caller' if root.parent else 'root'}\n{text(root)}" for root in roots))


def in_collector(log: str) -> list[Shown]:
    """Return the spans that a Collector's exporter `debug` wrote to its log in detail."""
    resource, scope, part = list[str](), list[str](), list[str]()
    found = list[tuple[list[str], list[str], list[str]]]()
    for line in map(str.strip, log.splitlines()):
        if line.startswith("ResourceSpans #"):
            resource = part = []
        elif line.startswith("ScopeSpans #"):
            scope = part = []
        elif line.startswith("Span #"):
            part = []
            found.append((resource, scope, part))
        elif line and not line.startswith("TracesExporter"):
            part.append(line)
    return [_of_collector(*parts) for parts in found]


def _of_collector(resource: Sequence[str], scope: Sequence[str], span: Sequence[str]) -> Shown:
    fields = {name.strip(): value.strip() for name, _, value in (line.partition(":") for line in span)}
    said = [line.removeprefix("-> ") for line in span if line.partition(":")[0].strip() not in IDS_AND_TIMES]
    around = [f"resource {line.removeprefix('-> ')}" for line in resource]
    around += [f"scope {line.removeprefix('-> ')}" for line in scope]
    return Shown(fields["Trace ID"], fields["ID"], fields["Parent ID"], [*around, *said])


def in_jaeger(traces: Sequence[Mapping[str, Any]]) -> list[Shown]:
    """Return the spans of an answer of Jaeger's query API."""
    return [_of_jaeger(span, trace["processes"]) for trace in traces for span in trace["spans"]]


def _of_jaeger(span: Mapping[str, Any], processes: Mapping[str, Any]) -> Shown:
    (parent,) = [reference["spanID"] for reference in span["references"]] or [""]
    process = processes[span["processID"]]
    lines = [
        f"name: {span['operationName']}",
        f"service: {process['serviceName']}",
        f"references: {[reference['refType'] for reference in span['references']]}",
        *(f"resource {_tag(tag)}" for tag in process["tags"]),
        *map(_tag, span["tags"]),
        *(f"log {[_tag(field) for field in log['fields']]}" for log in span["logs"]),
    ]
    return Shown(span["traceID"], span["spanID"], parent, lines)


def _tag(tag: Mapping[str, Any]) -> str:
    return f"{tag['key']}: {tag['type']} {tag['value']}"


def in_zipkin(traces: Sequence[Sequence[Mapping[str, Any]]]) -> list[Shown]:
    """Return the spans of an answer of Zipkin's query API."""
    return [_of_zipkin(span) for trace in traces for span in trace]


def _of_zipkin(span: Mapping[str, Any]) -> Shown:
    apart = {"traceId", "id", "parentId", "timestamp", "duration", "tags", "annotations"}
    lines = [
        *(f"{name}: {json.dumps(value, sort_keys=True)}" for name, value in span.items() if name not in apart),
        *(f"{key}: {value}" for key, value in span.get("tags", {}).items()),
        *(f"annotation {annotation['value']}" for annotation in span.get("annotations", [])),
    ]
    return Shown(span["traceId"], span["id"], span.get("parentId", ""), lines)


def _alike(line: str, span_id: str) -> str:
    """Return a line without what differs between tracers, and between spans, by design."""
    if line.startswith(EXTRA):
        return line.replace(span_id[:DIGITS], "<id>")
    return f"{_key(line)}: of the tracer" if _key(line) in OF_A_TRACER else line


def _key(line: str) -> str:
    return line.removeprefix("resource ").partition(":")[0]
