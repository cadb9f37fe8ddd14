"""One start of a store: the `Deployment` of `lab/contract`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import polars as pl
from typing_extensions import override

from lab.backend import Backend
from lab.contract import Deployment, Endpoint
from lab.engine import OBSERVER, Place, Stack, await_ready, create, literal
from lab.record import TrialPart
from lab.record.traces import read_traces, write_lookups
from lab.target.store.lookup import looked_up, wanted
from lab.target.store.settings import StoreLevel
from lab.target.traffic import PROTOCOL

READY_BOUND_S = 60.0
# Of a trace's ID. A store may leave out those that are 0 at its beginning.
DIGITS = 32
# What the runtime's heap may take of the container's memory. The rest is for its other memory.
HEAP_FRACTION = 0.625


def stack(level: StoreLevel, place: Place) -> Stack:
    """Return what to create for one start. The store has the CPUs of what is measured. Pure."""
    settings = level.settings
    sizes = {
        "heap_mib": f"{HEAP_FRACTION * settings.memory_mib:.0f}",
        "max_traces": settings.max_traces,
        "max_spans": settings.max_spans,
        "cpus": len(place.cpus.services),
    }
    limits = {variable: value.format(**sizes) for variable, value in settings.store.storage.items()}
    (name,) = settings.store.services
    store = {
        "cpuset": "${SERVICE_CPUS:-}",
        "mem_limit": f"{settings.memory_mib}m",
        "environment": literal({**limits, **settings.environment}),
    }
    return Stack((name,), {"services": {name: store}})


@dataclass(frozen=True)
class StoreDeployment(Deployment):
    """See `lab.contract.Deployment`."""

    level: StoreLevel
    place: Place
    out: Path

    @property
    def backend(self) -> Backend:
        """What the store answers."""
        return self.level.settings.store()

    @property
    def name(self) -> str:
        """The store's container."""
        return self.backend.services[0]

    @override
    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        create(self.place, stack(self.level, self.place), self.out, variables, instruments)

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`. The time would depend on how often it is checked, so none is returned."""
        self.place.driver.start((*instruments, self.name))
        await_ready(self.place, [self.name], self.backend.ready, READY_BOUND_S)
        return {}

    def endpoint(self) -> Endpoint:
        """See `Deployment.endpoint`. The protocol is that of the generator, which also sends Zipkin's format."""
        return Endpoint(self.name, self.level.settings.store.takes[self.level.settings.transport], PROTOCOL)

    @override
    def request(self, level: StoreLevel) -> Mapping[str, object]:
        return {**level.settings.request(), "returns": False}

    def drain(self) -> TrialPart:
        """See `Deployment.drain`: look the accepted traces up, and write what was found to `lookups.csv`."""
        traces = pl.concat([read_traces(path) for path in sorted(self.out.glob("traces-*.csv"))])
        write_lookups(self.out, looked_up(self._spans_of, wanted(traces), self.place.clock))
        self.place.driver.stop([self.name, OBSERVER])
        return TrialPart()

    def _spans_of(self, ids: Sequence[str]) -> Mapping[str, int]:
        """Return how many spans the store has of each trace that it has."""
        return {trace["trace_id"].zfill(DIGITS): len(trace["spans"]) for trace in self.backend.traces(ids)}

    @override
    def roles(self) -> Mapping[str, str]:
        return {self.name: "store"}

    @override
    def pages(self) -> Sequence[str]:
        return self.backend.pages()
