"""A service with less CPU."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.evidence import container_growth, during
from lab.fault.fault import DeclaredFault, Part, Subject
from lab.record import Course, Seen, TrialData

# The kernel checks a quota at its ticks, and takes any excess off the next period.
OVERRUN = 1.1


class CpuCut(DeclaredFault):
    """The target gets at most a fraction of one CPU's time (CFS quota, periods of 100 ms)."""

    kind: Literal["cpu-cut"]
    size: float = Field(ge=0.01, le=1, description="the fraction of one CPU that it may use", examples=[0.1])
    part: ClassVar[Part] = "cpu"

    @override
    def inject(self, subject: Subject) -> Seen:
        subject.driver.limit_cpus(self.target, self.size)
        return {}

    def lift(self, subject: Subject) -> Seen:
        """See `DeclaredFault.lift`. Targets have no limit otherwise (compose.yaml)."""
        subject.driver.limit_cpus(self.target, None)
        return {}

    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the kernel's counters of throttling and CPU time do not show the limit."""
        throttled = container_growth(data, self.target, "cpu_throttled_ns", during(course))
        used = container_growth(data, self.target, "cpu_usage_ns", during(course))
        if throttled is None or used is None:
            yield "its CPU time and throttling were not sampled twice meanwhile"
        elif throttled.amount == 0:
            yield f"it was never throttled: it used {used.per_s / 1e9:.2f} CPUs, and wanted no more"
        elif used.per_s / 1e9 > self.size * OVERRUN:
            yield f"it used {used.per_s / 1e9:.2f} CPUs, more than {self.size:g}"
