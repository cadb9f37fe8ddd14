"""One start of the containers, created, started, collected from, and removed; and what all starts of a run share."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab.engine.clock import wait_until
from lab.engine.driver import Container, Driver
from lab.load import GENERATORS, LoadGenerator, LoadPlan, Stage
from lab.record import records
from lab.spec.experiment import Experiment, Level
from lab.target.mesh.delivery import delivered
from lab.target.mesh.deployment import OBSERVER, SPINNER
from lab.target.mesh.system import System

# A counter's increase over a window needs a sample after its end. Where none comes, a check refuses the trial.
OBSERVED_BOUND_S = 10.0
OBSERVED_EVERY_S = 0.2
DEAR_EVERY_S = 1.0
# More than the observer writes of all containers in one tick.
TAIL_BYTES = 1 << 16


@dataclass(frozen=True)
class Bench:
    """What every trial of an experiment shares. `systems`: by the name of the topology that they have.

    `drivers`: one for each level of a block, where levels stand side by side.
    """

    experiment: Experiment
    systems: Mapping[str, System]
    drivers: tuple[Driver, ...] = ()

    @property
    def system(self) -> System:
        """The system of the experiment's own topology; engine, clock and CPUs are the same for all."""
        return self.systems[self.experiment.topology]

    @property
    def generator(self) -> LoadGenerator:
        """What drives the load."""
        return GENERATORS[self.experiment.load.generator]

    @property
    def instruments(self) -> tuple[str, ...]:
        """What is started before the system: it sees the system's start, and shares the CPUs with it."""
        return (OBSERVER, SPINNER) if self.experiment.protocol.keep_cpus_awake else (OBSERVER,)


@dataclass
class Stand:
    """A system of `level` with what loads and observes it; its containers write to `out`. Call in the order below.

    Methods raise `StartFailed` where a container does not do its part, and the driver's errors.
    """

    bench: Bench
    system: System
    level: Level
    plan: LoadPlan
    out: Path
    instruments: tuple[str, ...]
    taken_s: dict[str, float] = field(default_factory=dict)
    startup_s: Mapping[str, float] = field(default_factory=dict)
    containers: Mapping[str, Container] = field(default_factory=dict)
    delivered: Mapping[str, object] = field(default_factory=dict)

    @property
    def stage(self) -> Stage:
        """Where its generator works."""
        return Stage(self.system.driver, self.system.clock, self.out, self.system.failed)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times the block under `name`."""
        start_s = self.system.clock.now_s()
        yield
        self.taken_s[name] = round(self.system.clock.now_s() - start_s, 3)

    def create(self) -> None:
        """Makes its containers, and tells the observer of them."""
        generator = self.bench.generator
        variables = {
            **generator.environment(self.plan),
            **_intervals(self._observed_every_s()),
        }
        with self.phase("create"):
            self.system.create(self.level, self.out, variables, (*self.instruments, generator.service))
            names = {container.id: name for name, container in self.system.driver.containers().items()}
            records.write_targets(self.out / "targets.json", names, self.system.driver.networks())

    def start(self) -> None:
        """Starts all but the load, and waits until it is ready."""
        with self.phase("start"):
            self.startup_s = self.system.start(self.level, self.out, self.instruments)

    def await_observed(self, end_ns: int) -> None:
        """Waits until the observer has looked after `end_ns`."""
        bound_s = OBSERVED_BOUND_S + self._observed_every_s()
        wait_until(lambda: observed_until_ns(self.out) > end_ns, bound_s, OBSERVED_EVERY_S, self.system.clock)

    def _observed_every_s(self) -> float:
        return 1 / (self.level.observer_rate_hz or self.bench.experiment.observer.rate_hz)

    def collect(self) -> None:
        """Ends what is left of it, and takes what it has to say."""
        with self.phase("collect"):
            self.containers = self.system.driver.containers()
            # A service's telemetry SDK delivers what it still holds when it is asked to end; the backend is read then.
            self.system.driver.stop([*self.system.topology.nodes, OBSERVER])
            self.delivered = delivered(self.system, self.level, self.out)
            self.system.driver.save_logs(self.out / "logs")

    def remove(self) -> None:
        """Takes its containers away."""
        with self.phase("remove"):
            self.system.driver.remove()

    def record(self) -> dict[str, object]:
        """The part of `trial.json` that all trials of the start share."""
        return {
            **self.delivered,
            "users": self.plan.users,
            "service_cpus": list(self.system.cpus.services),
            "generator_cpus": list(self.system.cpus.generator),
            "containers": self._described(),
            "startup_s": self.startup_s,
            "phases_s": self.taken_s,
        }

    def _described(self) -> dict[str, object]:
        system, bench = self.system, self.bench
        roles = dict.fromkeys(system.topology.nodes, "service")
        roles |= dict.fromkeys(system.backend(self.level).services, "backend")
        roles |= dict.fromkeys(system.sidecars(self.level).values(), "sidecar")
        roles |= {bench.generator.service: "generator", OBSERVER: "observer", SPINNER: "spinner"}
        return {
            name: {
                "role": roles[name],
                "image": item.image,
                "restarts": item.restarts,
                "oom_killed": item.oom_killed,
                "exit_code": item.exit_code,
                "running": item.running,
            }
            for name, item in self.containers.items()
        }


def observed_until_ns(out: Path) -> int:
    """When the observer last looked at a container; 0 before its first sample, or where its record is not whole."""
    with (out / "counters.jsonl").open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read().split(b"\n")[1:-1]
    samples = (json.loads(line) for line in reversed(lines))
    return next((int(sample["t_ns"]) for sample in samples if sample["kind"] == "container"), 0)


def _intervals(every_s: float) -> Mapping[str, str]:
    """What the observer is told; of what is dear to read it takes a sample a second at most."""
    told = {"OBSERVER_INTERVAL": every_s, "OBSERVER_SLOW_INTERVAL": max(every_s, DEAR_EVERY_S)}
    return {name: f"{1000 * interval_s:.0f}ms" for name, interval_s in told.items()}
