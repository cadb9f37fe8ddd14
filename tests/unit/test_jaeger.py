"""What Jaeger says, in the lab's own words."""

import json

import pytest

from lab.backend.http import Http
from lab.backend.jaeger import Jaeger, span_counters, trace_record

METRICS = """
# TYPE otelcol_receiver_accepted_spans_total counter
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 246
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="http"} 1.23e+06
otelcol_receiver_refused_spans_total{receiver="otlp",transport="grpc"} 7
otelcol_exporter_send_failed_spans_total{exporter="jaeger_storage_exporter"} 2
otelcol_exporter_enqueue_failed_spans_total{exporter="jaeger_storage_exporter"} 3
"""


def test_spans_of_all_receivers_are_summed() -> None:
    assert span_counters(METRICS) == {
        "accepted_spans": 246 + 1_230_000, "refused_spans": 7, "sent_spans": 0, "dropped_spans": 5,
    }  # fmt: skip
    assert set(span_counters("").values()) == {0}


def span(span_id: str, parent: str | None, kind: str, *tags: str) -> dict[str, object]:
    references = [{"refType": "CHILD_OF", "spanID": parent}] if parent else []
    keys = {"span.kind": kind, "http.route": "/a1"} | dict.fromkeys(tags, "x")
    return {"spanID": span_id, "references": references, "operationName": "GET", "startTime": 5, "duration": 2,
            "processID": "p1", "tags": [{"key": key, "value": value} for key, value in keys.items()]}  # fmt: skip


def test_the_largest_trace_is_taken_so_that_an_extra_span_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = list[dict[str, object]]()
    monkeypatch.setattr(Http, "get", lambda *_: json.dumps({"data": kept}))
    assert Jaeger().newest_trace("gateway") is None
    processes = {"p1": {"serviceName": "gateway"}}
    small = {"traceID": "s", "processes": processes, "spans": [span("1", None, "server")]}
    large = {"traceID": "l", "processes": processes, "spans": [span("1", None, "server"), span("2", "1", "client")]}
    kept += [small, large]
    trace = Jaeger().newest_trace("gateway")
    assert trace is not None
    assert trace["trace_id"] == "l"
    assert trace["spans"] == [
        {"id": "1", "parent": None, "service": "gateway", "name": "GET", "kind": "server", "start_ns": 5000,
         "duration_ns": 2000, "tags": 1},
        {"id": "2", "parent": "1", "service": "gateway", "name": "GET", "kind": "client", "start_ns": 5000,
         "duration_ns": 2000, "tags": 1},
    ]  # fmt: skip


def test_what_jaeger_makes_tags_of_is_not_counted_as_one() -> None:
    added = span("1", None, "server", "internal.span.format", "net.host.ip", "net.peer.port", "peer.service")
    trace = trace_record({"traceID": "t", "processes": {"p1": {"serviceName": "a1"}}, "spans": [added]})
    assert trace["spans"][0]["tags"] == 1
