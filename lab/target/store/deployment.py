"""One start of a store: the `Deployment` of `lab/contract`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import polars as pl

from lab.backend import BACKENDS, Backend
from lab.backend.by_id import BY_ID
from lab.contract import Endpoint, Measuring
from lab.engine import OBSERVER, Place, Stack, await_ready, create, literal
from lab.record import TrialPart
from lab.record.traces import read_traces, write_lookups
from lab.target.measuring import NothingAdded
from lab.target.store.lookup import looked_up, wanted
from lab.target.store.settings import StoreLevel
from lab.target.traffic import PROTOCOL

PORTS = {"grpc": 4317, "http": 4318, "zipkin": 9411}
READY_BOUND_S = 60.0
# What the runtime's heap may take of the container's memory. The rest is for its other memory.
HEAP_FRACTION = 0.625


def stack(level: StoreLevel, place: Place, out: Path, variables: Mapping[str, str], extra: Sequence[str]) -> Stack:
    """Return what to create for one start. The store has the CPUs of what is measured. Pure."""
    environment = {**_environment(level, place), **level.settings.environment}
    (name,) = BACKENDS[level.settings.backend].services
    store = {
        "cpuset": "${SERVICE_CPUS:-}",
        "mem_limit": f"{level.settings.memory_mib}m",
        "environment": literal(environment),
    }
    return Stack(
        services=(name, *extra),
        overlay={"services": {name: store}},
        environment={"TRIAL_DIR": str(out), **place.cpus.variables(), **variables},
    )


def _environment(level: StoreLevel, place: Place) -> Mapping[str, str]:
    """Return the variables of the level's store: the size of its heap, and how much it keeps."""
    heap_mib = f"{HEAP_FRACTION * level.settings.memory_mib:.0f}"
    if level.settings.backend == "zipkin":
        return {
            "JAVA_OPTS": f"-Xmx{heap_mib}m -XX:+ExitOnOutOfMemoryError",
            "MEM_MAX_SPANS": str(level.settings.max_spans),
        }
    return {
        "GOMAXPROCS": str(len(place.cpus.services)),
        "GOMEMLIMIT": f"{heap_mib}MiB",
        "MAX_TRACES": str(level.settings.max_traces),
    }


@dataclass(frozen=True)
class StoreDeployment:
    """See `lab.contract.Deployment`."""

    level: StoreLevel
    place: Place
    out: Path

    @property
    def backend(self) -> Backend:
        """What the store answers."""
        return BACKENDS[self.level.settings.backend]()

    @property
    def name(self) -> str:
        """The store's container."""
        return self.backend.services[0]

    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        """See `Deployment.deploy`."""
        create(self.place, stack(self.level, self.place, self.out, variables, instruments), self.out)

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`. The time would depend on how often it is checked, so none is returned."""
        self.place.driver.start((*instruments, self.name))
        await_ready(self.place, [self.name], self.backend.ready, READY_BOUND_S)
        return {}

    def endpoint(self) -> Endpoint:
        """See `Deployment.endpoint`. The protocol is that of the generator, which also sends Zipkin's format."""
        return Endpoint(self.name, PORTS[self.level.settings.transport], PROTOCOL)

    def request(self, level: StoreLevel) -> Mapping[str, object]:
        """See `Deployment.request`."""
        return {**level.settings.request(), "returns": False}

    def settled(self, level: StoreLevel) -> None:
        """See `Deployment.settled`: every level has a start of its own."""

    @contextmanager
    def measuring(self, level: StoreLevel, seed: int, lead_s: float) -> Iterator[Measuring]:
        """See `Deployment.measuring`."""
        yield NothingAdded()

    def drain(self) -> TrialPart:
        """See `Deployment.drain`: look the accepted traces up, and write what was found to `lookups.csv`."""
        traces = pl.concat([read_traces(path) for path in sorted(self.out.glob("traces-*.csv"))])
        query = partial(BY_ID[self.level.settings.backend], self.backend.http)
        write_lookups(self.out, looked_up(query, wanted(traces), self.place.clock))
        self.place.driver.stop([self.name, OBSERVER])
        return TrialPart()

    def roles(self) -> Mapping[str, str]:
        """See `Deployment.roles`."""
        return {self.name: "store"}

    def pages(self) -> Sequence[str]:
        """See `Deployment.pages`."""
        return self.backend.pages()
