"""What sidecars did, by Envoy's own counters, and what a request costs each of them."""

from collections.abc import Callable

from lab.analysis.metrics.window import increase, load_requests, mean, served
from lab.contract import Metric
from lab.record import MIB, US_NS, NotDerivableError, TrialData

# Of the listener in front of the service, and of the one on its way out.
PROXIED = ("http.inbound.downstream_rq_total", "http.outbound.downstream_rq_total")


def _per_request(*counters: str) -> Callable[[TrialData], float | None]:
    """Add up counters that end so, of all proxies of all sidecars, for each request; None without sidecars."""

    def compute(data: TrialData) -> float | None:
        # Counters are those of the load.
        requests = len(load_requests(data))
        if not data.trial.sidecars or requests == 0:
            return None
        counted = (counter for sidecar in data.trial.sidecars.values() for counter in sidecar.counters.items())
        # cluster.inbound.upstream_rq_retry, but not cluster.inbound.retry.upstream_rq_retry.
        return sum(value for name, value in counted if name.split(".", 2)[-1] in counters) / requests

    return compute


def _cpu_per_proxied_request_us(data: TrialData) -> float | None:
    """Divide the sidecars' CPU time by the requests that passed them, each counted at every sidecar on its way.

    Sidecars count the whole load: of that, the window has the share of its requests.
    """
    names = data.trial.names("sidecar")
    if not names:
        return None
    passed = sum(one.counters.get(name, 0) for one in data.trial.sidecars.values() for name in PROXIED)
    if passed == 0 or served(data) == 0:
        raise NotDerivableError("no request passed a sidecar")
    share = served(data) / len(load_requests(data))
    return increase(data, data.counters.containers, names, "cpu_usage_ns") / US_NS / (passed * share)


def _memory_per_sidecar_mib(data: TrialData) -> float | None:
    names = data.trial.names("sidecar")
    memory = mean(data, data.counters.containers, names, "memory_working_set_bytes")
    return memory / MIB / len(names) if names else None


METRICS = (
    Metric(
        "cpu_per_proxied_request_us",
        "CPU of a sidecar, per request that passes it",
        "µs",
        compute=_cpu_per_proxied_request_us,
    ),
    Metric("memory_per_sidecar_mib", "Memory of a sidecar", "MiB", compute=_memory_per_sidecar_mib),
    Metric("attempts_per_request", "Attempts per request, all sidecars", "", compute=_per_request("upstream_rq_total")),
    Metric("retries_per_request", "Retries per request, all sidecars", "", compute=_per_request("upstream_rq_retry")),
    Metric(
        "retries_refused_per_request",
        "Retries per request that a circuit breaker rejected",
        "",
        compute=_per_request("upstream_rq_retry_overflow"),
    ),
    Metric(
        "retries_used_up_per_request",
        "Requests per request that failed at every attempt allowed",
        "",
        compute=_per_request("upstream_rq_retry_limit_exceeded"),
    ),
    Metric(
        "requests_shed_per_request",
        "Requests per request that a circuit breaker or a rate limit rejected",
        "",
        compute=_per_request("upstream_rq_pending_overflow", "upstream_rq_active_overflow", "rate_limited"),
    ),
)
