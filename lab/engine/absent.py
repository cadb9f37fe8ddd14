"""The engine of a target without containers."""

import time
from pathlib import Path
from typing import Any

from typing_extensions import override

from lab.engine.driver import Container, Driver, EngineRejected, Stack


class AbsentDriver(Driver):
    """The `Driver` for no engine: it has no containers, and rejects every command for one."""

    @override
    def containers(self) -> dict[str, Container]:
        return {}

    @override
    def networks(self) -> dict[str, str]:
        return {}

    @override
    def time_ns(self) -> int:
        return time.time_ns()

    @override
    def last_log_lines(self, service: str, count: int) -> list[str]:
        return []

    def _nothing(self, folder: Path | None = None) -> None:
        """There are no containers to do it with."""

    def _reject(self, *arguments: Any, **_options: Any) -> Any:
        """Each command's first argument says for which services it is."""
        named = arguments[0].services if isinstance(arguments[0], Stack) else arguments[0]
        services = named if isinstance(named, str) else ", ".join(named)
        raise EngineRejected(f"no engine runs {services}", "the target declares no containers")

    save_logs = remove = _nothing
    create = start = stop = kill = pause = unpause = _reject
    published_port = addresses = wait = run_beside = limit_cpus = connect = disconnect = _reject
