"""What is measured: one registry of metrics, each computed from one trial's records over its window.

CPU per request is the increase of CPU time over the window divided by the requests that it served, those at its edges
by the share of their time inside; what a service does in the background counts as a request's cost too. Latencies
are of the requests that ended in the window.
The bytes that context propagation adds are the `difference` of `bytes_per_request_app` from the baseline, which
the summary holds.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from lab.records import Requests, TrialData
from lab.series import IntArray, NotDerivableError

MIB = 1 << 20
MS_NS = 1e6


@dataclass(frozen=True)
class Metric:
    """One measure: how it is called, which direction is better, and how a trial's value is computed.

    `compute` returns None where the level has nothing of the kind (no backend); it raises `NotDerivableError`
    or, for a counter that the kernel does not offer, `KeyError` where the records do not say.
    """

    name: str
    title: str
    unit: str
    compute: Callable[[TrialData], float | None]
    better: Literal["lower", "higher"] = "lower"


def values(data: TrialData) -> dict[str, float]:
    """Return every metric that the trial's records allow, by name."""
    found = {}
    for metric in METRICS.values():
        try:
            value = metric.compute(data)
        except (NotDerivableError, KeyError):
            continue
        if value is not None and np.isfinite(value):
            found[metric.name] = float(value)
    return found


def window_requests(data: TrialData) -> Requests:
    """Return the requests that ended in the trial's window."""
    return data.requests.ended_in(data.trial.window_start_ns, data.trial.window_end_ns)


def served(data: TrialData) -> float:
    """Return how many requests the window served, those at its edges by the share of their time inside."""
    return data.requests.served_in(data.trial.window_start_ns, data.trial.window_end_ns)


def increase(data: TrialData, names: Iterable[str], *fields: str) -> float:
    """Return by how much containers' counters grew in the window, in all."""
    trial = data.trial
    return sum(
        data.counters.containers[name][field].increase(trial.window_start_ns, trial.window_end_ns)
        for name in names
        for field in fields
    )


def cpu_cores(data: TrialData, names: Iterable[str]) -> float:
    """Return how many cores containers kept busy over the window, on average."""
    return increase(data, names, "cpu_usage_ns") / (data.trial.window_end_ns - data.trial.window_start_ns)


def _per_request(data: TrialData, amount: float) -> float:
    count = served(data)
    if count == 0:
        raise NotDerivableError("no request was served in the window")
    return amount / count


def _cpu_per_request_ms(*roles: str) -> Callable[[TrialData], float]:
    def compute(data: TrialData) -> float:
        names = [name for role in roles for name in data.trial.names(role)]
        return _per_request(data, increase(data, names, "cpu_usage_ns") / MS_NS)

    return compute


def _cores(role: str) -> Callable[[TrialData], float]:
    return lambda data: cpu_cores(data, data.trial.names(role))


def _memory_mean_mib(data: TrialData) -> float:
    trial, containers = data.trial, data.counters.containers
    means = []
    for name in trial.names("service"):
        series = containers[name]["memory_working_set_bytes"]
        means.append(series.within(trial.window_start_ns, trial.window_end_ns).values.mean())
    return float(sum(means)) / MIB


def _memory_peak_mib(data: TrialData) -> float:
    """Add up each service's largest sample since its start: what the containers would have to be given."""
    peaks = []
    for name in data.trial.names("service"):
        series = data.counters.containers[name]["memory_working_set_bytes"]
        peaks.append(series.within(0, data.trial.window_end_ns).values.max())
    return float(sum(peaks)) / MIB


def _latencies_ms(data: TrialData, since: Literal["start_ns", "intended_ns"]) -> IntArray:
    requests = window_requests(data)
    if len(requests) == 0:
        raise NotDerivableError("no request ended in the window")
    since_ns: IntArray = getattr(requests, since)
    return requests.end_ns - since_ns


def _latency_mean_ms(data: TrialData) -> float:
    return float(_latencies_ms(data, "start_ns").mean()) / MS_NS


def _latency_percentile_ms(
    percentile: float, since: Literal["start_ns", "intended_ns"] = "start_ns"
) -> Callable[[TrialData], float]:
    return lambda data: float(np.percentile(_latencies_ms(data, since), percentile)) / MS_NS


def _bytes_per_request(network: str, counter: str) -> Callable[[TrialData], float]:
    """Count what the services' interfaces on one network saw; 0 where no service is on it."""

    def compute(data: TrialData) -> float:
        trial = data.trial
        services = set(trial.names("service"))
        total = sum(
            interface.counters[counter].increase(trial.window_start_ns, trial.window_end_ns)
            for interface in data.counters.interfaces
            if interface.network == network and interface.container in services
        )
        return _per_request(data, total)

    return compute


def _requests_per_s(data: TrialData) -> float:
    return served(data) / data.trial.window_s


def _startup_s(data: TrialData) -> float:
    return max(data.trial.startup_s.values())


def _context_switches_per_request(data: TrialData) -> float:
    fields = ("context_switches_voluntary", "context_switches_involuntary")
    return _per_request(data, increase(data, data.trial.names("service"), *fields))


def _spans_accepted_per_request(data: TrialData) -> float | None:
    """Count over the whole load: a span reaches the backend seconds after its request's window.

    Requests that were still under way at the load's end made spans too, so the value may be above the predicted.
    """
    backend = data.trial.backend
    if backend is None or backend.accepted_spans is None or len(data.requests) == 0:
        return None
    return backend.accepted_spans / len(data.requests)


_ALL = (
    Metric("cpu_per_request_services_ms", "CPU per request, services", "ms", _cpu_per_request_ms("service")),
    Metric("cpu_per_request_backends_ms", "CPU per request, backends", "ms", _cpu_per_request_ms("backend")),
    Metric(
        "cpu_per_request_total_ms",
        "CPU per request, services and backends",
        "ms",
        _cpu_per_request_ms("service", "backend"),
    ),
    Metric("cpu_services_cores", "CPU, services", "cores", _cores("service")),
    Metric("cpu_generator_cores", "CPU, load generator", "cores", _cores("generator")),
    Metric("cpu_observer_cores", "CPU, observer", "cores", _cores("observer")),
    Metric("memory_services_mean_mib", "Memory, services, mean", "MiB", _memory_mean_mib),
    Metric("memory_services_peak_mib", "Memory, services, peak", "MiB", _memory_peak_mib),
    Metric("latency_mean_ms", "Latency, mean", "ms", _latency_mean_ms),
    Metric("latency_p50_ms", "Latency, median", "ms", _latency_percentile_ms(50)),
    Metric("latency_p95_ms", "Latency, 95th percentile", "ms", _latency_percentile_ms(95)),
    Metric("latency_p99_ms", "Latency, 99th percentile", "ms", _latency_percentile_ms(99)),
    Metric(
        "latency_intended_p95_ms",
        "Latency since the intended start, 95th percentile",
        "ms",
        _latency_percentile_ms(95, "intended_ns"),
    ),
    Metric("requests_per_s", "Requests", "1/s", _requests_per_s, better="higher"),
    Metric("bytes_per_request_app", "Bytes per request, application", "B", _bytes_per_request("app", "rx_bytes")),
    Metric(
        "bytes_per_request_telemetry",
        "Bytes per request, telemetry",
        "B",
        _bytes_per_request("telemetry", "tx_bytes"),
    ),
    Metric("context_switches_per_request", "Context switches per request", "", _context_switches_per_request),
    Metric("startup_s", "Start-up, slowest service", "s", _startup_s),
    Metric(
        "spans_accepted_per_request",
        "Spans accepted per request",
        "",
        _spans_accepted_per_request,
        better="higher",
    ),
)
METRICS = {metric.name: metric for metric in _ALL}
