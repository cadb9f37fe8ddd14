"""What a closed loop without pauses has filled: its connections, the proxy's CPUs, or all others. Pure."""

from collections.abc import Sequence

import numpy as np

from lab.analysis.metrics.window import cpu_cores
from lab.contract import Metric
from lab.record import Column, NotDerivableError, TrialData

ROLE = "proxy"
OTHERS = ("generator", "backend", "observer")


def connections_busy(data: TrialData) -> float | None:
    """Return how many connections of a closed loop waited for an answer, on average; None in an open loop."""
    if "users" not in data.trial.found:
        return None
    requests, start_ns, end_ns = data.requests, data.trial.window_start_ns, data.trial.window_end_ns
    inside_ns = np.minimum(requests.end_ns, end_ns) - np.maximum(requests.start_ns, start_ns)
    return float(np.maximum(inside_ns, 0).sum()) / (end_ns - start_ns)


def proxy_cpu_fraction(data: TrialData) -> float:
    """Return which share the proxy used of the CPUs that it could: one for each worker, and those that it has."""
    workers, cpus = int(data.trial.settings["workers"]), _known(data.trial.service_cpus)
    return cpu_cores(data, data.trial.names(ROLE)) / min(workers, cpus)


def other_cpus_fraction(data: TrialData) -> float:
    """Return which share was in use of the CPUs of generator, test server, receiver and observer.

    On a small machine they are the proxy's CPUs, too.
    """
    cpus = _known(data.trial.generator_cpus)
    shared = set(data.trial.service_cpus) == set(data.trial.generator_cpus)
    return cpu_cores(data, data.trial.names(*OTHERS, *([ROLE] if shared else []))) / cpus


def _known(cpus: Sequence[int]) -> int:
    if not cpus:
        raise NotDerivableError("the trial does not say which CPUs it had")
    return len(cpus)


METRICS = (
    Metric("connections_busy", "Connections that wait for an answer", "", compute=connections_busy),
    Metric("cpu_proxy_fraction", "CPU of the proxy, of what it could use", "fraction", compute=proxy_cpu_fraction),
    Metric(
        "cpu_others_fraction",
        "CPUs of generator, test server and receiver that were in use",
        "fraction",
        compute=other_cpus_fraction,
    ),
)

COLUMNS = (
    Column(metric="latency_p99_ms", heading="p99\nms"),
    Column(metric="requests_per_s", heading="req./s"),
    Column(metric="connections_busy", heading="conn.\nbusy"),
    Column(metric="cpu_proxy_fraction", heading="proxy's\nCPU %", per=0.01),
    Column(metric="cpu_others_fraction", heading="others'\nCPUs %", per=0.01),
    Column(metric="spans_accepted_fraction", heading="accepted\n%", per=0.01),
)
"""Of the main table of a closed loop: what was full."""
