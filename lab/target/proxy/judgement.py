"""How a proxy's trials are judged: its checks and metrics. Pure."""

from collections.abc import Callable, Iterator, Mapping
from typing import Literal

import numpy as np

from lab.analysis import checks
from lab.analysis.metrics import requests, resources, speed
from lab.analysis.metrics.window import cpu_cores, grown, increase, per_request, window_requests
from lab.contract import Judgement, Metric
from lab.fault.verified import unverified
from lab.record import MS_NS, US_NS, NotDerivableError, TrialData
from lab.target.proxy import changed, saturated, sick
from lab.target.proxy.counted import REQUIRED
from lab.target.proxy.settings import NO_TRACER

ROLE = "proxy"
# Requests that the generator gave up may have reached the server.
SERVED_FRACTION = 0.01
INSTRUMENTS = {"cpu_generator_cores", "cpu_observer_cores"}
OF_REQUESTS = {
    "latency_mean_ms",
    "latency_p50_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "latency_intended_p95_ms",
    "requests_per_s",
    "requests",
    "requests_failed",
    "error_fraction",
}
# Published, beside those above.
MORE_PERCENTILES = (75, 80, 90, 99.9)
SINCE_INTENDED = (50, 75, 80, 90, 99, 99.9)
Since = Literal["start_ns", "intended_ns"]


def counted(data: TrialData) -> Iterator[str]:
    """Reject trials without the tracer's counters, or without those of the receiver."""
    values = data.results.values if data.has("results") else {}
    wanted = ["requests_proxied", "requests_at_server"]
    if data.trial.settings.get("tracer", NO_TRACER) != NO_TRACER:
        wanted += [*REQUIRED, "exports", "spans_accepted"]
    if missing := [name for name in wanted if name not in values]:
        yield f"not counted: {', '.join(missing)}"


def all_served(data: TrialData) -> Iterator[str]:
    """Reject trials whose test server answered other than the proxy's requests."""
    proxied, served = (data.results.values[name] for name in ("requests_proxied", "requests_at_server"))
    if abs(served - proxied) > SERVED_FRACTION * proxied:
        yield (
            f"the proxy counted {proxied:.0f} requests, the test server answered {served:.0f} "
            f"(limit ±{SERVED_FRACTION:.0%})"
        )


def faults_verified(data: TrialData) -> Iterator[str]:
    """Reject trials whose receiver was not seen to be as sick as declared."""
    yield from unverified(data, data.injections, sick.parse)


def start_delay_p99_ms(data: TrialData) -> float:
    """Return how late the generator began its requests: the 99th percentile of those that ended in the window."""
    requests = window_requests(data)
    if len(requests) == 0:
        raise NotDerivableError("no request ended in the window")
    return float(np.percentile(requests.start_ns - requests.intended_ns, 99)) / MS_NS


def cpu_per_request_us(data: TrialData) -> float:
    """Return the proxy's CPU time in the window by the requests that it served, in microseconds."""
    return per_request(data, increase(data, data.counters.containers, data.trial.names(ROLE), "cpu_usage_ns") / US_NS)


def bytes_per_span(data: TrialData) -> float | None:
    """Return the bytes that the proxy sent on the telemetry network, by span, with all headers.

    The window's spans follow from its requests and from the share of all requests that were traced. That share is
    another one in the warm-up where the client decides in the window: None.
    """
    values = data.results.values
    if not values.get("spans_sent") or data.trial.settings.get("traceparent_sampled") is not None:
        return None
    sent = sum(
        grown(data, interface.container, interface.counters["tx_bytes"])
        for interface in data.counters.interfaces
        if interface.network == "telemetry" and interface.container in data.trial.names(ROLE)
    )
    return per_request(data, sent) * values["requests_proxied"] / values["spans_sent"]


def throttled_fraction(data: TrialData) -> float:
    """Return for how much of the window the CPU limit stopped the receiver: the kernel adds up its time on each CPU."""
    name = str(data.trial.settings["receiver"])
    return increase(data, data.counters.containers, [name], "cpu_throttled_ns") / (1e9 * data.trial.window_s)


def accepted_fraction(data: TrialData) -> float | None:
    """Return the share of the spans that Envoy made that the receiver accepted; None without any."""
    values = data.results.values
    made = values["spans_sent"] + values["spans_dropped"]
    return values["spans_accepted"] / made if made else None


def spans_lost(data: TrialData) -> float:
    """Return the residual: spans that Envoy counted as sent and that the receiver neither accepted nor rejected.

    Envoy counts a span as sent before its export. Below 0 where an export was repeated.
    """
    values = data.results.values
    return values["spans_sent"] - values["spans_accepted"] - values["spans_refused"]


def _spans_per_export(data: TrialData) -> float | None:
    values = data.results.values
    return values["spans_sent"] / values["exports"] if values["exports"] else None


def _value(name: str) -> Callable[[TrialData], float]:
    return lambda data: data.results.values[name]


def _percentile(percentile: float, since: Since) -> Metric:
    """Return the metric of a percentile of answered requests' latencies, e.g. `latency_intended_p999_ms`."""
    label = f"{percentile:g}".replace(".", "")
    start = "intended_" if since == "intended_ns" else ""
    title = "Latency since the intended start" if start else "Latency"

    return Metric(
        f"latency_{start}p{label}_ms",
        f"{title}, {percentile:g}th percentile",
        "ms",
        compute=requests.percentile_ms(percentile, since),
    )


COUNTED = {
    "spans_sent": "Spans that Envoy sent",
    "spans_dropped": "Spans that Envoy dropped",
    "spans_accepted": "Spans that the receiver accepted",
    "spans_refused": "Spans that the receiver rejected",
    "timer_flushes": "Exports that the timer began, on all threads",
    "exports": "Exports, with repeated ones",
    "exports_repeated": "Exports that were sent again",
    "exports_not_connected": "Exports that got no connection",
    "exports_without_host": "Exports for which there was no receiver",
    "exports_timed_out": "Exports that timed out",
    "exports_overflowed": "Exports that the circuit breaker rejected",
    "exports_reset": "Exports that the receiver reset",
    "exports_canceled": "Exports that Envoy canceled",
    "exports_failed_5xx": "Exports that ended with 5xx, also those that Envoy itself rejected",
    "export_connections_failed": "Connections to the receiver that failed",
}

METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("cpu_per_request_us", "CPU per request, proxy", "µs", compute=cpu_per_request_us, adjusted_as="time"),
        Metric("memory_proxy_mean_mib", "Memory, proxy, mean", "MiB", compute=resources.memory_mean_mib(ROLE)),
        *(metric for metric in requests.METRICS if metric.name in OF_REQUESTS),
        *(_percentile(percentile, "start_ns") for percentile in MORE_PERCENTILES),
        *(_percentile(percentile, "intended_ns") for percentile in SINCE_INTENDED),
        Metric(
            "spans_accepted_fraction",
            "Spans that the receiver accepted",
            "fraction",
            "higher",
            compute=accepted_fraction,
        ),
        Metric("spans_lost", "Spans sent that are unaccounted for (residual)", "", compute=spans_lost),
        Metric("spans_per_export", "Spans per export", "", "higher", compute=_spans_per_export),
        Metric("bytes_per_span", "Bytes per span, on the network", "B", compute=bytes_per_span),
        Metric("attributes_per_span", "Attributes per span", "", compute=_value("attributes_per_span")),
        Metric(
            "receiver_throttled_fraction",
            "Receiver stopped by its CPU limit, added up over CPUs",
            "fraction",
            compute=throttled_fraction,
        ),
        Metric("start_delay_p99_ms", "Start after the intended one, 99th percentile", "ms", compute=start_delay_p99_ms),
        Metric("cpu_proxy_cores", "CPU, proxy", "cores", compute=resources.cores(ROLE)),
        Metric("cpu_server_cores", "CPU, test server", "cores", compute=lambda data: cpu_cores(data, ["testserver"])),
        Metric(
            "cpu_receiver_cores",
            "CPU, receiver of spans",
            "cores",
            compute=lambda data: cpu_cores(data, [str(data.trial.settings["receiver"])]),
        ),
        *(Metric(name, title, "", compute=_value(name)) for name, title in COUNTED.items()),
        *changed.METRICS,
        *saturated.METRICS,
        *(metric for metric in resources.METRICS if metric.name in INSTRUMENTS),
        *speed.METRICS,
    )
}


JUDGEMENT = Judgement(
    checks=(
        (checks.requests_present, changed.was_made),
        (
            checks.records_complete,
            checks.containers_present,
            checks.observed_throughout,
            checks.load_held,
            checks.answers_right,
            counted,
        ),
        (all_served, faults_verified, checks.generator_had_cpu, checks.host_left_alone),
    ),
    metrics=METRICS,
)
