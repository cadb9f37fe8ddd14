"""Jaeger 2: traces by its query API, accepted spans by its own metrics."""

import json
import re
from collections.abc import Iterable
from typing import Any

from lab.backends import http
from lab.ports import port

ACCEPTED = re.compile(r"^otelcol_receiver_accepted_spans(?:_total)?\{[^}]*\} ([0-9.e+]+)$", re.MULTILINE)


class Jaeger:
    """The `Backend` for a Jaeger that keeps its newest traces in memory."""

    services: tuple[str, ...] = ("jaeger",)

    def ready(self) -> bool:
        """See `Backend.ready`."""
        try:
            http.get("JAEGER_HEALTH_PORT", "/")
        except OSError:
            return False
        return True

    def accepted_spans(self) -> int | None:
        """See `Backend.accepted_spans`."""
        return accepted_spans(http.get("JAEGER_METRICS_PORT", "/metrics").decode())

    def newest_trace(self) -> dict[str, object] | None:
        """See `Backend.newest_trace`: of those kept, the one with the most spans, so that no extra span goes unseen."""
        answer = http.get("JAEGER_PORT", "/api/traces?service=gateway&limit=50&lookback=1h")
        return largest_trace(json.loads(answer)["data"])

    def pages(self) -> list[str]:
        """See `Backend.pages`."""
        return [f"http://127.0.0.1:{port('JAEGER_PORT')}/"]


def accepted_spans(metrics: str) -> int:
    """Sum of the accepted-spans counters in a text in Prometheus format; 0 before the first span."""
    return round(sum(float(value) for value in ACCEPTED.findall(metrics)))


def largest_trace(traces: Iterable[dict[str, Any]]) -> dict[str, object] | None:
    """The largest of Jaeger's traces, in the form of `trace.json`."""
    largest = max(traces, key=lambda trace: len(trace["spans"]), default=None)
    return None if largest is None else _trace(largest)


def _trace(trace: dict[str, Any]) -> dict[str, object]:
    services = {key: process["serviceName"] for key, process in trace["processes"].items()}
    return {
        "format": "tollbooth.trace",
        "version": 1,
        "trace_id": trace["traceID"],
        "spans": [_span(span, services) for span in trace["spans"]],
    }


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
        # Jaeger adds these two while it turns OTLP into its own model; the service did not send them as tags.
        "tags": len([key for key in tags if key not in ("span.kind", "internal.span.format")]),
    }
