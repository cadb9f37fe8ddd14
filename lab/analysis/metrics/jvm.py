"""What the services' JVMs report, and the CPU that their threads used.

GC and JIT *times* are elapsed times of their threads, as the JVM reports them; only metrics named CPU are CPU times.
"""

from collections.abc import Callable

import numpy as np

from lab.analysis.metrics.window import in_window, increase, mean, per_request
from lab.contract import Metric
from lab.record import MS_NS, Fields, NotDerivableError, Series, TrialData

SETTLED_JIT_FRACTION = 0.01
"""Of a settled system's CPU, what its compilers use at most."""


def allocated(jvm: Fields) -> Series:
    """Return the bytes that a JVM's threads allocated, as a counter that begins at the first sample.

    No JVM counts them. Objects begin in eden, which a collection empties, and each collection but an early one (started
    by hand, or to unload classes) comes when eden is full. So between two samples with n collections there was
    allocated what was still free in eden at the first, n - 1 times all of it, and what is in it at the second; without
    any, the change of what it holds. The collector may change eden's size at each collection: the first fills eden as
    it was at the first sample, the others are taken as the mean of both samples' sizes. A full collection mostly
    follows a young one at once, and the two empty eden once: the larger of both numbers counts.
    What is too large for eden is missing. Beside the JVM's own count of what its threads allocated, 2 GB in 12 s, it
    came out 0.5 % higher with the G1 collector and 1.5 % with the serial one.
    Raises `KeyError` or `NotDerivableError` where the samples do not say.
    """
    used, capacity = jvm["eden_used_bytes"], jvm["eden_capacity_bytes"].values
    collections = [np.diff(jvm[name].values) for name in ("young_gc_count", "full_gc_count")]
    if any(len(series) != len(used.values) - 1 for series in (*collections, np.diff(capacity))):
        raise NotDerivableError("a sample lacks a part of what the JVM says of its heap")
    if any((counted < 0).any() for counted in collections):
        raise NotDerivableError("the JVM began anew")
    emptied = np.maximum(*collections)
    refilled = capacity[:-1] + (emptied - 1) * (capacity[:-1] + capacity[1:]) // 2
    total = np.concatenate([[0], np.cumsum(np.diff(used.values) + np.where(emptied > 0, refilled, 0))])
    # A collection is counted when it begins, and eden is empty when it ends: a sample in between is an eden too high.
    # The next one is right again, so no sample may be above a later one.
    total = np.minimum.accumulate(total[::-1])[::-1]
    return _between_news(Series(used.t_ns, total.astype(np.int64)), int(capacity[-1]))


def _between_news(counter: Series, eden_bytes: int) -> Series:
    """Let a counter rise evenly between the samples at which it rose.

    The serial collector says what eden holds only when it has emptied it: until the next time nothing seems to be
    allocated, and a window's edges would count up to an eden too much or too little (measured, with 4 edens in a
    window: values that spread by 7 % instead of 2.4 %). After the last time it goes on rising as before, at most until
    eden is full, as then it would have been emptied again.
    """
    news = np.concatenate([[True], np.diff(counter.values) > 0])
    t_ns, values = counter.t_ns[news], counter.values[news]
    silent_ns = int(counter.t_ns[-1] - t_ns[-1])
    if silent_ns and len(t_ns) > 1:
        bytes_per_ns = (values[-1] - values[-2]) / (t_ns[-1] - t_ns[-2])
        rising_ns = min(silent_ns, int(eden_bytes / bytes_per_ns))
        ends_ns = np.unique([t_ns[-1] + rising_ns, counter.t_ns[-1]])
        ends = np.full(len(ends_ns), values[-1] + int(rising_ns * bytes_per_ns))
        t_ns, values = np.concatenate([t_ns, ends_ns]), np.concatenate([values, ends])
    return Series(t_ns, values)


def _allocated_per_request(data: TrialData) -> float:
    jvms = data.counters.jvms
    counters = (allocated(jvms[name]) for name in data.trial.names("service"))
    return per_request(data, sum(in_window(data, one) for one in counters))


def _services_increase(data: TrialData, *fields: str) -> float:
    return increase(data, data.counters.jvms, data.trial.names("service"), *fields)


def _per_request(divisor: float, *fields: str) -> Callable[[TrialData], float]:
    return lambda data: per_request(data, _services_increase(data, *fields) / divisor)


def _cpu_ns(data: TrialData, field: str) -> float:
    return increase(data, data.counters.containers, data.trial.names("service"), field)


def _share_of_cpu(data: TrialData, part_ns: float) -> float:
    cpu_ns = _cpu_ns(data, "cpu_usage_ns")
    if cpu_ns == 0:
        raise NotDerivableError("the services used no CPU")
    return part_ns / cpu_ns


def _jit_cpu_fraction(data: TrialData) -> float:
    """Where the CPU time of threads was not counted, as in older records, their elapsed time: an upper bound."""
    try:
        compiling_ns = _cpu_ns(data, "jit_cpu_ns")
    except KeyError:
        compiling_ns = _services_increase(data, "jit_time_ns")
    return _share_of_cpu(data, compiling_ns)


def _cpu_per_request_ms(field: str) -> Callable[[TrialData], float]:
    return lambda data: per_request(data, _cpu_ns(data, field) / MS_NS)


def _mean(field: str) -> Callable[[TrialData], float]:
    return lambda data: mean(data, data.counters.jvms, data.trial.names("service"), field)


METRICS = (
    Metric("bytes_allocated_per_request", "Bytes allocated per request", "B", compute=_allocated_per_request),
    Metric(
        "gc_count_per_request",
        "Garbage collections per request",
        "",
        compute=_per_request(1, "young_gc_count", "full_gc_count"),
    ),
    Metric(
        "gc_time_per_request_ms",
        "Garbage collection time per request",
        "ms",
        compute=_per_request(MS_NS, "young_gc_time_ns", "full_gc_time_ns"),
    ),
    Metric(
        "jit_time_per_request_ms", "JIT compilation time per request", "ms", compute=_per_request(MS_NS, "jit_time_ns")
    ),
    Metric(
        "jit_cpu_fraction",
        "JIT compilation time, as a share of the services' CPU",
        "fraction",
        compute=_jit_cpu_fraction,
    ),
    Metric(
        "jit_cpu_per_request_ms", "CPU of JIT compilation per request", "ms", compute=_cpu_per_request_ms("jit_cpu_ns")
    ),
    Metric(
        "gc_cpu_fraction",
        "Garbage collection, as a share of the services' CPU",
        "fraction",
        compute=lambda data: _share_of_cpu(data, _cpu_ns(data, "gc_cpu_ns")),
    ),
    Metric(
        "gc_cpu_per_request_ms",
        "CPU of garbage collection per request",
        "ms",
        compute=_cpu_per_request_ms("gc_cpu_ns"),
    ),
    Metric(
        "exporter_cpu_per_request_ms",
        "CPU of the threads that export telemetry, per request",
        "ms",
        compute=_cpu_per_request_ms("exporter_cpu_ns"),
    ),
    Metric("classes_loaded", "Classes loaded, services", "", compute=_mean("classes_loaded")),
    Metric("threads_mean", "Threads, services, mean", "", compute=_mean("threads_live")),
)
