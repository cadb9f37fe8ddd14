"""Latency and throughput. Latencies are of the requests that ended in the window and were answered without an error."""

from collections.abc import Callable
from typing import Literal

import numpy as np

from lab.analysis.metrics.window import served, window_requests
from lab.contract import Metric
from lab.record import IntArray, NotDerivableError, TrialData

MS_NS = 1e6
OK = 200


def _latencies_ns(data: TrialData, since: Literal["start_ns", "intended_ns"]) -> IntArray:
    requests = window_requests(data)
    answered = requests.status == OK
    if not answered.any():
        raise NotDerivableError("no request was answered in the window")
    since_ns: IntArray = getattr(requests, since)
    latencies_ns: IntArray = (requests.end_ns - since_ns)[answered]
    return latencies_ns


def _mean_ms(data: TrialData) -> float:
    return float(_latencies_ns(data, "start_ns").mean()) / MS_NS


def _percentile_ms(
    percentile: float, since: Literal["start_ns", "intended_ns"] = "start_ns"
) -> Callable[[TrialData], float]:
    return lambda data: float(np.percentile(_latencies_ns(data, since), percentile)) / MS_NS


def _requests_per_s(data: TrialData) -> float:
    return served(data) / data.trial.window_s


METRICS = (
    Metric("latency_fastest_ms", "Latency, fastest", "ms", compute=_percentile_ms(0)),
    Metric("latency_slowest_ms", "Latency, slowest", "ms", compute=_percentile_ms(100)),
    Metric("latency_mean_ms", "Latency, mean", "ms", compute=_mean_ms),
    Metric("latency_p50_ms", "Latency, median", "ms", compute=_percentile_ms(50)),
    Metric("latency_p95_ms", "Latency, 95th percentile", "ms", compute=_percentile_ms(95)),
    Metric("latency_p99_ms", "Latency, 99th percentile", "ms", compute=_percentile_ms(99)),
    Metric(
        "latency_intended_p95_ms",
        "Latency since the intended start, 95th percentile",
        "ms",
        compute=_percentile_ms(95, "intended_ns"),
    ),
    Metric("requests_per_s", "Requests", "1/s", "higher", compute=_requests_per_s),
)
