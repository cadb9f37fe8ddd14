"""CPU and memory of containers, by role, and start-up.

CPU per request is the increase of CPU time over the window divided by the requests that it served, those at its edges
by the share of their time inside; what a service does in the background counts as a request's cost too.
"""

from collections.abc import Callable

from lab.analysis.metrics.window import cpu_cores, increase, mean, per_request
from lab.contract import Metric
from lab.record import MIB, MS_NS, NotDerivableError, TrialData


def _cpu_per_request_ms(*roles: str) -> Callable[[TrialData], float]:
    return lambda data: per_request(
        data, increase(data, data.counters.containers, data.trial.names(*roles), "cpu_usage_ns") / MS_NS
    )


def cores(role: str) -> Callable[[TrialData], float]:
    """Measure the cores that the containers of a role kept busy over the window."""
    return lambda data: cpu_cores(data, data.trial.names(role))


def _of_services_cpu(role: str) -> Callable[[TrialData], float]:
    """What measuring costs."""

    def compute(data: TrialData) -> float:
        services = cpu_cores(data, data.trial.names("service"))
        if services == 0:
            raise NotDerivableError("the services used no CPU")
        return cpu_cores(data, data.trial.names(role)) / services

    return compute


def memory_mean_mib(*roles: str) -> Callable[[TrialData], float]:
    """Measure the working set of the containers of some roles, the mean over the window."""
    return lambda data: mean(data, data.counters.containers, data.trial.names(*roles), "memory_working_set_bytes") / MIB


def _of_sidecars(measure: Callable[..., Callable[[TrialData], float]]) -> Callable[[TrialData], float | None]:
    """Measure the sidecars; None where there are none, which is not a cost of 0."""
    compute = measure("sidecar")
    return lambda data: compute(data) if data.trial.names("sidecar") else None


def _context_switches_per_request(data: TrialData) -> float:
    fields = ("context_switches_voluntary", "context_switches_involuntary")
    return per_request(data, increase(data, data.counters.containers, data.trial.names("service"), *fields))


METRICS = (
    Metric(
        "cpu_per_request_services_ms",
        "CPU per request, services",
        "ms",
        compute=_cpu_per_request_ms("service"),
        adjusted_as="time",
    ),
    Metric(
        "cpu_per_request_backends_ms",
        "CPU per request, backends",
        "ms",
        compute=_cpu_per_request_ms("backend"),
        adjusted_as="time",
    ),
    Metric(
        "cpu_per_request_total_ms",
        "CPU per request, services and backends",
        "ms",
        compute=_cpu_per_request_ms("service", "backend"),
        adjusted_as="time",
    ),
    Metric(
        "cpu_per_request_sidecars_ms",
        "CPU per request, sidecars",
        "ms",
        compute=_of_sidecars(_cpu_per_request_ms),
        adjusted_as="time",
    ),
    Metric(
        "cpu_per_request_proxied_ms",
        "CPU per request, services and sidecars",
        "ms",
        compute=_cpu_per_request_ms("service", "sidecar"),
        adjusted_as="time",
    ),
    Metric("cpu_services_cores", "CPU, services", "cores", compute=cores("service")),
    Metric("cpu_generator_cores", "CPU, load generator", "cores", compute=cores("generator")),
    Metric("cpu_observer_cores", "CPU, observer", "cores", compute=cores("observer")),
    Metric(
        "generator_cpu_fraction",
        "CPU, load generator, as a share of the services'",
        "fraction",
        compute=_of_services_cpu("generator"),
    ),
    Metric(
        "observer_cpu_fraction",
        "CPU, observer, as a share of the services'",
        "fraction",
        compute=_of_services_cpu("observer"),
    ),
    Metric(
        "memory_services_mean_mib",
        "Working set, services, mean",
        "MiB",
        compute=memory_mean_mib("service"),
        adjusted_as="memory",
    ),
    Metric(
        "memory_sidecars_mean_mib",
        "Working set, sidecars, mean",
        "MiB",
        compute=_of_sidecars(memory_mean_mib),
        adjusted_as="memory",
    ),
    Metric(
        "memory_backends_mean_mib",
        "Working set, backends, mean",
        "MiB",
        compute=memory_mean_mib("backend"),
        adjusted_as="memory",
    ),
    Metric(
        "memory_total_mean_mib",
        "Working set, services and backends, mean",
        "MiB",
        compute=memory_mean_mib("service", "backend"),
        adjusted_as="memory",
    ),
    Metric(
        "startup_s",
        "Start-up, slowest service",
        "s",
        compute=lambda data: max(data.trial.startup_s.values(), default=None),
    ),
    Metric("context_switches_per_request", "Context switches per request", "", compute=_context_switches_per_request),
)
