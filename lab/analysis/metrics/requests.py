"""What became of requests: latency and throughput, errors, and what faults did to them.

Latencies are of the requests that ended in the window and were answered without an error. What faults did
(lab/analysis/stats/recovery.py) is taken by the requests' intended start: in an open loop that is when their users
wanted them.
"""

from collections.abc import Callable, Iterator
from typing import Literal

import numpy as np

from lab.analysis.metrics.window import load_requests, served, window_requests
from lab.analysis.stats.recovery import Recovery, outcomes, recovery
from lab.contract import Metric
from lab.record import MS_NS, SECOND_NS, IntArray, NotDerivableError, TrialData

WINDOW_NS, HOLD_NS = SECOND_NS, 3 * SECOND_NS
OK = 200
FAILED = ("requests_failed", "requests")
"""What counts the requests that failed, and all."""


def _latencies_ns(data: TrialData, since: Literal["start_ns", "intended_ns"] = "start_ns") -> IntArray:
    requests = window_requests(data)
    answered = requests.status == OK
    if not answered.any():
        raise NotDerivableError("no request was answered in the window")
    return np.asarray((requests.end_ns - getattr(requests, since))[answered])


def percentile_ms(
    percentile: float, since: Literal["start_ns", "intended_ns"] = "start_ns"
) -> Callable[[TrialData], float]:
    """Measure a percentile of the latencies of answered requests, since their actual or their intended start."""
    return lambda data: float(np.percentile(_latencies_ns(data, since), percentile)) / MS_NS


def _error_fraction(data: TrialData) -> float:
    requests = window_requests(data)
    if len(requests) == 0:
        raise NotDerivableError("no request ended in the window")
    return float((requests.status != OK).mean())


def _recoveries(data: TrialData) -> Iterator[Recovery]:
    """Yield what became of the requests at each of the trial's faults.

    Raises `NotDerivableError` where too little of the trial's load lies before one.
    """
    sent = load_requests(data)
    requests = outcomes(sent.intended_ns, sent.end_ns, sent.status)
    for injection in data.injections:
        if injection.injected is None or injection.lifted is None:
            continue
        try:
            yield recovery(requests, injection.injected.begin_ns, injection.lifted.end_ns, WINDOW_NS, HOLD_NS)
        except ValueError as error:
            raise NotDerivableError(str(error)) from None


def _mean(of: Callable[[Recovery], float | None]) -> Callable[[TrialData], float | None]:
    """Measure the mean over a trial's faults of what is known; None without any."""

    def compute(data: TrialData) -> float | None:
        known = [value for one in _recoveries(data) if (value := of(one)) is not None]
        return sum(known) / len(known) if known else None

    return compute


METRICS = (
    Metric("latency_fastest_ms", "Latency, fastest", "ms", compute=percentile_ms(0)),
    Metric("latency_slowest_ms", "Latency, slowest", "ms", compute=percentile_ms(100)),
    Metric(
        "latency_mean_ms",
        "Latency, mean",
        "ms",
        compute=lambda data: float(_latencies_ns(data).mean()) / MS_NS,
        adjusted_as="time",
    ),
    Metric("latency_p50_ms", "Latency, median", "ms", compute=percentile_ms(50), adjusted_as="time"),
    Metric("latency_p95_ms", "Latency, 95th percentile", "ms", compute=percentile_ms(95), adjusted_as="time"),
    Metric("latency_p99_ms", "Latency, 99th percentile", "ms", compute=percentile_ms(99)),
    Metric("latency_p999_ms", "Latency, 99.9th percentile", "ms", compute=percentile_ms(99.9)),
    Metric(
        "latency_intended_p95_ms",
        "Latency since the intended start, 95th percentile",
        "ms",
        compute=percentile_ms(95, "intended_ns"),
    ),
    Metric("requests_per_s", "Requests", "1/s", "higher", compute=lambda data: served(data) / data.trial.window_s),
    Metric(
        "requests", "Requests that ended in the window", "", "higher", compute=lambda data: len(window_requests(data))
    ),
    Metric(
        "requests_failed",
        "Requests that failed, counted",
        "",
        compute=lambda data: (window_requests(data).status != OK).sum(),
    ),
    Metric(
        "error_fraction",
        "Requests that failed",
        "fraction",
        share_of=FAILED,
        compute=_error_fraction,
    ),
    Metric(
        "expected_error_fraction",
        "Requests that drawn errors alone fail",
        "fraction",
        compute=lambda data: data.trial.expected_error_fraction or None,
    ),
    Metric(
        "recovery_s",
        "Time to recover after a fault, where that was seen",
        "s",
        compute=_mean(lambda one: None if one.after_ns is None else one.after_ns / SECOND_NS),
    ),
    Metric(
        "recovered_fraction",
        "Faults after which requests were seen to be served as before",
        "fraction",
        "higher",
        compute=_mean(lambda one: float(one.after_ns is not None)),
    ),
    Metric(
        "requests_lost",
        "Requests lost to a fault: failed beyond the usual",
        "",
        compute=_mean(lambda one: one.lost),
    ),
    Metric(
        "requests_unasked",
        "Requests not sent because users waited during a fault",
        "",
        compute=_mean(lambda one: one.unasked),
    ),
)
