"""A second system that stands beside all trials of a run, and is asked all the time: the reference.

What a request costs it in a trial's window says how fast the machine was then. It runs the same programs as what is
measured, so the same neighbours slow it: duet benchmarking (Bulej et al., 2020) with one partner for all.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.engine.clock import wait_until
from lab.engine.driver import Container
from lab.load import LoadGenerator, LoadPlan
from lab.load.users import answered, lasting, lines
from lab.spec.experiment import Experiment, Level
from lab.target.mesh.system import System

PROJECT = "tollbooth-reference"
ROLE = "reference"
FILE = "reference.csv"
# About three requests a second: a hundred in half a minute, for an eighth of two cores.
USERS = 4
WARM_UP_REQUESTS = 400
WARM_BOUND_S = 300.0
LOOK_EVERY_S = 1.0
# It is removed when the run ends; longer than any run.
LASTS_S = 7 * 86_400.0


@dataclass(frozen=True)
class Reference:
    """The reference: its system, with a driver of its own, who asks it, and the folder that its containers write to."""

    system: System
    generator: LoadGenerator
    folder: Path

    def containers(self) -> dict[str, Container]:
        """Its services, under names that no other container of a trial has."""
        found = self.system.driver.containers()
        return {f"{ROLE}-{name}": found[name] for name in self.system.topology.nodes}

    def save_requests(self, path: Path, start_ns: int, end_ns: int) -> None:
        """Writes the requests that were under way from `start_ns` to `end_ns`, as a `requests.csv`.

        Raises `StartFailed` where nobody asks it any more.
        """
        if not self.system.driver.containers()[self.generator.service].running:
            raise self.system.failed(self.generator.service, "of the reference ended before the run did")
        form, columns, *rows = lines(self.requests)
        begin, end = (columns.split(",").index(name) for name in ("start_ns", "end_ns"))
        fields = ((row, row.split(",")) for row in rows)
        kept = [row for row, values in fields if int(values[begin]) <= end_ns and int(values[end]) >= start_ns]
        path.write_text("\n".join([form, columns, *kept, ""]))

    @property
    def requests(self) -> Path:
        """What its generator writes."""
        return self.folder / "requests.csv"


@contextmanager
def beside(reference: Reference, experiment: Experiment) -> Iterator[None]:
    """Lets the reference stand, warm and under load, during the block; raises `StartFailed` if it does not come up."""
    try:
        _begin(reference, experiment)
        yield
    finally:
        reference.system.driver.remove()


def _begin(reference: Reference, experiment: Experiment) -> None:
    system, generator, protocol = reference.system, reference.generator, experiment.protocol
    shutil.rmtree(reference.folder, ignore_errors=True)
    level = Level(ROLE, "baseline", experiment.environment, experiment.topology)
    load = lasting(protocol, WARM_UP_REQUESTS, LASTS_S)
    plan = LoadPlan(experiment.load, load, system.topology, USERS, protocol.seed)
    system.create(level, reference.folder, generator.environment(plan), (generator.service,))
    system.start(level, reference.folder)
    system.driver.start([generator.service])
    if not wait_until(
        lambda: answered(reference.requests) >= WARM_UP_REQUESTS, WARM_BOUND_S, LOOK_EVERY_S, system.clock
    ):
        raise system.failed(generator.service, f"had not warmed the reference up after {WARM_BOUND_S:.0f} s")
