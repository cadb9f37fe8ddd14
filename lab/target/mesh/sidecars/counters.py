"""Envoy's counters: which of them the lab keeps, under Envoy's own names (what each means: lab/sidecars/README.md)."""

import json
import re

from lab.record import RETRIES

# After `cluster.inbound.` or `cluster.outbound-<peer>.`
OF_CLUSTER = (
    *RETRIES,
    "upstream_rq_total",
    "upstream_rq_completed",
    "upstream_rq_2xx",
    "upstream_rq_4xx",
    "upstream_rq_5xx",
    "upstream_rq_retry_limit_exceeded",
    "upstream_rq_retry_backoff_exponential",
    "upstream_rq_timeout",
    "upstream_rq_per_try_timeout",
    "upstream_rq_pending_overflow",
    "upstream_rq_active_overflow",
    "upstream_rq_pending_failure_eject",
    "upstream_rq_rx_reset",
    "upstream_rq_tx_reset",
    "upstream_cx_total",
    "upstream_cx_overflow",
    "upstream_cx_connect_fail",
    "upstream_cx_connect_timeout",
    "upstream_cx_none_healthy",
    "outlier_detection.ejections_detected_consecutive_5xx",
    "outlier_detection.ejections_enforced_total",
    "outlier_detection.ejections_overflow",
)
# After `http.inbound.` or `http.outbound.`
OF_LISTENER = (
    "downstream_rq_total",
    "downstream_rq_completed",
    "downstream_rq_2xx",
    "downstream_rq_4xx",
    "downstream_rq_5xx",
    "downstream_cx_total",
    "fault.aborts_injected",
    "fault.delays_injected",
)
# After `inbound.http_local_rate_limit.`
OF_RATE_LIMIT = ("enabled", "ok", "enforced", "rate_limited")


def _any(names: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re.escape, names))})"


KEPT = re.compile(
    rf"cluster\.(?:inbound|outbound-[a-z0-9-]+)\.{_any(OF_CLUSTER)}"
    rf"|http\.(?:inbound|outbound)\.{_any(OF_LISTENER)}"
    rf"|inbound\.http_local_rate_limit\.{_any(OF_RATE_LIMIT)}"
)


def kept(numbers: dict[str, int]) -> dict[str, int]:
    """Those of Envoy's counters that the lab keeps.

    Some are begun by what they count (`retry.*`, codes), others by a pattern: what is not there has counted nothing.
    """
    return {name: value for name, value in numbers.items() if KEPT.fullmatch(name)}


def numbers(stats: str) -> dict[str, int]:
    """Name and value of all counters or gauges in an answer to `/stats?format=json`."""
    return {stat["name"]: stat["value"] for stat in json.loads(stats)["stats"]}
