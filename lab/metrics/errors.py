"""Errors: how many requests failed, and what sidecars did about them, by their own counters."""

from collections.abc import Callable, Iterable

from lab.metrics.latency import OK
from lab.metrics.metric import Metric
from lab.metrics.window import window_requests
from lab.records import TrialData
from lab.series import NotDerivableError


def _error_fraction(data: TrialData) -> float:
    requests = window_requests(data)
    if len(requests) == 0:
        raise NotDerivableError("no request ended in the window")
    return float((requests.status != OK).mean())


def _expected_error_fraction(data: TrialData) -> float | None:
    """Return what the drawn errors alone make fail; None where none are drawn."""
    return data.trial.expected_error_fraction or None


def _per_request(*counters: str) -> Callable[[TrialData], float | None]:
    """Add up counters that end so, of all proxies of all sidecars, for each request; None without sidecars."""

    def compute(data: TrialData) -> float | None:
        if not data.trial.sidecars or len(data.requests) == 0:
            return None
        return sum(_ending(data, counters)) / len(data.requests)

    return compute


def _ending(data: TrialData, names: Iterable[str]) -> Iterable[int]:
    for sidecar in data.trial.sidecars.values():
        for counter, value in sidecar.counters.items():
            # cluster.inbound.upstream_rq_retry, but not cluster.inbound.retry.upstream_rq_retry.
            if counter.split(".", 2)[-1] in names:
                yield value


METRICS = (
    Metric("error_fraction", "Requests that failed", "fraction", compute=_error_fraction),
    Metric(
        "expected_error_fraction", "Requests that drawn errors alone fail", "fraction", compute=_expected_error_fraction
    ),
    Metric("attempts_per_request", "Attempts per request, all sidecars", "", compute=_per_request("upstream_rq_total")),
    Metric("retries_per_request", "Retries per request, all sidecars", "", compute=_per_request("upstream_rq_retry")),
    Metric(
        "retries_refused_per_request",
        "Retries per request that a circuit breaker refused",
        "",
        compute=_per_request("upstream_rq_retry_overflow"),
    ),
    Metric(
        "requests_shed_per_request",
        "Requests per request that a breaker or a rate limit refused",
        "",
        compute=_per_request("upstream_rq_pending_overflow", "upstream_rq_active_overflow", "rate_limited"),
    ),
)
