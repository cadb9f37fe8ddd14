"""Memory that is a system's own, and page cache apart from it.

The kernel charges a page of a file to the container that reads it first, which is one of the system that starts first.
RSS (anonymous memory) has no such pages. The working set (lab/analysis/metrics/resources.py) has.
"""

from collections.abc import Callable, Collection

from lab.analysis.metrics.window import mean
from lab.contract import Metric
from lab.record import MIB, Column, Headline, TrialData

RSS, PAGE_CACHE = "memory_services_rss_mean_mib", "memory_services_page_cache_mean_mib"

WORKING_SET = "memory_services_mean_mib"


def with_known_memory(headline: Headline, metrics: Collection[str]) -> Headline:
    """Return a headline of RSS and page cache with what older records have: no page cache, or the working set alone."""
    instead = {} if RSS in metrics else {RSS: WORKING_SET}
    columns = [
        Column(metric=WORKING_SET, heading="MiB") if column.metric in instead else column for column in headline.columns
    ]
    known = (name for name in headline.main if name != PAGE_CACHE or PAGE_CACHE in metrics)
    return headline.model_copy(update={"columns": columns, "main": [instead.get(name, name) for name in known]})


def _mean_mib(field: str) -> Callable[[TrialData], float]:
    """Return the mean over the window of a gauge, all services together."""
    return lambda data: mean(data, data.counters.containers, data.trial.names("service"), field) / MIB


def _kernel_peak_mib(data: TrialData) -> float:
    """Add up the services' peaks as of the window's end. They need not have been at the same moment."""
    fields = (data.counters.containers[name] for name in data.trial.names("service"))
    samples = (one["memory_peak_bytes"].within(0, data.trial.window_end_ns) for one in fields)
    return float(sum(one.values.max() for one in samples)) / MIB


METRICS = (
    Metric(RSS, "Memory (RSS), services, mean", "MiB", compute=_mean_mib("memory_rss_bytes"), adjusted_as="memory"),
    Metric(
        PAGE_CACHE,
        "Page cache, services, mean",
        "MiB",
        compute=_mean_mib("memory_page_cache_bytes"),
        adjusted_as="memory",
    ),
    Metric(
        "memory_services_kernel_peak_mib",
        "Peak memory, page cache included: sum of the kernel's peak of each service since its start",
        "MiB",
        compute=_kernel_peak_mib,
        adjusted_as="memory",
    ),
)
