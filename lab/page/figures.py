"""Rate, errors and latency of an arrow of the picture, from whatever measured it. Pure."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from lab.record import MS_NS

OK = 200


@dataclass(frozen=True)
class Figures:
    """What passes along an arrow now. None: not measured."""

    requests_per_s: float | None = None
    error_share: float | None = None
    p50_ms: float | None = None
    p99_ms: float | None = None

    def shown(self) -> dict[str, float | None]:
        """Return them as the page has them."""
        return {name: None if value is None else round(value, 4) for name, value in vars(self).items()}


@dataclass(frozen=True)
class Request:
    """One request that the load generator recorded."""

    start_ns: int
    end_ns: int
    status: int

    @property
    def latency_ms(self) -> float:
        """How long it took."""
        return (self.end_ns - self.start_ns) / MS_NS


@dataclass(frozen=True)
class Call:
    """One call from a service to another, as a trace has it."""

    duration_ms: float
    error: bool


@dataclass(frozen=True)
class Reading:
    """What an Envoy says of a cluster; `errors` is None where it does not see them.

    `p50_ms`, `p99_ms`: of the last seconds, None if nothing passed in them.
    """

    at_s: float
    requests: int
    errors: int | None
    p50_ms: float | None
    p99_ms: float | None


def requests_of(lines: Iterable[str]) -> list[Request]:
    """Return the requests in lines of `requests.csv`; its header and what is no request are left out."""
    found = []
    for line in lines:
        fields = line.split(",")
        if len(fields) == 7 and all(field.isdigit() for field in fields[3:6]):
            found.append(Request(*map(int, fields[3:6])))
    return found


def of_requests(requests: Sequence[Request], window_s: float) -> Figures:
    """Return the figures of all requests that ended in a window of that length."""
    if not requests:
        return Figures(requests_per_s=0.0)
    failed = sum(request.status != OK for request in requests)
    return Figures(
        len(requests) / window_s, failed / len(requests), *_quantiles([request.latency_ms for request in requests])
    )


def of_calls(calls: Sequence[Call], traces: int, requests_per_s: float | None) -> Figures:
    """Return the figures of the calls in so many traces. The rate is that of requests times the calls of each."""
    if not calls or requests_per_s == 0:
        # Where nothing passes, the traces of a minute ago say nothing about now.
        return Figures(requests_per_s if calls else None)
    per_request = len(calls) / traces
    return Figures(
        None if requests_per_s is None else per_request * requests_per_s,
        sum(call.error for call in calls) / len(calls),
        *_quantiles([call.duration_ms for call in calls]),
    )


def of_readings(before: Reading | None, now: Reading) -> Figures:
    """Return what an Envoy counted between two readings; without an earlier one, only its latency."""
    requests = now.requests - before.requests if before else -1
    if before is None or requests < 0 or now.at_s <= before.at_s:
        return Figures(None, None, now.p50_ms, now.p99_ms)
    errors = None if now.errors is None or before.errors is None else max(0, now.errors - before.errors)
    share = None if errors is None or not requests else errors / requests
    return Figures(requests / (now.at_s - before.at_s), share, now.p50_ms, now.p99_ms)


def reading(stats: str, prefix: str, statuses: bool, at_s: float) -> Reading:
    """Return what Envoy's answer to `/stats?format=json` says of a cluster. Raises `ValueError` for another answer.

    `statuses`: an error has a status of its own.
    """
    data = json.loads(stats)
    listed: Sequence[Mapping[str, Any]] = data.get("stats", ()) if isinstance(data, dict) else ()
    counters = {stat["name"]: stat["value"] for stat in listed if "value" in stat}
    histograms: Mapping[str, Any] = next((stat["histograms"] for stat in listed if "histograms" in stat), {})
    quantiles = histograms.get("supported_quantiles", ())
    computed = {one["name"]: one["values"] for one in histograms.get("computed_quantiles", ())}
    of_time = computed.get(f"{prefix}upstream_rq_time", ())
    by_quantile = {quantile: value.get("interval") for quantile, value in zip(quantiles, of_time, strict=False)}
    return Reading(
        at_s,
        counters.get(f"{prefix}upstream_rq_total", 0),
        counters.get(f"{prefix}upstream_rq_5xx", 0) if statuses else None,
        by_quantile.get(50.0),
        by_quantile.get(99.0),
    )


def _quantiles(values_ms: Sequence[float]) -> tuple[float, float]:
    p50, p99 = np.quantile(values_ms, (0.5, 0.99))
    return float(p50), float(p99)
