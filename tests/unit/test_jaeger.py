"""What Jaeger says, in the lab's own words."""

from lab.backends.jaeger import accepted_spans, largest_trace

METRICS = """
# TYPE otelcol_receiver_accepted_spans_total counter
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="grpc"} 246
otelcol_receiver_accepted_spans_total{receiver="otlp",transport="http"} 1.23e+06
otelcol_receiver_refused_spans_total{receiver="otlp",transport="grpc"} 7
"""


def test_accepted_spans_of_all_receivers_are_summed() -> None:
    assert accepted_spans(METRICS) == 246 + 1_230_000
    assert accepted_spans("") == 0


def span(span_id: str, parent: str | None, kind: str) -> dict[str, object]:
    references = [{"refType": "CHILD_OF", "spanID": parent}] if parent else []
    tags = [{"key": "span.kind", "value": kind}, {"key": "http.route", "value": "/a1"}]
    return {"spanID": span_id, "references": references, "operationName": "GET", "startTime": 5, "duration": 2,
            "processID": "p1", "tags": tags}  # fmt: skip


def test_the_largest_trace_is_taken_so_that_an_extra_span_is_seen() -> None:
    processes = {"p1": {"serviceName": "gateway"}}
    small = {"traceID": "s", "processes": processes, "spans": [span("1", None, "server")]}
    large = {"traceID": "l", "processes": processes, "spans": [span("1", None, "server"), span("2", "1", "client")]}
    trace = largest_trace([small, large])
    assert trace is not None
    assert trace["trace_id"] == "l"
    assert trace["spans"] == [
        {"id": "1", "parent": None, "service": "gateway", "name": "GET", "kind": "server", "start_ns": 5000,
         "duration_ns": 2000, "tags": 1},
        {"id": "2", "parent": "1", "service": "gateway", "name": "GET", "kind": "client", "start_ns": 5000,
         "duration_ns": 2000, "tags": 1},
    ]  # fmt: skip
    assert largest_trace([]) is None
