"""What the telemetry consists of, and how much of it arrived."""

from collections.abc import Mapping

import numpy as np

from lab.contract import Metric, PairedMetric, Values
from lab.record import TrialData


def _spans_accepted_per_request(data: TrialData) -> float | None:
    """Count over the complete load: a span reaches the backend seconds after its request's window.

    A span that arrived twice counts once, if the backend counts duplicates. A request that takes longer than the load
    waits for after its end made spans too, so the value may be above the predicted.
    """
    backend = data.trial.backend
    if backend is None or backend.distinct_spans is None or len(data.requests) == 0:
        return None
    return backend.distinct_spans / len(data.requests)


def spans_lost_fraction(data: TrialData) -> float | None:
    """Return the share of the predicted spans that did not arrive; None where not every request is traced.

    A little below 0 where a load did not wait for its last requests, see `_spans_accepted_per_request`.
    """
    accepted, expected = _spans_accepted_per_request(data), data.trial.expected_spans_per_request
    return None if accepted is None or not expected else 1 - accepted / expected


def _tags_per_span(data: TrialData) -> float | None:
    """Average over the trace's SERVER and CLIENT spans: those that every instrumentation makes."""
    tags = [span["tags"] for span in (data.trace or {"spans": ()})["spans"] if span["kind"] in {"server", "client"}]
    return float(np.mean(tags)) if tags else None


def _cpu_per_delivered_span_us(values: Values, baseline: Values) -> float | None:
    """Divide the services' CPU beyond the baseline's by the spans that arrived. Lost spans cost CPU too."""
    extra_ms = values["cpu_per_request_services_ms"] - baseline["cpu_per_request_services_ms"]
    spans = values["spans_accepted_per_request"]
    return 1000 * extra_ms / spans if spans else None


METRICS = (
    Metric(
        "spans_accepted_per_request",
        "Spans accepted per request",
        "",
        "higher",
        compute=_spans_accepted_per_request,
    ),
    Metric("spans_lost_fraction", "Spans lost", "fraction", compute=spans_lost_fraction),
    Metric("tags_per_span", "Tags per span", "", compute=_tags_per_span),
    Metric(
        "metrics_per_service",
        "Metrics per service",
        "",
        compute=lambda data: data.trial.backend.counters.get("metrics_per_service") if data.trial.backend else None,
    ),
)

PAIRED: Mapping[str, PairedMetric] = {
    metric.name: metric
    for metric in (
        PairedMetric(
            "cpu_per_delivered_span_us",
            "CPU beyond the baseline's per delivered span, services",
            "µs",
            compute=_cpu_per_delivered_span_us,
        ),
    )
}
