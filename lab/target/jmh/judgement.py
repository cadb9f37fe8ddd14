"""How a benchmark's forks are judged: checks and metrics. Pure."""

from collections.abc import Iterator, Mapping

from lab.analysis import checks
from lab.analysis.metrics import resources, speed
from lab.contract import Judgement, Metric
from lab.record import NotDerivableError, TrialData
from lab.target.jmh import counted
from lab.target.jmh.settings import COMPILER_FLAGS

INSTRUMENTS = {"cpu_observer_cores"}
# A paced loop also waits for its last spans. One that takes longer does not hold its rate.
LATE_FRACTION = 0.1


def finished(data: TrialData) -> Iterator[str]:
    """Reject benchmarks without a result, such as those that dropped a span and must not."""
    try:
        record = counted.record(data)
    except NotDerivableError as missing:
        yield f"{missing}: see the log of the benchmark"
        return
    if record.failed is not None:
        yield f"the benchmark failed: {record.failed}"
    elif len(record.results) != 1:
        yield f"JMH measured {len(record.results)} benchmarks, one was wanted"
    elif not counted.spans(data):
        yield "every span was dropped"


def ran_as_set(data: TrialData) -> Iterator[str]:
    """Reject forks of another benchmark, other parameters or another compiler than the level's."""
    found, settings = counted.result(data), data.trial.settings
    if f".{settings['benchmark']}." not in found.name:
        yield f"JMH ran {found.name}, not {settings['benchmark']}"
    for name, value in settings["parameters"].items():
        if found.parameters.get(name) != value:
            yield f"the benchmark's {name} was {found.parameters.get(name)}, not {value}"
    for compiler, flags in COMPILER_FLAGS.items():
        if flags and (compiler == settings["compiler"]) != set(flags).issubset(found.jvm_arguments):
            yield f"the JVM's compiler was not {settings['compiler']}: {' '.join(found.jvm_arguments)}"


def pace_held(data: TrialData) -> Iterator[str]:
    """Reject paced loops that were saturated."""
    late = counted.late_fraction(data)
    if late is not None and late > LATE_FRACTION:
        yield f"the paced loop took {late:.0%} longer than planned (limit {LATE_FRACTION:.0%}): saturated"


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "cpu_per_span_ns",
            "CPU per span, process without the backend",
            "ns",
            compute=counted.cpu_per_span_ns,
        ),
        Metric("caller_ns_per_span", "Time of a span, calling thread", "ns", compute=counted.caller_ns_per_span),
        Metric("caller_cpu_per_span_ns", "CPU per span, calling threads", "ns", compute=counted.caller_cpu_per_span_ns),
        Metric(
            "allocated_bytes_per_span",
            "Bytes allocated per span, all threads",
            "B",
            compute=counted.allocated_bytes_per_span,
        ),
        Metric(
            "body_bytes_per_span",
            "Bytes of requests' bodies per span",
            "B",
            compute=lambda data: counted.per_span(data, counted.total(data, counted.BODY_BYTES)),
        ),
        Metric(
            "backend_cpu_per_span_ns",
            "CPU per span, backend in the same process",
            "ns",
            compute=lambda data: counted.per_span(data, counted.total(data, counted.BACKEND_CPU_NS)),
        ),
        Metric("burst_us", "Time of a burst of 4,000 spans", "µs", compute=counted.burst_us),
        Metric("spans_per_s", "Spans accepted per second", "1/s", "higher", compute=counted.spans_per_s),
        Metric("spans_dropped_fraction", "Spans dropped", "fraction", compute=counted.dropped_fraction),
        Metric("pace_late_fraction", "Paced loop, longer than planned", "fraction", compute=counted.late_fraction),
        Metric("spans_measured", "Spans of all measured iterations", "", "higher", compute=counted.spans),
        Metric("cpu_benchmark_cores", "CPU, benchmark", "cores", compute=resources.cores("benchmark")),
        Metric(
            "memory_benchmark_mean_mib",
            "Working set, benchmark, mean",
            "MiB",
            compute=resources.memory_mean_mib("benchmark"),
        ),
        *(metric for metric in resources.METRICS if metric.name in INSTRUMENTS),
        *speed.METRICS,
    )
}


JUDGEMENT = Judgement(
    checks=(
        (finished,),
        (
            ran_as_set,
            pace_held,
            checks.records_complete,
            checks.containers_present,
            checks.observed_throughout,
        ),
        (checks.host_left_alone,),
    ),
    metrics=METRICS,
)
