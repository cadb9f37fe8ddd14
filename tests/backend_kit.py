"""What every backend must do, checked on recorded answers (tests/unit) and on real containers (tests/contract).

Both look at the same two traces: a small one, and then a larger one that the lab has to pick as the newest.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from lab.backend import BACKENDS, Backend
from lab.engine.image_recipes import TABLE
from tests import composing

RECORDED = Path(__file__).parent / "fixtures" / "backends"
MS = 1_000_000
OTLP_KINDS = {"internal": 1, "server": 2, "client": 3}


@dataclass(frozen=True)
class Span:
    """One span of a trace that is sent; `start_ms` counts from the moment of sending."""

    id: str
    parent: str | None
    service: str
    kind: str
    start_ms: int
    duration_ms: int
    name: str = "get /a1"
    tags: Mapping[str, str] = field(default_factory=dict)


SMALL = ("0af7651916cd43dd8448eb211c80a001", [Span("a000000000000001", None, "gateway", "server", 0, 5)])
LARGE = (
    "0af7651916cd43dd8448eb211c80b001",
    [
        Span("b000000000000001", None, "gateway", "server", 1, 9, tags={"http.route": "/a1", "http.method": "GET"}),
        Span("b000000000000002", "b000000000000001", "gateway", "client", 2, 7, tags={"net.peer.name": "a1"}),
        Span("b000000000000003", "b000000000000002", "a1", "server", 3, 5),
        Span("b000000000000004", "b000000000000003", "a1", "internal", 4, 3, name="work"),
    ],
)
SENT_SPANS = 5

Trace = tuple[str, list[Span]]


def as_otlp(trace: Trace, start_ns: int) -> bytes:
    """The body of an OTLP/HTTP request in JSON."""
    trace_id, spans = trace
    resources = [
        {
            "resource": {"attributes": [_attribute("service.name", span.service)]},
            "scopeSpans": [{"spans": [_otlp_span(span, trace_id, start_ns)]}],
        }
        for span in spans
    ]
    return json.dumps({"resourceSpans": resources}).encode()


def as_zipkin(trace: Trace, start_ns: int) -> bytes:
    """The body of a request to Zipkin's `/api/v2/spans`. Endpoints have addresses, as real clients send them."""
    trace_id, spans = trace
    return json.dumps([_zipkin_span(span, trace_id, start_ns) for span in spans]).encode()


def as_record(trace: Trace, start_ns: int) -> dict[str, Any]:
    """What the lab has to make of it: `trace.json`, its spans in order of id."""
    trace_id, spans = trace
    return {
        "format": "tollbooth.trace",
        "version": 1,
        "trace_id": trace_id,
        "spans": [
            {
                "id": span.id,
                "parent": span.parent,
                "service": span.service,
                "name": span.name,
                "kind": span.kind,
                "start_ns": start_ns + span.start_ms * MS,
                "duration_ns": span.duration_ms * MS,
                "tags": len(span.tags),
            }
            for span in spans
        ],
    }


def is_described(name: str) -> None:
    """A backend's services, images and pages are ones that there are."""
    backend = BACKENDS[name]()
    services = composing.services()
    started_from = {services[service]["image"].split("/")[1].split(":")[0] for service in backend.services}
    assert started_from == set(backend.images)
    assert backend.images == () or set(backend.images) <= TABLE.keys()
    assert all(services[service]["networks"] == ["telemetry"] for service in backend.services)
    assert all(page.startswith("http://127.0.0.1:") for page in backend.pages())


def has_files(backend: Backend, nodes: Sequence[str], environment: Mapping[str, str]) -> None:
    """What it wants in a trial's folder is text at a path within it."""
    for path, text in backend.files(nodes, environment).items():
        assert not PurePosixPath(path).is_absolute()
        assert ".." not in PurePosixPath(path).parts
        assert text


def is_fresh(backend: Backend) -> None:
    """It is ready, and has taken nothing yet."""
    assert backend.ready()
    assert not backend.accepted_spans()
    assert backend.newest_trace("gateway") is None
    assert not backend.counters().get("accepted_spans")


def took(backend: Backend, name: str, start_ns: int) -> None:
    """It says what it was given: both traces or, where it takes metrics, its own."""
    counters = backend.counters()
    if name == "prometheus":
        assert backend.accepted_spans() is None
        assert 0 < counters["metrics_per_service"] <= counters["sample_names_per_service"]
        return
    assert backend.accepted_spans() == counters["accepted_spans"] == SENT_SPANS
    assert all(not value for counter, value in counters.items() if "refused" in counter or "dropped" in counter)
    assert shown(backend) == as_record(LARGE, start_ns)
    finds(backend, {SMALL[0]: 1, LARGE[0]: 4})


def finds(backend: Backend, spans: Mapping[str, int]) -> None:
    """A store finds traces by their IDs, with as many spans as it took."""
    if backend.storage:
        found = backend.traces([SMALL[0], LARGE[0]])
        assert {trace["trace_id"]: len(trace["spans"]) for trace in found} == spans


def shown(backend: Backend) -> Mapping[str, Any] | None:
    """Its newest trace, with spans in order of id: theirs is open."""
    trace = backend.newest_trace("gateway")
    return trace and {**trace, "spans": sorted(trace["spans"], key=lambda span: str(span["id"]))}


def _attribute(key: str, value: str) -> dict[str, object]:
    return {"key": key, "value": {"stringValue": value}}


def _otlp_span(span: Span, trace_id: str, start_ns: int) -> dict[str, object]:
    start = start_ns + span.start_ms * MS
    return {
        "traceId": trace_id,
        "spanId": span.id,
        "parentSpanId": span.parent or "",
        "name": span.name,
        "kind": OTLP_KINDS[span.kind],
        "startTimeUnixNano": str(start),
        "endTimeUnixNano": str(start + span.duration_ms * MS),
        "attributes": [_attribute(key, value) for key, value in span.tags.items()],
    }


def _zipkin_span(span: Span, trace_id: str, start_ns: int) -> dict[str, object]:
    kind = {} if span.kind == "internal" else {"kind": span.kind.upper()}
    parent = {} if span.parent is None else {"parentId": span.parent}
    return {
        "traceId": trace_id,
        "id": span.id,
        **parent,
        **kind,
        "name": span.name,
        "timestamp": (start_ns + span.start_ms * MS) // 1000,
        "duration": span.duration_ms * MS // 1000,
        "localEndpoint": {"serviceName": span.service, "ipv4": "172.19.0.2", "port": 8080},
        "remoteEndpoint": {"serviceName": "peer", "ipv4": "172.19.0.3", "port": 41000},
        "tags": dict(span.tags),
    }
