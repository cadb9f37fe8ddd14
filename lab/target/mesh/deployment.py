"""One start of a mesh: the `Deployment` of `lab/contract`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from typing_extensions import override

from lab.contract import Deployment, Endpoint, Measuring
from lab.engine import OBSERVER, await_ready, ports, wait_until
from lab.record import DeliveryPart, PredictionPart, SidecarRecord, SidecarsPart, TrialPart
from lab.target import scraping
from lab.target.mesh import faulty
from lab.target.mesh.delivery import delivered
from lab.target.mesh.settings import MeshLevel, MeshLevelSettings
from lab.target.mesh.sidecars.nodes import PORTS
from lab.target.mesh.system import READY_BOUND_S, System

# Ten times as long as the longest ejection of the patterns (envoy/patterns/outliers.yaml).
EJECTED_BOUND_S = 100.0
EJECTED_EVERY_S = 0.1
# After the node's name: what a service writes when it ends.
COUNTED = ".results.json"


@dataclass(frozen=True)
class MeshMeasuring(Measuring):
    """What one trial's load met. `before`: what each sidecar had counted before it."""

    system: System
    error_probability: float | None
    before: Mapping[str, Mapping[str, int]]

    @override
    def parts(self) -> Sequence[TrialPart]:
        counted = {
            # Read each time: a fault may have restarted it.
            name: SidecarRecord(version=admin.version(), counters=_increase(self.before[name], admin.counters()))
            for name, admin in self.system.admins().items()
        }
        fraction = self.system.topology.mean_error_fraction(self.error_probability)
        return [SidecarsPart(sidecars=counted), PredictionPart(expected_error_fraction=fraction)]


class MeshDeployment(System, Deployment):
    """See `lab.contract.Deployment`: a system that takes load, faults and runtime values."""

    def endpoint(self) -> Endpoint:
        """See `Deployment.endpoint`: the topology's entry node."""
        topology, protocol = self.topology, self.topology.entry_protocol
        return Endpoint(topology.entry, PORTS["rest" if protocol == "http" else "grpc"], protocol, topology.routes())

    @override
    def request(self, level: MeshLevel) -> Mapping[str, object]:
        return level.settings.model_dump(include={"error_probability"}, exclude_none=True)

    @override
    def ready(self, instruments: Sequence[str] = ()) -> Mapping[str, float]:
        found = super().ready(instruments)
        # Before the load: a window may begin with the first request.
        scraping.begin(self.place, self.backend.endpoints)
        return found

    def settled(self, level: MeshLevel) -> None:
        """Wait until no sidecar has a peer ejected: an ejection may outlast the previous trial of the same start."""
        for name, admin in self.admins().items():
            if not wait_until(admin.ready, EJECTED_BOUND_S, EJECTED_EVERY_S, self.place.clock):
                raise self.failed(
                    name, f"had a peer ejected for more than {EJECTED_BOUND_S:.0f} s after the previous trial"
                )

    @contextmanager
    def measuring(self, level: MeshLevel, seed: int, lead_s: float) -> Iterator[MeshMeasuring]:
        """See `Deployment.measuring`: the level's runtime values and faults are in force."""
        before = {name: admin.counters() for name, admin in self.admins().items()}
        with self._runtime(level.settings), faulty.injecting(self, level.settings.faults, seed, lead_s):
            yield MeshMeasuring(self, level.settings.error_probability, before)

    def drain(self) -> DeliveryPart:
        """See `Deployment.drain`: an SDK delivers its last spans when its service ends; then the backend is read.

        What services counted themselves becomes a record of the trial.
        """
        if self.level.faults:
            # A backend that was killed has only just been started again.
            await_ready(self.place, self.backend.services, self.backend.ready, READY_BOUND_S)
        self.driver.stop([*self.topology.nodes, OBSERVER])
        scraping.end(self.place, self.out, self.backend.endpoints)
        for path in (self.out / "ready").glob(f"*{COUNTED}"):
            path.rename(self.out / f"results-{path.name.removesuffix(COUNTED)}.json")
        return delivered(self)

    @override
    def roles(self) -> Mapping[str, str]:
        return {
            **dict.fromkeys(self.topology.nodes, "service"),
            **dict.fromkeys(self.backend.services, "backend"),
            **dict.fromkeys(self.sidecars.values(), "sidecar"),
            **dict.fromkeys(scraping.services(self.backend.endpoints), "scraper"),
        }

    @override
    def pages(self) -> Sequence[str]:
        requests = ["gRPC requests: docs/explanation/open-and-closed-loop.md"]
        if self.topology.entry_protocol == "http":
            gateway = f"http://127.0.0.1:{ports.port('GATEWAY_PORT')}"
            requests = [f"curl {gateway}/{route}" for route in self.topology.routes()]
        admins = [f"http://127.0.0.1:{admin.port} ({name})" for name, admin in self.admins().items()]
        return [*requests, *self.backend.pages(), *admins]

    @contextmanager
    def _runtime(self, settings: MeshLevelSettings) -> Iterator[None]:
        """Set the level's runtime values in every sidecar during the block; the next trial begins without them."""
        admins = self.admins().values() if settings.envoy_runtime else ()
        for admin in admins:
            admin.set_runtime(settings.envoy_runtime)
        yield
        for admin in admins:
            admin.set_runtime(dict.fromkeys(settings.envoy_runtime, ""))


def _increase(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """By how much counters grew; one that is new, or was reset, started at zero."""
    return {name: value - (before.get(name, 0) if value >= before.get(name, 0) else 0) for name, value in after.items()}
