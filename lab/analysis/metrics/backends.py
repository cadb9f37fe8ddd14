"""Memory of telemetry backends that hold as much as they keep."""

from lab.analysis.metrics.window import mean
from lab.contract import Metric
from lab.record import MIB, TrialData

KEPT_TRACES = 50
"""What Jaeger's and Zipkin's memory keep of a mesh (backends/README.md)."""


def _memory_filled_mib(data: TrialData) -> float | None:
    """Return the backends' mean RSS; None before they had stored as many traces as they keep.

    The memory of a backend that still fills says how long it has run. One that accepts no spans keeps no traces.
    """
    names, backend = data.trial.names("backend"), data.trial.backend
    if not names or backend is None:
        return None
    if backend.accepted_spans is not None:
        requests, before = data.requests, data.requests.ended_in(0, data.trial.window_start_ns)
        stored = backend.accepted_spans * len(before) / max(1, len(requests))
        if data.trace is None or stored < KEPT_TRACES * len(data.trace["spans"]):
            return None
    return mean(data, data.counters.containers, names, "memory_rss_bytes") / MIB


METRICS = (
    Metric("memory_backends_filled_mib", "Memory (RSS), filled backends, mean", "MiB", compute=_memory_filled_mib),
)
