"""How records name what sidecars do and count. They stay readable without the target that wrote them."""

NO_SIDECAR = "none"
PASSTHROUGH = "passthrough"
WITHOUT_PATTERNS = {NO_SIDECAR, PASSTHROUGH}
"""What a level's `sidecar` is where no pattern changes the answers."""

RETRIES = (
    "retry.upstream_rq_200",
    "retry.upstream_rq_2xx",
    "retry.upstream_rq_completed",
    "retry_or_shadow_abandoned",
    "upstream_rq_retry",
    "upstream_rq_retry_overflow",
    "upstream_rq_retry_success",
)
"""Envoy's counters of retries, which the sidecar study published."""
