"""The interface of a container engine. `compose` is the real one; tests have a fake."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from lab.errors import UserError

LAST_LOG_LINES = 8


class EngineGone(UserError):
    """The engine does not answer. Everything measured before is on disk."""

    exit_code = 3


class EngineRejected(UserError):
    """The engine rejected a command; the message has its last line."""

    exit_code = 3


class StartFailed(UserError):
    """A container ended or never became ready; the hint holds its last log lines."""

    exit_code = 4


@dataclass(frozen=True)
class Stack:
    """What to put on the engine: Compose services by name, an overlay, and the variables that `compose.yaml` reads."""

    services: tuple[str, ...]
    overlay: dict[str, object]
    environment: dict[str, str] = field(default_factory=dict)


def literal(environment: Mapping[str, str]) -> dict[str, str]:
    """Return a container's variables as Compose leaves them: it would read a dollar sign as a variable of its own."""
    return {name: value.replace("$", "$$") for name, value in environment.items()}


def with_added(service: Mapping[str, Any], added: Mapping[str, Any]) -> dict[str, Any]:
    """A service with what is added to it; both may give variables."""
    environment = {**service.get("environment", {}), **added.get("environment", {})}
    return {**service, **added, **({"environment": environment} if environment else {})}


@dataclass(frozen=True)
class Container:
    """One container as the engine describes it. `exit_code` is only valid if it is not running."""

    id: str
    name: str
    image: str
    running: bool
    exit_code: int
    restarts: int
    oom_killed: bool


class Driver(Protocol):
    """A container engine, seen from one trial. Names are Compose service names.

    Every method raises `EngineGone` if the engine does not answer, and `EngineRejected` if it rejects the command.
    """

    def create(self, stack: Stack) -> None:
        """Creates networks and containers without starting them; removes those of an earlier run."""

    def start(self, services: Sequence[str]) -> None:
        """Starts created containers; returns at once."""

    def containers(self) -> dict[str, Container]:
        """The current state of every container of the stack."""

    def networks(self) -> dict[str, str]:
        """Subnet (CIDR) by network name."""

    def published_port(self, service: str, port: int) -> int:
        """The port on 127.0.0.1 at which a running container's TCP `port` is published."""

    def wait(self, service: str, timeout_s: float) -> int:
        """Waits until a container ends by itself; returns its exit code.

        Raises `TimeoutError` after `timeout_s`.
        """

    def stop(self, services: Sequence[str]) -> None:
        """Stops containers, and waits until they have ended."""

    def kill(self, services: Sequence[str]) -> None:
        """Kills containers' processes (SIGKILL); `start` restarts them."""

    def pause(self, service: str) -> None:
        """Freezes a container's processes."""

    def unpause(self, service: str) -> None:
        """Resumes a frozen container's processes."""

    def limit_cpus(self, service: str, cpus: float | None) -> None:
        """Limits a container to so many CPUs; None removes the limit."""

    def disconnect(self, service: str, network: str) -> None:
        """Disconnects a running container from a network."""

    def connect(self, service: str, network: str, names: Sequence[str]) -> None:
        """Connects a running container to a network, where it has these names."""

    def addresses(self, service: str) -> dict[str, str]:
        """A running container's IPv4 address by network name."""

    def run_beside(self, service: str, command: Sequence[str]) -> str:
        """Runs a command of image `nettools` in a container's network namespace, which it may change.

        Returns its output.
        """

    def time_ns(self) -> int:
        """The time of the engine and its containers: Unix time in nanoseconds."""

    def save_logs(self, folder: Path) -> None:
        """Writes `<service>.log` for every container."""

    def last_log_lines(self, service: str, count: int) -> list[str]:
        """The end of a container's log."""

    def remove(self) -> None:
        """Removes all containers and networks of the stack. Does nothing if there are none."""


def start_failed(driver: Driver, container: str, what: str) -> StartFailed:
    """Return the error with what a container did, and the end of its log. Raises `EngineGone` without an engine."""
    lines = driver.last_log_lines(container, LAST_LOG_LINES)
    shown = "\n".join(f"  | {line}" for line in lines) or "  (its log is empty)"
    return StartFailed(f"container {container} {what}", f"its last log lines:\n{shown}")
