"""Jaeger 2: traces by its query API, counters by its own metrics."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from typing_extensions import override

from lab.backend.backend import Backend, Trace, record

# Tags that Jaeger adds when it converts OTLP and Zipkin's format into its model.
ADDED = {"span.kind", "internal.span.format"}
ADDED_TO_ZIPKIN = {"net.host.ip", "net.host.port", "net.peer.ip", "net.peer.port", "peer.service"}


class Jaeger(Backend):
    """The `Backend` for a Jaeger that keeps its newest traces in memory."""

    services: tuple[str, ...] = ("jaeger",)
    images: tuple[str, ...] = ("jaeger",)
    keeps_traces = True
    takes: Mapping[str, int] = {"grpc": 4317, "http": 4318, "zipkin": 9411}
    storage: Mapping[str, str] = {"GOMAXPROCS": "{cpus}", "GOMEMLIMIT": "{heap_mib}MiB", "MAX_TRACES": "{max_traces}"}
    health = ("JAEGER_HEALTH_PORT", "/")
    # Its pages are not in the image that is built from packages; its query API is in every image.
    page = ("JAEGER_PORT", "/api/services")

    def counters(self) -> dict[str, float]:
        """See `Backend.counters`: spans over all receivers."""
        return span_counters(self.http.get("JAEGER_METRICS_PORT", "/metrics").decode())

    @override
    def newest(self, service: str, limit: int) -> list[Trace]:
        return self._found(f"service={service}&limit={limit}&lookback=1h")

    @override
    def traces(self, ids: Sequence[str]) -> list[Trace]:
        return self._found("&".join(f"traceID={one}" for one in ids))

    def _found(self, query: str) -> list[Trace]:
        return [trace_record(one) for one in json.loads(self.http.get("JAEGER_PORT", f"/api/traces?{query}"))["data"]]


class JaegerBadger(Jaeger):
    """The `Backend` for a Jaeger that keeps its traces on disk, in Badger. It replaces the other one."""

    services = ("jaeger-badger",)
    # Nothing limits how many traces it keeps.
    storage: Mapping[str, str] = {}


def span_counters(metrics: str) -> dict[str, float]:
    """The counters of spans of an OpenTelemetry Collector. Jaeger is one; its exporter is its storage."""
    return {
        "accepted_spans": total(metrics, "otelcol_receiver_accepted_spans"),
        "refused_spans": total(metrics, "otelcol_receiver_refused_spans"),
        "sent_spans": total(metrics, "otelcol_exporter_sent_spans"),
        "dropped_spans": total(metrics, "otelcol_exporter_send_failed_spans")
        + total(metrics, "otelcol_exporter_enqueue_failed_spans"),
    }


def total(text: str, name: str) -> float:
    """The counter `name` of a text in Prometheus's format, summed over its labels; 0 if it is missing.

    The text may have it with the suffix `_total`.
    """
    sample = re.compile(rf"^{re.escape(name)}(?:_total)?(?:\{{[^}}]*\}})? ([0-9.eE+]+)$", re.MULTILINE)
    return sum(float(value) for value in sample.findall(text))


def trace_record(trace: dict[str, Any]) -> dict[str, Any]:
    """One of Jaeger's traces, in the form of `trace.json`, with errors."""
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
        "error": tags.get("error") in (True, "true"),
    }
