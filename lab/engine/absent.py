"""The engine of a target without containers."""

import time
from collections.abc import Sequence
from pathlib import Path

from lab.engine.driver import Container, EngineRefused, Stack


class AbsentDriver:
    """The `Driver` for no engine: it has no containers, and rejects what would need one."""

    def create(self, stack: Stack) -> None:
        """See `Driver.create`."""
        self._reject(stack.services)

    def start(self, services: Sequence[str]) -> None:
        """See `Driver.start`."""
        self._reject(services)

    def containers(self) -> dict[str, Container]:
        """See `Driver.containers`."""
        return {}

    def networks(self) -> dict[str, str]:
        """See `Driver.networks`."""
        return {}

    def published_port(self, service: str, port: int) -> int:
        """See `Driver.published_port`."""
        raise _refused(service)

    def wait(self, service: str, timeout_s: float) -> int:
        """See `Driver.wait`."""
        raise _refused(service)

    def stop(self, services: Sequence[str]) -> None:
        """See `Driver.stop`."""
        self._reject(services)

    def kill(self, services: Sequence[str]) -> None:
        """See `Driver.kill`."""
        self._reject(services)

    def pause(self, service: str) -> None:
        """See `Driver.pause`."""
        raise _refused(service)

    def unpause(self, service: str) -> None:
        """See `Driver.unpause`."""
        raise _refused(service)

    def limit_cpus(self, service: str, cpus: float | None) -> None:
        """See `Driver.limit_cpus`."""
        raise _refused(service)

    def disconnect(self, service: str, network: str) -> None:
        """See `Driver.disconnect`."""
        raise _refused(service)

    def connect(self, service: str, network: str) -> None:
        """See `Driver.connect`."""
        raise _refused(service)

    def addresses(self, service: str) -> dict[str, str]:
        """See `Driver.addresses`."""
        raise _refused(service)

    def run_beside(self, service: str, command: Sequence[str]) -> str:
        """See `Driver.run_beside`."""
        raise _refused(service)

    def time_ns(self) -> int:
        """See `Driver.time_ns`."""
        return time.time_ns()

    def save_logs(self, folder: Path) -> None:
        """See `Driver.save_logs`."""

    def last_log_lines(self, service: str, count: int) -> list[str]:
        """See `Driver.last_log_lines`."""
        return []

    def remove(self) -> None:
        """See `Driver.remove`."""

    def _reject(self, services: Sequence[str]) -> None:
        if services:
            raise _refused(", ".join(services))


def _refused(services: str) -> EngineRefused:
    return EngineRefused(f"no engine runs {services}", "the target declares no containers")
