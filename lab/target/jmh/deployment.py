"""One fork of a benchmark in a container: the `Deployment` of `lab/contract`."""

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from lab.contract import Deployment, Measuring
from lab.engine import OBSERVER, Place, Stack, await_observed, create, literal, start_failed, wait_until
from lab.record import TrialPart, Window, WindowPart
from lab.record.jmh import read_jmh
from lab.target.jmh.declaration import BENCHMARK
from lab.target.jmh.settings import COMPILER_FLAGS, JmhLevel, JmhLevelSettings

RECORD = "jmh.json"
PROFILERS = ("gc", "tollbooth.benchmarks.IterationProfiler")
# The benchmarks read the clock of the process from the C library.
NATIVE_ACCESS = "--enable-native-access=ALL-UNNAMED"
HEAP_FRACTION = 0.5
# What a fork needs besides its iterations: two JVMs start, and a benchmark warms its tracer up.
FORK_S = 120.0
# The last operation of an iteration may begin right before its end.
OVERRUN = 3.0
RECORD_EVERY_S = 0.5
# A query to the engine costs CPU time inside the measured window.
ALIVE_EVERY_S = 10.0


def options(settings: JmhLevelSettings) -> list[str]:
    """Return JMH's options for one fork of the level's benchmark. A benchmark that fails ends the run. Pure."""
    heap_mib = f"{HEAP_FRACTION * settings.memory_mib:.0f}m"
    flags = (f"-Xms{heap_mib}", f"-Xmx{heap_mib}", *COMPILER_FLAGS[settings.compiler])
    return [
        f"[.]{settings.benchmark}[.]",
        *("-f", "1", "-foe", "true"),
        *("-wi", str(settings.warm_up_iterations), "-w", f"{settings.iteration_ms}ms"),
        *("-i", str(settings.iterations), "-r", f"{settings.iteration_ms}ms"),
        *(word for profiler in PROFILERS for word in ("-prof", profiler)),
        *("-jvmArgsAppend", " ".join((*flags, NATIVE_ACCESS))),
        *(word for name, value in settings.parameters.items() for word in ("-p", f"{name}={value}")),
    ]


def bound_s(settings: JmhLevelSettings) -> float:
    """Return within which time a fork must have left its record. Pure."""
    planned_s = (settings.warm_up_iterations + settings.iterations) * settings.iteration_ms / 1000
    return FORK_S + OVERRUN * planned_s


def stack(level: JmhLevel) -> Stack:
    """Return what to create for one fork. It has the CPUs of what is measured. Pure."""
    settings = level.settings
    benchmark = {
        "command": options(settings),
        "mem_limit": f"{settings.memory_mib}m",
        "environment": literal(settings.environment),
    }
    return Stack((BENCHMARK,), {"services": {BENCHMARK: benchmark}})


@dataclass(frozen=True)
class Forked(Measuring):
    """See `lab.contract.Measuring`: a fork that has ended. `window`: None if its benchmark failed."""

    window: Window | None

    def parts(self) -> Sequence[TrialPart]:
        """See `Measuring.parts`: the window is that of JMH's iterations."""
        return (WindowPart(window=self.window),)


@dataclass(frozen=True)
class JmhDeployment(Deployment):
    """See `lab.contract.Deployment`."""

    level: JmhLevel
    place: Place
    out: Path

    @override
    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        create(self.place, stack(self.level), self.out, variables, instruments)

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`. A benchmark brings its own work: it runs to its end."""
        self.place.driver.start((*instruments, BENCHMARK))
        self._await_record()
        return {}

    def endpoint(self) -> None:
        """See `Deployment.endpoint`: a benchmark takes no load."""

    @contextmanager
    def measuring(self, level: JmhLevel, seed: int, lead_s: float) -> Iterator[Measuring]:
        """See `Deployment.measuring`: wait until the observer has seen the last iteration."""
        results = read_jmh(self.out / RECORD).results
        window = results[0].window if results else None
        if window:
            await_observed(self.out, window.end_ns, self.place.clock)
        yield Forked(window)

    @override
    def drain(self) -> TrialPart:
        self.place.driver.stop([BENCHMARK, OBSERVER])
        return TrialPart()

    @override
    def roles(self) -> Mapping[str, str]:
        return {BENCHMARK: BENCHMARK}

    @override
    def pages(self) -> Sequence[str]:
        return [f"its result is in {self.out / RECORD}"]

    def _await_record(self) -> None:
        """Wait for what JMH leaves; raises `StartFailed` if the container ended without it, or it does not come."""
        bound = bound_s(self.level.settings)
        for _ in range(math.ceil(bound / ALIVE_EVERY_S)):
            if wait_until((self.out / RECORD).exists, ALIVE_EVERY_S, RECORD_EVERY_S, self.place.clock):
                return
            container = self.place.driver.containers()[BENCHMARK]
            if not container.running:
                raise start_failed(self.place.driver, BENCHMARK, f"ended with exit code {container.exit_code}")
        raise start_failed(self.place.driver, BENCHMARK, f"had left no record after {bound:.0f} s")
