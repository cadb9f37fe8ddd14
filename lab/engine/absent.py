"""The engine of a target without containers."""

import time
from pathlib import Path
from typing import Any

from lab.engine.driver import Container, EngineRejected, Stack


class AbsentDriver:
    """The `Driver` for no engine: it has no containers, and rejects every command for one."""

    def containers(self) -> dict[str, Container]:
        """See `Driver.containers`."""
        return {}

    def networks(self) -> dict[str, str]:
        """See `Driver.networks`."""
        return {}

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

    def _reject(self, *arguments: Any, **_options: Any) -> Any:
        """Each command's first argument says for which services it is."""
        named = arguments[0].services if isinstance(arguments[0], Stack) else arguments[0]
        services = named if isinstance(named, str) else ", ".join(named)
        raise EngineRejected(f"no engine runs {services}", "the target declares no containers")

    create = start = stop = kill = pause = unpause = _reject
    published_port = addresses = wait = run_beside = limit_cpus = connect = disconnect = _reject
