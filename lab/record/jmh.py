"""`jmh.json`: what JMH measured in a fork of a benchmark (services/benchmarks)."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from pydantic import Field

from lab.record.files import Record, read_json, validated
from lab.record.trial import Window

FORMAT, VERSION = "tollbooth.jmh", 1
OPERATIONS, PROCESS_CPU_NS, START_NS, END_NS = "operations", "processCpuNs", "startNs", "endNs"
"""Of each iteration: what the benchmarks' own profiler adds, times in Unix nanoseconds."""


class MetricRecord(Record):
    """One of JMH's metrics: its unit, and for each fork a number of each iteration."""

    unit: str = Field(alias="scoreUnit")
    forks: Sequence[Sequence[float]] = Field(alias="rawData", min_length=1)

    @property
    def iterations(self) -> Sequence[float]:
        """The numbers of all iterations."""
        return [value for fork in self.forks for value in fork]


class BenchmarkRecord(Record):
    """A benchmark with one value of each of its parameters. `secondary`: what it counts itself, and profilers."""

    jmh_version: str = Field(alias="jmhVersion")
    jdk_version: str = Field(alias="jdkVersion")
    name: str = Field(alias="benchmark")
    jvm_arguments: Sequence[str] = Field(alias="jvmArgs")
    parameters: Mapping[str, str] = Field(default_factory=dict, alias="params")
    primary: MetricRecord = Field(alias="primaryMetric")
    secondary: Mapping[str, MetricRecord] = Field(alias="secondaryMetrics")

    @property
    def versions(self) -> Mapping[str, str]:
        """What ran it."""
        return {"jmh-core": self.jmh_version, "java": self.jdk_version}

    @property
    def window(self) -> Window:
        """From the first iteration's start to the last one's end; raises `KeyError` without the profiler."""
        start_ns = round(min(self.secondary[START_NS].iterations))
        return Window(load_start_ns=start_ns, start_ns=start_ns, end_ns=round(max(self.secondary[END_NS].iterations)))


class JmhRecord(Record):
    """What a run of JMH left. `failed`: why there is no result, otherwise None."""

    failed: str | None
    results: Sequence[BenchmarkRecord]


def read_jmh(path: Path) -> JmhRecord:
    """Read `jmh.json`."""
    return validated(JmhRecord, read_json(path, FORMAT, VERSION), path)
