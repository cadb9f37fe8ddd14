"""The system under test on an engine: created, started, and waited for until every part of it is ready."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from lab.backend import BACKENDS, Backend
from lab.engine import ports
from lab.engine.clock import Clock, wait_until
from lab.engine.driver import Driver
from lab.engine.machine import CpuSplit
from lab.errors import UserError
from lab.record.records import read_json
from lab.spec.experiment import Level
from lab.target.mesh import sidecars
from lab.target.mesh.deployment import Place, deployment
from lab.target.mesh.sidecars import ADMIN_PORT, Admin, Mode, sidecar
from lab.target.mesh.topology import Topology
from lab.target.mesh.variants import Telemetry, Variant, chosen

READY_BOUND_S = 180.0
READY_EVERY_S = 0.25
LAST_LOG_LINES = 8
SECOND_NS = 1_000_000_000


class StartFailed(UserError):
    """A container ended or never became ready; the hint holds its last log lines."""

    exit_code = 4


@dataclass(frozen=True)
class System:
    """What a deployment stands on: topology with its file, telemetry variants, sidecars' parts, CPUs, engine, clock.

    `journal` is the file that says which faults are in force. `alone`: it has the ports that `compose.yaml` names; else
    the engine chooses them, as other systems stand at the same time.
    """

    root: Path
    topology: Topology
    topology_path: Path
    variants: Mapping[str, Variant]
    envoy: sidecars.Source
    cpus: CpuSplit
    driver: Driver
    clock: Clock
    journal: Path
    alone: bool = True

    def telemetry(self, level: Level) -> Telemetry:
        """How `level` watches the services."""
        return chosen(self.variants[level.telemetry], level.backend, level.traces, level.environment)

    def backend(self, level: Level) -> Backend:
        """Where the telemetry of `level` goes."""
        kind = BACKENDS[self.telemetry(level).backend]
        return kind(ports.port if self.alone else ports.chosen(kind.services, self.driver.published_port))

    def mode(self, level: Level) -> Mode:
        """What the sidecars of `level` do."""
        return sidecars.parse_mode(level.sidecar, self.envoy.patterns)

    def sidecars(self, level: Level) -> dict[str, str]:
        """The Compose service of each node's sidecar at `level`, by node; none where it has no sidecars."""
        return {node: sidecar(node) for node in self.topology.nodes} if self.mode(level).proxied else {}

    def proxy_files(self, level: Level) -> dict[str, str]:
        """The configuration of each sidecar of `level`: path within a trial's folder -> text."""
        if not self.mode(level).proxied:
            return {}
        nodes = sidecars.nodes(self.topology).values()
        faults = any(fault.needs_sidecar for fault in level.faults)
        return sidecars.files(self.envoy, nodes, self.mode(level), level.sidecar_side, faults)

    def create(self, level: Level, out: Path, variables: Mapping[str, str], instruments: tuple[str, ...] = ()) -> None:
        """Makes the containers of `level`, which write to `out`, and of `instruments`; starts none."""
        for folder in (out, out / "ready"):
            folder.mkdir(parents=True)
            # Containers run as a user of their own.
            folder.chmod(0o777)
        place = Place(self.root, self.topology_path, out)
        telemetry = self.telemetry(level)
        if level.faults:
            telemetry = replace(telemetry, environment={**telemetry.environment, "WATCH_FAULTS": "1"})
        _write(out, self.backend(level).files(self.topology.nodes, telemetry.environment))
        added: dict[str, dict[str, object]] = {}
        if proxy_files := self.proxy_files(level):
            _write(out, proxy_files)
            for node in sidecars.nodes(self.topology).values():
                added |= sidecars.overlay(node, level.sidecar_side, self.root)
        if not self.alone:
            variables = {**variables, **ports.engines_choice()}
        self.driver.create(deployment(telemetry, self.topology, self.cpus, place, variables, instruments, added))

    def start(self, level: Level, out: Path, instruments: tuple[str, ...] = ()) -> dict[str, float]:
        """Starts what was created and waits until it is ready; returns each node's start-up time in seconds.

        Raises `StartFailed` as soon as a container ended, or when `READY_BOUND_S` have passed.
        """
        backend = self.backend(level)
        self.driver.start((*instruments, *backend.services, *self.topology.nodes))
        # Each in the network namespace of its node, which has to be there.
        if proxies := self.sidecars(level):
            self.driver.start(tuple(proxies.values()))
        parts = (*backend.services, *self.topology.nodes, *proxies.values())
        if not wait_until(lambda: self._ready(level, backend, out, parts), READY_BOUND_S, READY_EVERY_S, self.clock):
            late = next((node for node in self.topology.nodes if not _file(out, node).exists()), parts[-1])
            raise self.failed(late, f"was not ready after {READY_BOUND_S:.0f} s")
        return {node: _startup_s(_file(out, node)) for node in self.topology.nodes}

    def failed(self, container: str, what: str) -> StartFailed:
        """The error that says what a container did, and shows the end of its log."""
        lines = self.driver.last_log_lines(container, LAST_LOG_LINES)
        shown = "\n".join(f"  | {line}" for line in lines) or "  (its log is empty)"
        return StartFailed(f"container {container} {what}", f"its last log lines:\n{shown}")

    def admins(self, nodes: Iterable[str]) -> dict[str, Admin]:
        """The administration page of each node's running sidecar, by the sidecar's Compose service."""
        return {sidecar(node): Admin(self.driver.published_port(node, ADMIN_PORT)) for node in nodes}

    def _ready(self, level: Level, backend: Backend, out: Path, parts: Sequence[str]) -> bool:
        for name, container in self.driver.containers().items():
            if name in parts and not container.running:
                raise self.failed(name, f"ended with exit code {container.exit_code} instead of becoming ready")
        if not all(_file(out, node).exists() for node in self.topology.nodes) or not backend.ready():
            return False
        return all(admin.ready() for admin in self.admins(self.sidecars(level)).values())


def _write(out: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def _file(out: Path, node: str) -> Path:
    return out / "ready" / f"{node}.json"


def _startup_s(path: Path) -> float:
    ready = read_json(path, "tollbooth.ready", 1)
    return float((ready["spring_ready_ns"] - ready["process_start_ns"]) / SECOND_NS)
