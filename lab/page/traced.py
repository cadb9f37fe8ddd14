"""Traces for the page: a list, slow ones first; one of them as bars; and the calls between services. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.backend import Trace
from lab.page.figures import Call
from lab.record import MS_NS

# Slow: longer than all but a tenth of those that are listed.
SLOW_FROM = 0.9

Span = Mapping[str, Any]


@dataclass(frozen=True)
class Listed:
    """The traces in short, as the page has them."""

    traces: Sequence[Mapping[str, Any]]


def listed(traces: Sequence[Trace]) -> list[dict[str, Any]]:
    """Return the traces in short: the slow ones first, and of these and of the others the newest first."""
    found = [_short(trace) for trace in traces if trace["spans"]]
    durations = sorted(trace["duration_ms"] for trace in found)
    slow_ms = durations[int(SLOW_FROM * len(durations))] if durations else 0.0
    marked = [{**trace, "slow": trace["duration_ms"] >= slow_ms} for trace in found]
    return sorted(marked, key=lambda trace: (not trace["slow"], -trace["start_unix_ms"]))


def bars(trace: Trace) -> dict[str, Any]:
    """Return a trace's spans in order of their starts, from the first one's on. Each has an ID of its own."""
    spans = _with_own_ids(trace["spans"])
    first_ns = min(span["start_ns"] for span in spans)
    return {
        "trace_id": trace["trace_id"],
        "spans": [
            {
                "span_id": span["id"],
                "parent_id": span["parent"],
                "service": span["service"],
                "name": span["name"],
                "start_ms": round((span["start_ns"] - first_ns) / MS_NS, 3),
                "duration_ms": round(span["duration_ns"] / MS_NS, 3),
                "error": span["error"],
            }
            for span in sorted(spans, key=lambda span: span["start_ns"])
        ],
    }


def calls(traces: Sequence[Trace]) -> dict[tuple[str, str], list[Call]]:
    """Return the calls from one service to another, by caller and callee; as long as the caller's span, if it has one.

    A call's server span has the client span as its parent.
    """
    found: dict[tuple[str, str], list[Call]] = {}
    for trace in traces:
        spans = _with_own_ids(trace["spans"])
        by_id = {span["id"]: span for span in spans}
        for span in spans:
            parent = by_id.get(span["parent"])
            if span["kind"] != "server" or parent is None or parent["service"] == span["service"]:
                continue
            caller = parent if parent["kind"] == "client" else span
            call = Call(caller["duration_ns"] / MS_NS, parent["error"] or span["error"])
            found.setdefault((parent["service"], span["service"]), []).append(call)
    return found


def _short(trace: Trace) -> dict[str, Any]:
    spans = trace["spans"]
    ids = {span["id"] for span in spans}
    root = min(spans, key=lambda span: (span["parent"] in ids, span["start_ns"]))
    return {
        "trace_id": trace["trace_id"],
        "start_unix_ms": round(root["start_ns"] / MS_NS, 3),
        "duration_ms": round(root["duration_ns"] / MS_NS, 3),
        "spans": len(spans),
        "root": root["name"],
    }


def _with_own_ids(spans: Sequence[Span]) -> list[dict[str, Any]]:
    """Return the spans, of which none shares its ID: with Brave, both sides of a call have one.

    There the server's becomes a child of the client's, and what it did its children.
    """
    clients = {span["id"] for span in spans if span["kind"] == "client"}
    servers = {span["id"]: span["service"] for span in spans if span["kind"] == "server" and span["id"] in clients}
    return [{**span, **_moved(span, servers)} for span in spans]


def _moved(span: Span, servers: Mapping[str, str]) -> dict[str, Any]:
    """Return ID and parent of a span where both sides of some calls share theirs."""
    if span["kind"] == "server" and span["id"] in servers:
        return {"id": f"{span['id']}-server", "parent": span["id"]}
    below = span["parent"] in servers and span["service"] == servers[span["parent"]]
    return {"parent": f"{span['parent']}-server"} if below else {}
