"""What JMH measured in a trial's fork, by span. Pure.

A benchmark counts its spans if they are not its operations. One that is paced counts the time that it planned and took.
"""

from statistics import fmean

from lab.record import LOCAL, SECOND_NS, NotDerivableError, TrialData
from lab.record.jmh import OPERATIONS, PROCESS_CPU_NS, BenchmarkRecord, JmhRecord

STREAM = "benchmarks"
SPANS, CPU_NS, BACKEND_CPU_NS, BODY_BYTES = "spans", "cpuNs", "backendCpuNs", "bodyBytes"
PLANNED_NS, TAKEN_NS, BURSTS, DROPPED = "plannedNs", "takenNs", "bursts", "dropped"
# JMH's own: of an operation.
ALLOCATED_BYTES = "gc.alloc.rate.norm"


def record(data: TrialData) -> JmhRecord:
    """Return what JMH left; raises `NotDerivableError` if it left nothing."""
    if not data.has(STREAM):
        raise NotDerivableError("JMH left no record")
    found: JmhRecord = data.streams[STREAM][LOCAL]
    return found


def result(data: TrialData) -> BenchmarkRecord:
    """Return what was measured of the benchmark; raises `NotDerivableError` if it has no result."""
    results = record(data).results
    if len(results) != 1:
        raise NotDerivableError(f"JMH has {len(results)} results, one is needed")
    return results[0]


def counts(data: TrialData, name: str) -> bool:
    """Return whether the benchmark counts something."""
    return name in result(data).secondary


def total(data: TrialData, name: str) -> float:
    """Return what was counted in all iterations; raises `KeyError` if the benchmark does not count it."""
    return sum(result(data).secondary[name].iterations)


def spans(data: TrialData) -> float:
    """Return the spans of all iterations, without dropped ones."""
    return total(data, SPANS if counts(data, SPANS) else OPERATIONS)


def per_span(data: TrialData, amount: float) -> float:
    """Divide an amount of all iterations by their spans; raises `NotDerivableError` if there was none."""
    count = spans(data)
    if count == 0:
        raise NotDerivableError("no span was made")
    return amount / count


def cpu_per_span_ns(data: TrialData) -> float:
    """Return the CPU time of the process by the spans, a backend's threads in it left out.

    A paced benchmark counts it: until the last byte is acknowledged. For others it is that of the complete iterations,
    with all that takes spans from queues.
    """
    return per_span(data, total(data, CPU_NS if counts(data, PLANNED_NS) else PROCESS_CPU_NS))


def caller_ns_per_span(data: TrialData) -> float | None:
    """Return the time of a span in the thread that makes it; None if operations are not spans."""
    return None if counts(data, SPANS) else fmean(result(data).primary.iterations)


def caller_cpu_per_span_ns(data: TrialData) -> float | None:
    """Return the CPU time by the spans of the threads that make bursts; None if there are no bursts."""
    return per_span(data, total(data, CPU_NS)) if counts(data, BURSTS) else None


def burst_us(data: TrialData) -> float | None:
    """Return the time of a burst; None if there are no bursts."""
    return fmean(result(data).primary.iterations) if counts(data, BURSTS) else None


def allocated_bytes_per_span(data: TrialData) -> float:
    """Return the bytes that the process allocated, all of its threads, by the spans.

    Raises `NotDerivableError` if JMH does not know them of an iteration.
    """
    of_operation, operations = (result(data).secondary[name].iterations for name in (ALLOCATED_BYTES, OPERATIONS))
    if len(of_operation) != len(operations):
        raise NotDerivableError("the allocation of an iteration is not known")
    return per_span(data, sum(one * count for one, count in zip(of_operation, operations, strict=True)))


def spans_per_s(data: TrialData) -> float:
    """Return the spans by the time that they took; raises `KeyError` if the benchmark does not count that."""
    return SECOND_NS * spans(data) / total(data, TAKEN_NS)


def dropped_fraction(data: TrialData) -> float | None:
    """Return the share of the spans that was dropped; None if a drop would have failed the benchmark."""
    if not counts(data, DROPPED):
        return None
    dropped = total(data, DROPPED)
    return dropped / (spans(data) + dropped)


def late_fraction(data: TrialData) -> float | None:
    """Return by which share a paced loop took longer than planned; None if it is not paced."""
    return total(data, TAKEN_NS) / total(data, PLANNED_NS) - 1 if counts(data, PLANNED_NS) else None
