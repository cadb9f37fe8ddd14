"""A running Envoy: its administration page, and which of its counters the lab keeps, under Envoy's own names."""

import http.client
import json
import re
from collections.abc import Mapping

from lab.record import RETRIES
from lab.target.guarded import CHANGES, numbers, runtime_path

TIMEOUT_S = 10.0
# After `cluster.inbound.` or `cluster.outbound-<peer>.`
OF_CLUSTER = (
    *RETRIES,
    "upstream_rq_total",
    "upstream_rq_completed",
    "upstream_rq_2xx",
    "upstream_rq_4xx",
    "upstream_rq_5xx",
    "upstream_rq_retry_limit_exceeded",
    "upstream_rq_retry_backoff_exponential",
    "upstream_rq_timeout",
    "upstream_rq_per_try_timeout",
    "upstream_rq_pending_overflow",
    "upstream_rq_active_overflow",
    "upstream_rq_pending_failure_eject",
    "upstream_rq_rx_reset",
    "upstream_rq_tx_reset",
    "upstream_cx_total",
    "upstream_cx_overflow",
    "upstream_cx_connect_fail",
    "upstream_cx_connect_timeout",
    "upstream_cx_none_healthy",
    "outlier_detection.ejections_detected_consecutive_5xx",
    "outlier_detection.ejections_enforced_total",
    "outlier_detection.ejections_overflow",
)
# After `http.inbound.` or `http.outbound.`
OF_LISTENER = (
    "downstream_rq_total",
    "downstream_rq_completed",
    "downstream_rq_2xx",
    "downstream_rq_4xx",
    "downstream_rq_5xx",
    "downstream_cx_total",
    "fault.aborts_injected",
    "fault.delays_injected",
)
# After `inbound.http_local_rate_limit.`
OF_RATE_LIMIT = ("enabled", "ok", "enforced", "rate_limited")


def _any(names: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(map(re.escape, names))})"


KEPT = re.compile(
    rf"cluster\.(?:inbound|outbound-[a-z0-9-]+)\.{_any(OF_CLUSTER)}"
    rf"|http\.(?:inbound|outbound)\.{_any(OF_LISTENER)}"
    rf"|inbound\.http_local_rate_limit\.{_any(OF_RATE_LIMIT)}"
)


class Admin:
    """The Envoy whose administration page is at `port` on 127.0.0.1.

    Methods raise `OSError` without an answer, or for an error status.
    """

    def __init__(self, port: int) -> None:
        self.port = port

    def ready(self) -> bool:
        """Whether it accepts requests, and knows the address of every peer."""
        try:
            hosts = numbers(self._request("GET", "/stats?format=json&type=Gauges&filter=membership_healthy$"))
            return self._request("GET", "/ready").startswith("LIVE") and all(hosts.values())
        except OSError:
            return False

    def counters(self) -> dict[str, int]:
        """What it counted since it started, by Envoy's names; a counter that is not there has counted nothing."""
        return kept(numbers(self._request("GET", "/stats?format=json&type=Counters")))

    def version(self) -> str:
        """Its version, such as `1.40.0`."""
        version: str = json.loads(self._request("GET", "/server_info"))["version"].split("/")[1]
        return version

    def runtime(self) -> dict[str, str]:
        """The runtime values that hold now."""
        return {
            key: entry["final_value"] for key, entry in json.loads(self._request("GET", "/runtime"))["entries"].items()
        }

    def set_runtime(self, values: Mapping[str, int | str]) -> None:
        """Sets runtime values for all further requests; "" removes one."""
        self._request("POST", runtime_path(values))

    def _request(self, method: str, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, path, headers=CHANGES)
            answer = connection.getresponse()
            text = answer.read().decode()
        except http.client.HTTPException as error:
            raise OSError(f"{method} {path} at Envoy's port {self.port}: {error!r}") from None
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise OSError(f"{method} {path} at Envoy's port {self.port}: answered with {answer.status}: {text.strip()}")
        return text


def kept(numbers: dict[str, int]) -> dict[str, int]:
    """Those of Envoy's counters that the lab keeps.

    Some are begun by what they count (`retry.*`, codes), others by a pattern: what is not there has counted nothing.
    """
    return {name: value for name, value in numbers.items() if KEPT.fullmatch(name)}
