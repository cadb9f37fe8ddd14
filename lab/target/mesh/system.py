"""The system of one level on an engine: created, started, and waited for until every part of it is ready."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.backend import BACKENDS, Backend
from lab.engine import Driver, Place, Stack, StartFailed, await_ready, create, literal, ports, start_failed, with_added
from lab.fault.application import ByService
from lab.record import SECOND_NS, read_json
from lab.target import scraping
from lab.target.guarded import as_measured, guarded
from lab.target.mesh import sidecars
from lab.target.mesh.settings import MeshLevelSettings
from lab.target.mesh.sidecars import ADMIN_PORT, Admin, Mode, sidecar
from lab.target.mesh.topology import DOMAIN, Topology, resolved
from lab.target.mesh.variants import Telemetry, Variant, chosen

READY_BOUND_S = 180.0
READY_EVERY_S = 0.25
# In the folder of each start; compose.yaml mounts it into every node.
TOPOLOGY_FILE = "topology.json"


@dataclass(frozen=True)
class Parts:
    """What a mesh consists of: a topology, telemetry variants by name, and Envoy's configuration."""

    topology: Topology
    variants: Mapping[str, Variant]
    envoy: sidecars.Source

    def telemetry(self, level: MeshLevelSettings) -> Telemetry:
        """How `level` observes the services."""
        return chosen(self.variants[level.telemetry], level.backend, level.traces, level.environment)

    def backend_kind(self, level: MeshLevelSettings) -> type[Backend]:
        """Where the telemetry of `level` goes."""
        return BACKENDS[self.telemetry(level).backend]

    def mode(self, level: MeshLevelSettings) -> Mode:
        """What the sidecars of `level` do."""
        return sidecars.parse_mode(level.sidecar, self.envoy.patterns)

    def sidecars(self, level: MeshLevelSettings) -> dict[str, str]:
        """The Compose service of each node's sidecar at `level`, by node; none if it has no sidecars."""
        return {node: sidecar(node) for node in self.topology.nodes} if self.mode(level).proxied else {}

    def proxy_files(self, level: MeshLevelSettings) -> dict[str, str]:
        """The configuration of each sidecar of `level`: path within a trial's folder -> text."""
        if not self.mode(level).proxied:
            return {}
        nodes = sidecars.nodes(self.topology).values()
        faults = any(fault.needs_sidecar for fault in level.faults)
        return sidecars.files(self.envoy, nodes, self.mode(level), level.sidecar_side, faults)


@dataclass(frozen=True)
class System:
    """The parts of a mesh with one level's settings, at a place: created, started. Its containers write to `out`."""

    parts: Parts
    level: MeshLevelSettings
    place: Place
    out: Path

    @property
    def topology(self) -> Topology:
        """The call graph."""
        return self.parts.topology

    @property
    def driver(self) -> Driver:
        """The engine."""
        return self.place.driver

    @property
    def telemetry(self) -> Telemetry:
        """How the services are observed."""
        return self.parts.telemetry(self.level)

    @property
    def backend(self) -> Backend:
        """Where telemetry goes."""
        kind = self.parts.backend_kind(self.level)
        return kind(ports.port if self.place.alone else ports.chosen(kind.services, self.driver.published_port))

    @property
    def sidecars(self) -> dict[str, str]:
        """The Compose service of each node's sidecar, by node."""
        return self.parts.sidecars(self.level)

    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str] = ()) -> None:
        """See `Deployment.deploy`."""
        level, topology, telemetry, root = self.level, self.topology, self.telemetry, self.place.root
        # A service looks for its file twenty times a second, which costs CPU time.
        if any(isinstance(fault, ByService) for fault in level.faults):
            telemetry = replace(telemetry, environment={**telemetry.environment, "WATCH_FAULTS": "1"})
        files = {
            TOPOLOGY_FILE: json.dumps(resolved(topology)),
            **self.backend.files(topology.nodes, telemetry.environment),
            **(guarded if self.place.keeps else as_measured)(self.parts.proxy_files(level), root),
        }
        added: dict[str, dict[str, object]] = {}
        for node in sidecars.nodes(topology).values() if self.sidecars else ():
            added |= sidecars.overlay(node, level.sidecar_side, root)
        if level.memory_mib is not None:
            variables = {**variables, "SERVICE_MEMORY": f"{level.memory_mib}m"}
        create(self.place, stack(telemetry, topology, root, added), self.out, variables, instruments, files, ["ready"])
        if self.place.keeps:
            self._forget_ended()

    def ready(self, instruments: Sequence[str] = ()) -> Mapping[str, float]:
        """See `Deployment.ready`: start-up times are those of the nodes.

        Raises `StartFailed` soon after a container ended, or when `READY_BOUND_S` have passed.
        """
        backend = self.backend
        self.driver.start((*instruments, *backend.services, *self.topology.nodes))
        # Each in the network namespace of its node, which has to exist.
        if proxies := self.sidecars:
            self.driver.start(tuple(proxies.values()))
        parts = (*backend.services, *self.topology.nodes, *proxies.values())

        def late() -> str:
            return next((node for node in self.topology.nodes if not self._file(node).exists()), parts[-1])

        await_ready(self.place, parts, lambda: self._ready(backend), READY_BOUND_S, READY_EVERY_S, late)
        return {node: _startup_s(self._file(node)) for node in self.topology.nodes}

    def failed(self, container: str, what: str) -> StartFailed:
        """The error with what a container did, and the end of its log."""
        return start_failed(self.driver, container, what)

    def admin(self, node: str) -> Admin:
        """The administration page of a node's running sidecar."""
        return Admin(self.driver.published_port(node, ADMIN_PORT))

    def admins(self) -> dict[str, Admin]:
        """The administration pages of all running sidecars, by the sidecar's service."""
        return {name: self.admin(node) for node, name in self.sidecars.items()}

    def _ready(self, backend: Backend) -> bool:
        return (
            all(self._file(node).exists() for node in self.topology.nodes)
            and backend.ready()
            and all(admin.ready() for admin in self.admins().values())
        )

    def _forget_ended(self) -> None:
        """Deletes what containers that will start wrote when they last did."""
        for name, container in self.driver.containers().items():
            if not container.running:
                self._file(name).unlink(missing_ok=True)

    def _file(self, node: str) -> Path:
        return self.out / "ready" / f"{node}.json"


def _startup_s(path: Path) -> float:
    ready = read_json(path, "tollbooth.ready", 1)
    return float((ready["spring_ready_ns"] - ready["process_start_ns"]) / SECOND_NS)


def stack(telemetry: Telemetry, topology: Topology, root: Path, added: Mapping[str, Mapping[str, Any]]) -> Stack:
    """What to create for one start of the containers with this telemetry, in the repository at `root`.

    `added`: by Compose service, what sidecars add to nodes, and their own services.
    """
    nodes = {name: _node(name, node.kind, telemetry.environment, root) for name, node in topology.nodes.items()}
    own, backend = tuple(name for name in added if name not in nodes), BACKENDS[telemetry.backend]
    return Stack(
        services=(*topology.nodes, *own, *backend.services, *scraping.services(backend.endpoints)),
        overlay={"services": {name: with_added(nodes.get(name, {}), added.get(name, {})) for name in (*nodes, *own)}},
        environment={"TELEMETRY": telemetry.instrumentation, **scraping.variables(backend.endpoints)},
    )


def _node(name: str, kind: str, telemetry: Mapping[str, str], root: Path) -> dict[str, Any]:
    given = {"NODE": name, "OTEL_SERVICE_NAME": name, **telemetry}
    service: dict[str, Any] = {
        "environment": literal(given),
        "profiles": [kind],
        "networks": {"app": {"aliases": [name + DOMAIN]}, "telemetry": {}},
    }
    if name != kind:
        service["extends"] = {"file": str(root / "compose.yaml"), "service": kind}
    return service
