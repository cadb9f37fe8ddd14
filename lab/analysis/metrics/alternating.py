"""What systems that run at once use of the machine, and those that take turns without load."""

from lab.analysis.metrics.window import increase, over, per_request
from lab.contract import Metric
from lab.record import MS_NS, TrialData

IDLE, WITHOUT_IDLE = "cpu_idle_services_cores", "cpu_per_request_without_idle_services_ms"
BUSY = "machine_busy_fraction"


def machine_busy(data: TrialData) -> float | None:
    """Return the share of the host's CPUs that all systems used; None where only one ran at a time.

    Of systems that alternate it is the share while there is load: the window has times without.
    """
    cores = max(data.trial.alternating_cores, data.trial.cores_at_once)
    return cores / int(data.counters.host["cpus"].values[-1]) if cores else None


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
    Metric(BUSY, "CPU of all the lab's containers, as a share of the machine's", "fraction", compute=machine_busy),
)
