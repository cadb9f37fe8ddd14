"""Jaeger 2: traces by its query API, counters by its own metrics."""

import json
from typing import Any

from lab.backend.backend import Backend
from lab.backend.exposition import total
from lab.backend.traces import largest, record

# Tags that Jaeger adds when it converts OTLP and Zipkin's format into its model.
ADDED = {"span.kind", "internal.span.format"}
ADDED_TO_ZIPKIN = {"net.host.ip", "net.host.port", "net.peer.ip", "net.peer.port", "peer.service"}


class Jaeger(Backend):
    """The `Backend` for a Jaeger that keeps its newest traces in memory."""

    services: tuple[str, ...] = ("jaeger",)
    images: tuple[str, ...] = ("jaeger",)
    keeps_traces = True

    def ready(self) -> bool:
        """See `Backend.ready`."""
        return self.http.answers("JAEGER_HEALTH_PORT", "/")

    def accepted_spans(self) -> int | None:
        """See `Backend.accepted_spans`: over all receivers."""
        return round(self._spans()["accepted_spans"])

    def counters(self) -> dict[str, float]:
        """See `Backend.counters`."""
        return self._spans()

    def newest_trace(self) -> dict[str, object] | None:
        """See `Backend.newest_trace`: of those kept, the one with the most spans."""
        answer = self.http.get("JAEGER_PORT", "/api/traces?service=gateway&limit=50&lookback=1h")
        return largest(trace_record(trace) for trace in json.loads(answer)["data"])

    def pages(self) -> list[str]:
        """See `Backend.pages`."""
        return [self.http.url("JAEGER_PORT", "/")]

    def _spans(self) -> dict[str, float]:
        return span_counters(self.http.get("JAEGER_METRICS_PORT", "/metrics").decode())


class JaegerBadger(Jaeger):
    """The `Backend` for a Jaeger that keeps its traces on disk, in Badger. It replaces the other one."""

    services = ("jaeger-badger",)


def span_counters(metrics: str) -> dict[str, float]:
    """The counters of spans of an OpenTelemetry Collector. Jaeger is one; its exporter is its storage."""
    return {
        "accepted_spans": total(metrics, "otelcol_receiver_accepted_spans"),
        "refused_spans": total(metrics, "otelcol_receiver_refused_spans"),
        "sent_spans": total(metrics, "otelcol_exporter_sent_spans"),
        "dropped_spans": total(metrics, "otelcol_exporter_send_failed_spans")
        + total(metrics, "otelcol_exporter_enqueue_failed_spans"),
    }


def trace_record(trace: dict[str, Any]) -> dict[str, Any]:
    """One of Jaeger's traces, in the form of `trace.json`."""
    services = {key: process["serviceName"] for key, process in trace["processes"].items()}
    return record(trace["traceID"], (_span(span, services) for span in trace["spans"]))


def _span(span: dict[str, Any], services: dict[str, str]) -> dict[str, object]:
    parents = [reference["spanID"] for reference in span["references"] if reference["refType"] == "CHILD_OF"]
    tags = {tag["key"]: tag["value"] for tag in span["tags"]}
    return {
        "id": span["spanID"],
        "parent": parents[0] if parents else None,
        "service": services[span["processID"]],
        "name": span["operationName"],
        "kind": tags.get("span.kind", "internal"),
        "start_ns": span["startTime"] * 1000,
        "duration_ns": span["duration"] * 1000,
        "tags": len(tags.keys() - ADDED - ADDED_TO_ZIPKIN),
    }
