"""One start of a mesh: the `Deployment` of `lab/contract`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass

from lab.contract import Endpoint
from lab.engine import OBSERVER, ports, wait_until
from lab.fault.fault import Subject
from lab.fault.journal import Journal
from lab.fault.run import drawn, injector
from lab.record import DeliveryPart, PredictionPart, SidecarRecord, SidecarsPart, TrialPart
from lab.target.mesh.delivery import delivered
from lab.target.mesh.settings import MeshLevel, MeshLevelSettings
from lab.target.mesh.sidecars.nodes import PORTS
from lab.target.mesh.system import System

# Ten times as long as the longest ejection of the patterns (envoy/patterns/outliers.yaml).
EJECTED_BOUND_S = 100.0
EJECTED_EVERY_S = 0.1


@dataclass(frozen=True)
class MeshMeasuring:
    """What one trial's load met. `before`: what each sidecar had counted before it."""

    system: System
    error_probability: float | None
    before: Mapping[str, Mapping[str, int]]

    def parts(self) -> Sequence[TrialPart]:
        """See `Measuring.parts`."""
        counted = {
            # Read each time: a fault may have restarted it.
            name: SidecarRecord(version=admin.version(), counters=_increase(self.before[name], admin.counters()))
            for name, admin in self.system.admins().items()
        }
        expected = self.system.topology.mean_error_fraction(self.error_probability)
        return [SidecarsPart(sidecars=counted), PredictionPart(expected_error_fraction=expected)]


@dataclass(frozen=True)
class MeshDeployment:
    """See `lab.contract.Deployment`."""

    system: System

    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        """See `Deployment.deploy`."""
        self.system.create(variables, instruments)

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`."""
        return self.system.start(instruments)

    def endpoint(self) -> Endpoint:
        """See `Deployment.endpoint`: the topology's entry node."""
        topology = self.system.topology
        protocol = topology.entry_protocol
        port = PORTS["rest" if protocol == "http" else "grpc"]
        return Endpoint(topology.entry, port, protocol, topology.routes())

    def request(self, level: MeshLevel) -> Mapping[str, object]:
        """See `Deployment.request`."""
        return {"error_probability": level.settings.error_probability}

    def settled(self, level: MeshLevel) -> None:
        """Wait until no sidecar has a peer ejected: an ejection may outlast the previous trial of the same start."""
        for name, admin in self.system.admins().items():
            if not wait_until(admin.ready, EJECTED_BOUND_S, EJECTED_EVERY_S, self.system.place.clock):
                raise self.system.failed(
                    name, f"had a peer ejected for more than {EJECTED_BOUND_S:.0f} s after the previous trial"
                )

    @contextmanager
    def measuring(self, level: MeshLevel, seed: int, lead_s: float) -> Iterator[MeshMeasuring]:
        """See `Deployment.measuring`: the level's runtime values and faults are in force."""
        settings, system = level.settings, self.system
        before = {name: admin.counters() for name, admin in system.admins().items()}
        with self._runtime(settings), self._faults(settings, seed, lead_s):
            yield MeshMeasuring(system, settings.error_probability, before)

    def drain(self) -> DeliveryPart:
        """See `Deployment.drain`: an SDK delivers its last spans when its service ends; then the backend is read."""
        self.system.driver.stop([*self.system.topology.nodes, OBSERVER])
        return delivered(self.system)

    def roles(self) -> Mapping[str, str]:
        """See `Deployment.roles`."""
        return {
            **dict.fromkeys(self.system.topology.nodes, "service"),
            **dict.fromkeys(self.system.backend.services, "backend"),
            **dict.fromkeys(self.system.sidecars.values(), "sidecar"),
        }

    def pages(self) -> Sequence[str]:
        """See `Deployment.pages`."""
        topology = self.system.topology
        if topology.entry_protocol == "http":
            requests = [f"curl http://127.0.0.1:{ports.port('GATEWAY_PORT')}/{route}" for route in topology.routes()]
        else:
            requests = ["gRPC requests: docs/open-and-closed-loop.md"]
        admins = [f"http://127.0.0.1:{admin.port} ({name})" for name, admin in self.system.admins().items()]
        return [*requests, *self.system.backend.pages(), *admins]

    @contextmanager
    def _runtime(self, settings: MeshLevelSettings) -> Iterator[None]:
        """Set the level's runtime values in every sidecar during the block; the next trial begins without them."""
        admins = self.system.admins().values() if settings.envoy_runtime else ()
        for admin in admins:
            admin.set_runtime(settings.envoy_runtime)
        yield
        for admin in admins:
            admin.set_runtime(dict.fromkeys(settings.envoy_runtime, ""))

    def _faults(self, settings: MeshLevelSettings, seed: int, lead_s: float) -> AbstractContextManager[None]:
        """The level's faults, injected while the block sends the load."""
        if not settings.faults:
            return nullcontext()
        system, place = self.system, self.system.place
        subject = Subject(place.driver, place.clock, system.out / "ready", system.sidecars, system.admin)
        injecting = injector(subject, Journal(place.journal), system.out / "faults.jsonl")
        return injecting.during_load(drawn(settings.faults, seed), place.clock.now_s() + lead_s)


def _increase(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """By how much counters grew; one that is new, or was reset, started at zero."""
    return {name: value - (before.get(name, 0) if value >= before.get(name, 0) else 0) for name, value in after.items()}
