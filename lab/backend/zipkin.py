"""Zipkin 3: traces by its query API, counters by its own metrics."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from lab.backend.backend import Backend, Trace, record


class Zipkin(Backend):
    """The `Backend` for a Zipkin that keeps its newest traces in memory."""

    services = ("zipkin",)
    images = ("zipkin",)
    keeps_traces = True
    takes: Mapping[str, int] = {"zipkin": 9411}
    storage: Mapping[str, str] = {
        "JAVA_OPTS": "-Xmx{heap_mib}m -XX:+ExitOnOutOfMemoryError",
        "MEM_MAX_SPANS": "{max_spans}",
    }
    health = ("ZIPKIN_PORT", "/health")
    page = ("ZIPKIN_PORT", "/zipkin/")

    @override
    def counters(self) -> dict[str, float]:
        return collector_counters(json.loads(self.http.get("ZIPKIN_PORT", "/metrics")))

    @override
    def newest(self, service: str, limit: int) -> list[Trace]:
        return self._found(f"traces?serviceName={service}&limit={limit}&lookback=3600000")

    def traces(self, ids: Sequence[str]) -> list[Trace]:
        """See `Backend.traces`: its server takes a first line of 4,096 bytes, and the API no single ID."""
        return self._found(f"traceMany?traceIds={','.join((*ids, '1'))}")

    def _found(self, query: str) -> list[Trace]:
        return [trace_record(spans) for spans in json.loads(self.http.get("ZIPKIN_PORT", f"/api/v2/{query}"))]


def collector_counters(metrics: dict[str, float]) -> dict[str, float]:
    """Zipkin's counters of the spans that it received over HTTP."""
    return {
        "accepted_spans": metrics.get("counter.zipkin_collector.spans.http", 0),
        "dropped_spans": metrics.get("counter.zipkin_collector.spans_dropped.http", 0),
        "requests": metrics.get("counter.zipkin_collector.messages.http", 0),
        "refused_requests": metrics.get("counter.zipkin_collector.messages_dropped.http", 0),
    }


def trace_record(spans: list[dict[str, Any]]) -> dict[str, Any]:
    """One of Zipkin's traces, in the form of `trace.json`, with errors."""
    return record(spans[0]["traceId"], map(_span, spans))


def _span(span: dict[str, Any]) -> dict[str, object]:
    # All fields but the ids may be missing if a service ended before its span.
    return {
        "id": span["id"],
        "parent": span.get("parentId"),
        "service": span.get("localEndpoint", {}).get("serviceName", ""),
        "name": span.get("name", ""),
        "kind": span.get("kind", "internal").lower(),
        "start_ns": span.get("timestamp", 0) * 1000,
        "duration_ns": span.get("duration", 0) * 1000,
        "tags": len(span.get("tags", {})),
        "error": "error" in span.get("tags", {}),
    }
