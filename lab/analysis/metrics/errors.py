"""Errors: how many requests failed, and how many the drawn errors alone would fail."""

from lab.analysis.metrics.latency import OK
from lab.analysis.metrics.window import window_requests
from lab.contract import Metric
from lab.record import NotDerivableError, TrialData

FAILED = ("requests_failed", "requests")
"""What counts the requests that failed, and all."""


def _error_fraction(data: TrialData) -> float:
    requests = window_requests(data)
    if len(requests) == 0:
        raise NotDerivableError("no request ended in the window")
    return float((requests.status != OK).mean())


def _expected_error_fraction(data: TrialData) -> float | None:
    """Return what the drawn errors alone make fail; None where none are drawn."""
    return data.trial.expected_error_fraction or None


def _failed(data: TrialData) -> float:
    return float((window_requests(data).status != OK).sum())


METRICS = (
    Metric(
        "requests", "Requests that ended in the window", "", "higher", compute=lambda data: len(window_requests(data))
    ),
    Metric("requests_failed", "Requests that failed, counted", "", compute=_failed),
    Metric(
        "error_fraction",
        "Requests that failed",
        "fraction",
        share_of=FAILED,
        compute=_error_fraction,
    ),
    Metric(
        "expected_error_fraction", "Requests that drawn errors alone fail", "fraction", compute=_expected_error_fraction
    ),
)
