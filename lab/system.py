"""The system under test on an engine: created, started, and waited for until every part of it is ready."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.backends import BACKENDS, Backend
from lab.clock import Clock, wait_until
from lab.deployment import Place, deployment
from lab.driver import Driver
from lab.errors import UserError
from lab.machine import CpuSplit
from lab.records import read_json
from lab.spec import Level
from lab.topology import Topology
from lab.variants import Telemetry, Variant, chosen

READY_BOUND_S = 180.0
READY_EVERY_S = 0.25
LAST_LOG_LINES = 8
SECOND_NS = 1_000_000_000


class StartFailed(UserError):
    """A container ended or never became ready; the hint holds its last log lines."""

    exit_code = 4


@dataclass(frozen=True)
class System:
    """What a deployment stands on: topology with its file, telemetry variants, CPUs, engine, clock."""

    root: Path
    topology: Topology
    topology_path: Path
    variants: Mapping[str, Variant]
    cpus: CpuSplit
    driver: Driver
    clock: Clock

    def telemetry(self, level: Level) -> Telemetry:
        """How `level` watches the services."""
        return chosen(self.variants[level.telemetry], level.backend, level.traces, level.environment)

    def backend(self, level: Level) -> Backend:
        """Where the telemetry of `level` goes."""
        return BACKENDS[self.telemetry(level).backend]()

    def create(self, level: Level, out: Path, variables: Mapping[str, str], instruments: tuple[str, ...] = ()) -> None:
        """Makes the containers of `level`, which write to `out`, and of `instruments`; starts none."""
        for folder in (out, out / "ready"):
            folder.mkdir(parents=True)
            # Containers run as a user of their own.
            folder.chmod(0o777)
        place = Place(self.root, self.topology_path, out)
        telemetry = self.telemetry(level)
        for name, text in self.backend(level).files(self.topology.nodes, telemetry.environment).items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.driver.create(deployment(telemetry, self.topology, self.cpus, place, variables, instruments))

    def start(self, backend: Backend, out: Path, instruments: tuple[str, ...] = ()) -> dict[str, float]:
        """Starts what was created and waits until it is ready; returns each node's start-up time in seconds.

        Raises `StartFailed` as soon as a container ended, or when `READY_BOUND_S` have passed.
        """
        parts = (*backend.services, *self.topology.nodes)
        self.driver.start((*instruments, *parts))
        if not wait_until(lambda: self._ready(backend, out, parts), READY_BOUND_S, READY_EVERY_S, self.clock):
            late = next((node for node in self.topology.nodes if not _file(out, node).exists()), parts[0])
            raise self.failed(late, f"was not ready after {READY_BOUND_S:.0f} s")
        return {node: _startup_s(_file(out, node)) for node in self.topology.nodes}

    def failed(self, container: str, what: str) -> StartFailed:
        """The error that says what a container did, and shows the end of its log."""
        lines = self.driver.last_log_lines(container, LAST_LOG_LINES)
        shown = "\n".join(f"  | {line}" for line in lines) or "  (its log is empty)"
        return StartFailed(f"container {container} {what}", f"its last log lines:\n{shown}")

    def _ready(self, backend: Backend, out: Path, parts: Sequence[str]) -> bool:
        for name, container in self.driver.containers().items():
            if name in parts and not container.running:
                raise self.failed(name, f"ended with exit code {container.exit_code} instead of becoming ready")
        return all(_file(out, node).exists() for node in self.topology.nodes) and backend.ready()


def _file(out: Path, node: str) -> Path:
    return out / "ready" / f"{node}.json"


def _startup_s(path: Path) -> float:
    ready = read_json(path, "tollbooth.ready", 1)
    return float((ready["spring_ready_ns"] - ready["process_start_ns"]) / SECOND_NS)
