"""What systems that take turns use without load."""

from lab.analysis.metrics.window import increase, over, per_request
from lab.contract import Metric
from lab.record import TrialData

MS_NS = 1e6
IDLE, WITHOUT_IDLE = "cpu_idle_services_cores", "cpu_per_request_without_idle_services_ms"


def _idle_cores(data: TrialData) -> float | None:
    """Return the services' cores in the set's times without load; None where systems do not alternate."""
    idle = data.trial.idle
    if not idle:
        return None
    used_ns = sum(_used_ns(over(data, one.start_ns, one.end_ns)) for one in idle)
    return used_ns / sum(one.end_ns - one.start_ns for one in idle)


def _used_ns(data: TrialData) -> float:
    return increase(data, data.counters.containers, data.trial.names("service"), "cpu_usage_ns")


def _without_idle_ms(data: TrialData) -> float | None:
    """Subtract what the services would have used without any request."""
    cores, trial = _idle_cores(data), data.trial
    if cores is None:
        return None
    return per_request(data, (_used_ns(data) - cores * (trial.window_end_ns - trial.window_start_ns)) / MS_NS)


METRICS = (
    Metric(IDLE, "CPU without load, services", "cores", compute=_idle_cores),
    Metric(
        WITHOUT_IDLE,
        "CPU per request without idle CPU, services",
        "ms",
        compute=_without_idle_ms,
    ),
)
