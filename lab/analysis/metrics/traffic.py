"""Bytes per request by plane, which is a network, from what the containers' interfaces counted.

The bytes that context propagation adds are the `difference` of `bytes_per_request_app` from the baseline, which
the summary holds. Export is what the services send on the telemetry network; what a backend receives there is that
and, with a Collector among the backends, what they pass on among themselves.
"""

from collections.abc import Callable

from lab.analysis.metrics.window import grown, per_request
from lab.contract import Metric
from lab.record import TrialData


def _bytes_per_request(role: str, network: str, counter: str) -> Callable[[TrialData], float]:
    """Count what a role's interfaces on one network saw; 0 where there is none."""

    def compute(data: TrialData) -> float:
        containers = set(data.trial.names(role))
        counted = (
            grown(data, interface.container, interface.counters[counter])
            for interface in data.counters.interfaces
            if interface.network == network and interface.container in containers
        )
        return per_request(data, sum(counted))

    return compute


METRICS = (
    Metric(
        "bytes_per_request_app",
        "Bytes per request, application",
        "B",
        compute=_bytes_per_request("service", "app", "rx_bytes"),
    ),
    Metric(
        "bytes_sent_per_request_app",
        "Bytes per request, application, sent by services",
        "B",
        compute=_bytes_per_request("service", "app", "tx_bytes"),
    ),
    Metric(
        "bytes_per_request_telemetry",
        "Bytes per request, telemetry",
        "B",
        compute=_bytes_per_request("service", "telemetry", "tx_bytes"),
    ),
    Metric(
        "bytes_received_per_request_telemetry",
        "Bytes per request, telemetry, received by services",
        "B",
        compute=_bytes_per_request("service", "telemetry", "rx_bytes"),
    ),
    Metric(
        "bytes_received_per_request_backends",
        "Bytes per request, received by backends",
        "B",
        compute=_bytes_per_request("backend", "telemetry", "rx_bytes"),
    ),
    Metric(
        "bytes_sent_per_request_backends",
        "Bytes per request, sent by backends",
        "B",
        compute=_bytes_per_request("backend", "telemetry", "tx_bytes"),
    ),
)
