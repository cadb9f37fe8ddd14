"""What a trial needs of a container engine. `compose` drives the real one; the tests bring a fake."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from lab.errors import UserError


class EngineGone(UserError):
    """The engine stopped answering. Whatever was measured before is on the disk."""

    exit_code = 3


class EngineRefused(UserError):
    """The engine answered, and said no to one command; the message carries its last line."""

    exit_code = 3


@dataclass(frozen=True)
class Stack:
    """What to put on the engine: Compose services by name, an overlay, and the variables that `compose.yaml` reads."""

    services: tuple[str, ...]
    overlay: dict[str, object]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Container:
    """One container as the engine describes it. `running` is false once it ended; `exit_code` counts only then."""

    id: str
    name: str
    image: str
    running: bool
    exit_code: int
    restarts: int
    oom_killed: bool


class Driver(Protocol):
    """A container engine, seen from one trial. Names are Compose service names.

    Every method raises `EngineGone` where the engine does not answer and `EngineRefused` where it says no.
    """

    def create(self, stack: Stack) -> None:
        """Makes networks and containers, started none, removing what an earlier run left."""

    def start(self, services: Sequence[str]) -> None:
        """Starts created containers; returns at once."""

    def containers(self) -> dict[str, Container]:
        """Every container of the deployment, as it is now."""

    def networks(self) -> dict[str, str]:
        """Subnet (CIDR) by network name."""

    def published_port(self, service: str, port: int) -> int:
        """The port on 127.0.0.1 where a running container's TCP `port` is published."""

    def wait(self, service: str, timeout_s: float) -> int:
        """Waits until a container ended by itself, and returns its exit code.

        Raises `TimeoutError` after `timeout_s`.
        """

    def stop(self, services: Sequence[str]) -> None:
        """Asks containers to end, and waits until they have."""

    def kill(self, services: Sequence[str]) -> None:
        """Ends containers' processes at once (SIGKILL); `start` begins them anew."""

    def pause(self, service: str) -> None:
        """Freezes a container's processes."""

    def unpause(self, service: str) -> None:
        """Lets a frozen container's processes go on."""

    def limit_cpus(self, service: str, cpus: float | None) -> None:
        """Lets a container use no more than so many CPUs from now on; None: as many as there are."""

    def disconnect(self, service: str, network: str) -> None:
        """Takes a running container off a network."""

    def connect(self, service: str, network: str) -> None:
        """Puts a running container on a network, where others find it under its own name."""

    def addresses(self, service: str) -> dict[str, str]:
        """A running container's IPv4 address by network name."""

    def run_beside(self, service: str, command: Sequence[str]) -> str:
        """Runs a command of image `nettools` in a container's network namespace, which it may change.

        Returns what it printed.
        """

    def time_ns(self) -> int:
        """The engine's clock, which its containers share: Unix time in nanoseconds."""

    def save_logs(self, folder: Path) -> None:
        """Writes `<service>.log` for every container."""

    def last_log_lines(self, service: str, count: int) -> list[str]:
        """The end of a container's log."""

    def remove(self) -> None:
        """Takes away all of the lab's containers and networks. Does nothing where there are none."""
