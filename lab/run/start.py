"""One start of the containers: created, started, collected from, and removed; and what all starts of a run share."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.contract import Deployment, Endpoint, Target
from lab.engine import OBSERVER, SPINNER, Container, Place, await_observed, start_failed
from lab.load import GENERATORS, LoadGenerator, LoadPlan, Stage
from lab.record import ContainerRecord, StartPart, TrialPart, write_targets
from lab.spec import Experiment, Level, Protocol

SLOW_EVERY_S = 1.0
NOWHERE = Endpoint("", 0, "http")


@dataclass(frozen=True)
class Context:
    """What every trial of an experiment shares. `places`: one for each level of a block, side by side."""

    experiment: Experiment
    target: Target[Place]
    place: Place
    places: tuple[Place, ...] = ()

    @property
    def generator(self) -> LoadGenerator | None:
        """What sends the load; None if there is none."""
        return GENERATORS.get(self.experiment.load.generator)

    @property
    def instruments(self) -> tuple[str, ...]:
        """What starts before the system, to see it start: the observer, and the spinner on the same CPUs."""
        if not self.target.declaration.containers:
            return ()
        return (OBSERVER, SPINNER) if self.experiment.protocol.keep_cpus_awake else (OBSERVER,)


@dataclass
class Start:
    """A system of `level` with its load and instruments; its containers write to `out`.

    Call the methods in the order below. They raise `StartFailed` if a container does not do its part, and the
    driver's errors.
    """

    context: Context
    place: Place
    level: Level[Any]
    found: Mapping[str, float]
    seed: int
    out: Path
    instruments: Sequence[str]
    protocol: Protocol
    taken_s: dict[str, float] = field(default_factory=dict)
    startup_s: Mapping[str, float] = field(default_factory=dict)
    containers: Mapping[str, Container] = field(default_factory=dict)
    drained: TrialPart = field(default_factory=TrialPart)

    def __post_init__(self) -> None:
        self.deployment: Deployment = self.context.target.deployment(self.level, self.place, self.out)
        self.generator = self.context.generator

    @property
    def plan(self) -> LoadPlan:
        """The load."""
        endpoint = self.deployment.endpoint() or NOWHERE
        return LoadPlan(
            self.context.experiment.load, self.protocol, endpoint, int(self.found.get("users", 0)), self.seed
        )

    @property
    def stage(self) -> Stage:
        """Where its generator works."""
        return Stage(self.place.driver, self.place.clock, self.out, self.failed)

    def failed(self, container: str, what: str) -> Exception:
        """The error that says what a container did, with the end of its log."""
        return start_failed(self.place.driver, container, what)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times the block under `name`."""
        start_s = self.place.clock.now_s()
        yield
        self.taken_s[name] = round(self.place.clock.now_s() - start_s, 3)

    def create(self) -> None:
        """Creates its containers, and lists them for the observer."""
        services = [self.generator.service] if self.generator else []
        variables = {**(self.generator.environment(self.plan) if self.generator else {}), **self._intervals()}
        with self.phase("create"):
            self.deployment.deploy(variables, (*self.instruments, *services))
            if self.instruments:
                names = {container.id: name for name, container in self.place.driver.containers().items()}
                write_targets(self.out / "targets.json", names, self.place.driver.networks())

    def start(self) -> None:
        """Starts everything but the load, and waits until it is ready."""
        with self.phase("start"):
            self.startup_s = self.deployment.ready(self.instruments)

    def await_observed(self, end_ns: int) -> None:
        """Waits until the observer has sampled after `end_ns`."""
        if OBSERVER in self.instruments:
            await_observed(self.out, end_ns, self.place.clock, self._observed_every_s())

    def collect(self) -> None:
        """Stops what is left of it, and collects what it knows."""
        with self.phase("collect"):
            self.containers = self.place.driver.containers()
            self.drained = self.deployment.drain()
            self.place.driver.save_logs(self.out / "logs")

    def remove(self) -> None:
        """Removes its containers."""
        with self.phase("remove"):
            self.place.driver.remove()

    def parts(self) -> list[TrialPart]:
        """The parts of `trial.json` that all trials of the start share."""
        return [
            self.drained,
            StartPart(
                service_cpus=self.place.cpus.services,
                generator_cpus=self.place.cpus.generator,
                containers=self._described(),
                startup_s=self.startup_s,
                phases_s=self.taken_s,
            ),
        ]

    def _observed_every_s(self) -> float:
        return 1 / (self.level.settings.observer_rate_hz or self.context.experiment.observer.rate_hz)

    def _intervals(self) -> Mapping[str, str]:
        """The observer's intervals; what is expensive to read is sampled once a second at most."""
        every_s = self._observed_every_s()
        intervals_s = {"OBSERVER_INTERVAL": every_s, "OBSERVER_SLOW_INTERVAL": max(every_s, SLOW_EVERY_S)}
        return {name: f"{1000 * interval_s:.0f}ms" for name, interval_s in intervals_s.items()}

    def _described(self) -> dict[str, ContainerRecord]:
        roles = {OBSERVER: "observer", SPINNER: "spinner", **self.deployment.roles()}
        if self.generator:
            roles[self.generator.service] = "generator"
        return {
            name: ContainerRecord(
                role=roles[name],
                image=item.image,
                restarts=item.restarts,
                oom_killed=item.oom_killed,
                exit_code=item.exit_code,
                running=item.running,
            )
            for name, item in self.containers.items()
        }
