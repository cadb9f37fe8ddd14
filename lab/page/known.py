"""What is known of the running system: its choice, its picture, and the addresses of its parts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from lab.analysis.lab import Lab
from lab.backend import BACKENDS, Backend
from lab.command.choice import chosen, has_faults
from lab.command.exploring import driver, pages, start_of
from lab.command.running import Running
from lab.engine import OBSERVER, Driver, ports
from lab.engine.keeping import GUARD
from lab.run.start import Start
from lab.spec import NO_FAULT, Example, Experiment, Picture, Settings, recorded_experiment

# A line of `Deployment.pages`: an address, and what is there.
LINK = re.compile(r"^(http://\S+) \((.+)\)$")
FAULT = "fault"


@dataclass(frozen=True)
class Known:
    """A system of a record. What needs the engine is found at its first use, and kept."""

    lab: Lab
    of: Running

    @cached_property
    def experiment(self) -> Experiment:
        """What was chosen."""
        return recorded_experiment(self.of.spec, self.lab.grammar)

    @property
    def kind(self) -> str:
        """The kind of its target."""
        return self.experiment.target.kind

    @cached_property
    def example(self) -> Example:
        """What its target declares for running systems."""
        return self.lab.target(self.experiment).declaration.example

    @cached_property
    def picture(self) -> Picture:
        """Its graph."""
        return self.example.picture(self.experiment.baseline_level())

    @cached_property
    def requested(self) -> Settings:
        """Its settings by control, but the fault."""
        return self.example.switches.read(self.experiment)

    @cached_property
    def defaults(self) -> Settings:
        """The settings of what `make up` starts without any."""
        return {**self.example.switches.read(chosen(self.lab, self.kind, [], None)), FAULT: NO_FAULT}

    @cached_property
    def fault(self) -> str:
        """The fault that was requested."""
        faults = self.experiment.baseline_level().settings.faults if has_faults(self.experiment) else ()
        return "+".join(fault.kind for fault in faults) or NO_FAULT

    def settings(self, now_s: float) -> Settings:
        """Return its settings by control: the fault is one of them until it expires."""
        return {**self.requested, FAULT: self.fault if now_s < self.of.fault_until_s else NO_FAULT}

    @cached_property
    def roles(self) -> Mapping[str, str]:
        """The role of each of its containers."""
        start = self._start
        load = {start.generator.service: "generator"} if start.generator else {}
        guards = {name: "guard" for name in self.of.services if name.endswith(GUARD)}
        return {**start.deployment.roles(), **load, OBSERVER: OBSERVER, **guards}

    @cached_property
    def links(self) -> list[dict[str, str]]:
        """Its pages for people. Raises `OSError` or the engine's errors."""
        found = (LINK.match(line) for line in pages(self._start))
        return [{"name": match[2], "url": match[1]} for match in found if match]

    @property
    def engine(self) -> Driver:
        """The engine."""
        return self._start.place.driver

    @property
    def backend(self) -> Backend:
        """Where its traces can be read, if they can. Its ports are those that the system was started with."""
        kind = BACKENDS.get(self.picture.backend, Backend)
        return kind(lambda variable: self.of.ports.get(variable) or ports.port(variable))

    @cached_property
    def _start(self) -> Start:
        return start_of(self.lab, self.experiment, driver())
