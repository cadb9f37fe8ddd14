"""What Envoy counted over the life of its process, by the lab's names. Pure."""

from collections.abc import Mapping
from typing import Any

# By the lab's names, which begin results of every level.
OF_REQUESTS = {
    "requests_proxied": "http.proxy.downstream_rq_completed",
    "requests_sampled": "http.proxy.tracing.random_sampling",
}
# After `tracing.opentelemetry.` or `tracing.zipkin.` Zipkin's tracer never drops a span.
OF_TRACER = {"spans_sent": "spans_sent", "spans_dropped": "spans_dropped", "timer_flushes": "timer_flushed"}
# After `cluster.receiver.`, added up. An export that is sent again counts again, one without a connection only as such.
OF_EXPORTS = {
    "exports": ("upstream_rq_total",),
    "exports_repeated": ("upstream_rq_retry",),
    "exports_timed_out": ("upstream_rq_timeout",),
    # Those that waited for a connection, and those above `max_requests`. Before 1.38 Envoy counted all as the former.
    "exports_overflowed": ("upstream_rq_pending_overflow", "upstream_rq_active_overflow"),
    "exports_reset": ("upstream_rq_rx_reset",),
    "exports_not_connected": ("upstream_rq_pending_failure_eject",),
    # The receiver is gone, and so is its name.
    "exports_without_host": ("upstream_cx_none_healthy",),
    "exports_canceled": ("upstream_rq_cancelled",),
    "exports_failed_5xx": ("upstream_rq_5xx",),
    "export_connections_failed": ("upstream_cx_connect_fail",),
}
REQUIRED = ("spans_sent", "timer_flushes")
# What `export_values` needs, as a regular expression of Envoy's names.
EXPORTS = r"^(cluster\.receiver\.upstream_rq_total|tracing\.[a-z]+\.spans_sent)$"


def proxy_values(counters: Mapping[str, int], tracer: str | None) -> dict[str, float]:
    """Return what Envoy counted. `tracer`: what the names of its counters begin with; None without a tracer.

    A counter that every tracer has and this Envoy has not is left out, so that a check finds it.
    """
    values = {name: float(counters.get(envoys, 0)) for name, envoys in OF_REQUESTS.items()}
    if tracer is None:
        return values
    for name, envoys in OF_TRACER.items():
        if tracer + envoys in counters or name not in REQUIRED:
            values[name] = float(counters.get(tracer + envoys, 0))
    return values | {name: float(_of_exports(counters, name)) for name in OF_EXPORTS}


def attribute_values(trace: Mapping[str, Any] | None) -> dict[str, float]:
    """Return how many attributes a span has, from a trace that the sink kept; nothing if it kept none."""
    return {"attributes_per_span": float(trace["spans"][0]["tags"])} if trace else {}


def export_values(counters: Mapping[str, int], tracer: str) -> dict[str, int]:
    """Return the exports so far and the spans in them, from the counters that `EXPORTS` selects."""
    return {
        "exports": _of_exports(counters, "exports"),
        "spans_sent": counters.get(f"{tracer}spans_sent", 0),
    }


def _of_exports(counters: Mapping[str, int], name: str) -> int:
    """Return a count of exports, by the lab's name: the sum of Envoy's counters of it."""
    return sum(counters.get(f"cluster.receiver.{envoys}", 0) for envoys in OF_EXPORTS[name])
