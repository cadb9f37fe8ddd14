"""Nighthawk, which the thesis on Envoy's tracer used: its flags for the published runs, and what its JSON says. Pure.

Not exercised: its image exists only outside of what the lab can build. The JSON is read as its messages are defined
(`nighthawk.client.Output`, version of 2024), and the tests' sample is made from that definition.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# All published runs: 12 workers of 4 connections, for 60 s. A rate is that of each worker.
COMMON = ("--concurrency", "12", "--connections", "4", "--duration", "60", "--output-format", "json")
PUBLISHED: Mapping[str, tuple[str, ...]] = {
    "overhead": ("--open-loop", "--rps", "100"),
    "batching": ("--rps", "1000"),
    "exporter-design": ("--rps", "100"),
    "exporter-design-saturated": ("--rps", "1000"),
    "zipkin": ("--rps", "100"),
}
LATENCY = "benchmark_http_client.request_to_response"
OF_ALL_WORKERS = "global"


@dataclass(frozen=True)
class Percentile:
    """The latency that a share of the requests, from 0 to 1, did not exceed."""

    fraction: float
    latency_ms: float


@dataclass(frozen=True)
class Output:
    """What all workers measured together. `percentiles` are in order of fraction."""

    requests: int
    requests_per_s: float
    mean_ms: float
    sd_ms: float
    percentiles: Sequence[Percentile]

    def percentile_ms(self, percent: float) -> float:
        """Return the first latency that at least `percent` of the requests did not exceed.

        Nighthawk prints the steps of its histogram, which seldom are a whole percent.
        """
        return next(one.latency_ms for one in self.percentiles if 100 * one.fraction >= percent)


def command(run: str, url: str) -> list[str]:
    """Return the command line of a published run. Raises `KeyError` for another one."""
    return ["nighthawk_client", *COMMON, *PUBLISHED[run], url]


def read(text: str) -> Output:
    """Read what Nighthawk printed. Raises `ValueError` where that is not its JSON, or lacks a part."""
    try:
        (found,) = (one for one in json.loads(text)["results"] if one["name"] == OF_ALL_WORKERS)
        (latency,) = (one for one in found["statistics"] if one["id"] == LATENCY)
        (sent,) = (int(one["value"]) for one in found["counters"] if one["name"] == "upstream_rq_total")
        return _output(found, latency, sent)
    except (KeyError, TypeError) as error:
        raise ValueError(f"not Nighthawk's JSON: {error!r}") from None


def _output(found: Mapping[str, Any], latency: Mapping[str, Any], sent: int) -> Output:
    return Output(
        requests=int(latency["count"]),
        requests_per_s=1000 * sent / _ms(found["execution_duration"]),
        mean_ms=_ms(latency["mean"]),
        sd_ms=_ms(latency["pstdev"]),
        percentiles=[Percentile(float(one["percentile"]), _ms(one["duration"])) for one in latency["percentiles"]],
    )


def _ms(duration: str) -> float:
    """Return a duration of protobuf's JSON, such as `0.000480s`, in milliseconds."""
    return 1000 * float(duration.removesuffix("s"))
