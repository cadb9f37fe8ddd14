"""Drives Docker through its command line, which uses the user's engine, context and Compose."""

import contextlib
import datetime
import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from typing_extensions import override

from lab.engine.clock import SystemClock, wait_until
from lab.engine.driver import Container, Driver, EngineGone, EngineRejected, Stack
from lab.record import write_json_atomic

PROJECT = "tollbooth"
COMMAND_TIMEOUT_S = 120.0
CPU_PERIOD_US = 100_000
NETWORK_BOUND_S = 10.0
NETWORK_EVERY_S = 0.2


class _Unanswered(EngineGone):
    """A command reached its time limit."""


class ComposeDriver(Driver):
    """The `Driver` for real containers. `root` is the folder of `compose.yaml`, `scratch` a folder for the overlay.

    Systems that run at the same time are separate Compose projects.
    """

    recreate: tuple[str, ...] = ("--force-recreate",)

    def __init__(self, root: Path, scratch: Path, project: str = PROJECT) -> None:
        self.root = root
        self.project = project
        self.overlay_path = scratch / "overlay.json"
        self.environment: dict[str, str] = {}
        self.ids: dict[str, str] = {}
        self._label = f"label=com.docker.compose.project={project}"

    @override
    def create(self, stack: Stack) -> None:
        self.environment = dict(stack.environment)
        self.overlay_path.parent.mkdir(parents=True, exist_ok=True)
        write_json_atomic(self.overlay_path, stack.overlay)
        self._compose("up", "--no-start", *self.recreate, "--remove-orphans", *stack.services)
        # Compose creates the named services and their dependencies, not other services of the overlay.
        self.attach()

    def attach(self) -> None:
        """Finds the project's containers, also those that another process created."""
        listed = self._docker(
            "ps",
            "--all",
            "--no-trunc",
            "--filter",
            self._label,
            # Not a command that runs beside a container.
            "--filter",
            "label=com.docker.compose.oneoff=False",
            "--format",
            '{{.ID}} {{.Label "com.docker.compose.service"}}',
        )
        self.ids = {name: id_ for id_, name in (line.split() for line in listed.splitlines())}

    def start(self, services: Sequence[str]) -> None:
        """See `Driver.start`. By id: `docker start` costs a tenth of `docker compose start`."""
        self._docker("start", *(self.ids[name] for name in services))

    @override
    def containers(self) -> dict[str, Container]:
        if not self.ids:
            return {}
        described = json.loads(self._docker("inspect", "--type", "container", *self.ids.values()))
        return {item["Config"]["Labels"]["com.docker.compose.service"]: _container(item) for item in described}

    @override
    def networks(self) -> dict[str, str]:
        return {
            item["Labels"]["com.docker.compose.network"]: config["Subnet"]
            for item in self._described_networks()
            for config in item["IPAM"]["Config"]
            if ":" not in config["Subnet"]
        }

    def published_port(self, service: str, port: int) -> int:
        """See `Driver.published_port`. Read it after each start: the engine may choose another."""
        return int(self._docker("port", self.ids[service], f"{port}/tcp").split()[0].rpartition(":")[2])

    def wait(self, service: str, timeout_s: float) -> int:
        """See `Driver.wait`. `docker wait` blocks in the engine: polling would cost CPU inside the measured window."""
        try:
            return int(self._docker("wait", self.ids[service], timeout_s=timeout_s))
        except _Unanswered:
            raise TimeoutError(f"{service} had not ended after {timeout_s:.0f} s") from None

    @override
    def stop(self, services: Sequence[str]) -> None:
        self._docker("stop", "--time", "5", *(self.ids[name] for name in services))

    @override
    def kill(self, services: Sequence[str]) -> None:
        self._docker("kill", *(self.ids[name] for name in services))

    @override
    def pause(self, service: str) -> None:
        self._docker("pause", self.ids[service])

    @override
    def unpause(self, service: str) -> None:
        self._docker("unpause", self.ids[service])

    def limit_cpus(self, service: str, cpus: float | None) -> None:
        """See `Driver.limit_cpus`. The kernel's scheduler keeps the quota in each period of 100 ms."""
        quota_us = -1 if cpus is None else round(cpus * CPU_PERIOD_US)
        self._docker("update", "--cpu-period", str(CPU_PERIOD_US), "--cpu-quota", str(quota_us), self.ids[service])

    @override
    def disconnect(self, service: str, network: str) -> None:
        self._docker("network", "disconnect", f"{self.project}_{network}", self.ids[service])

    @override
    def connect(self, service: str, network: str, names: Sequence[str]) -> None:
        aliases = [word for name in names for word in ("--alias", name)]
        self._docker("network", "connect", *aliases, f"{self.project}_{network}", self.ids[service])

    @override
    def addresses(self, service: str) -> dict[str, str]:
        shown = self._docker("inspect", "--format", "{{json .NetworkSettings.Networks}}", self.ids[service])
        return {
            name.removeprefix(f"{self.project}_"): endpoint["IPAddress"] for name, endpoint in json.loads(shown).items()
        }

    def run_beside(self, service: str, command: Sequence[str]) -> str:
        """See `Driver.run_beside`. With Compose: compose.yaml has the container's capabilities."""
        namespace = {"NAMESPACE": f"container:{self.ids[service]}"}
        return self._compose("run", "--rm", "--no-deps", "-T", "nettools", *command, environment=namespace)

    @override
    def time_ns(self) -> int:
        time = datetime.datetime.fromisoformat(self._docker("info", "--format", "{{.SystemTime}}").strip())
        return round(time.timestamp() * 1e6) * 1000

    @override
    def save_logs(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        for name in self.ids:
            (folder / f"{name}.log").write_text(self._log(name))

    @override
    def last_log_lines(self, service: str, count: int) -> list[str]:
        return self._log(service, "--tail", str(count)).splitlines()

    def remove(self) -> None:
        """See `Driver.remove`. By label: this includes what a killed run or one with another overlay left.

        An engine may keep a removed container's endpoint in a network, or count one too many, and then rejects the
        network's removal (https://github.com/moby/moby/issues/42119, seen with 20.10). A kept endpoint is disconnected
        by force. A wrong count lasts until the engine restarts: the network stays, is empty, and the next deployment
        of this project uses it.
        """
        if ids := self._docker("ps", "--all", "--quiet", "--filter", self._label).split():
            self._docker("rm", "--force", "--volumes", *ids)
        removed = wait_until(self._networks_removed, NETWORK_BOUND_S, NETWORK_EVERY_S, SystemClock())
        if not removed:
            for network, endpoint in self._kept_endpoints():
                with contextlib.suppress(EngineRejected):
                    self._docker("network", "disconnect", "--force", network, endpoint)
            removed = self._networks_removed()
        if not removed and any(item["Containers"] for item in self._described_networks()):
            raise EngineRejected(
                f"the engine keeps networks of {self.project} in use whose containers it has removed",
                "restart the engine, then continue with --resume",
            )
        self.ids = {}

    def _networks_removed(self) -> bool:
        """Removes them; false if the engine still counts endpoints of containers that it has just removed."""
        if networks := self._docker("network", "ls", "--quiet", "--filter", self._label).split():
            try:
                self._docker("network", "rm", *networks)
            except EngineRejected as error:
                if "active endpoints" not in error.message:
                    raise
                return False
        return True

    def _kept_endpoints(self) -> list[tuple[str, str]]:
        """Network and name of each endpoint in the project's networks whose container is gone."""
        containers = self._docker("ps", "--all", "--quiet", "--no-trunc").split()
        return [
            (item["Name"], endpoint["Name"])
            for item in self._described_networks()
            for id_, endpoint in item["Containers"].items()
            if id_ not in containers
        ]

    def _described_networks(self) -> list[Any]:
        """The engine's description of each of the project's networks."""
        networks = self._docker("network", "ls", "--quiet", "--filter", self._label).split()
        return list(json.loads(self._docker("network", "inspect", *networks))) if networks else []

    def projects(self) -> set[str]:
        """The Compose projects of which the engine has containers or networks, this one and others."""
        listed = (("ps", "--all"), ("network", "ls"))
        of_item = ("--format", '{{.Label "com.docker.compose.project"}}')
        return {name for what in listed for name in self._docker(*what, *of_item).split()}

    def _log(self, service: str, *options: str) -> str:
        try:
            return self._docker("logs", *options, self.ids[service], stderr=subprocess.STDOUT)
        except EngineRejected as rejected:
            # A log that cannot be read is no reason to lose what was measured.
            return f"{rejected.message}\n"

    def _compose(self, *arguments: str, environment: Mapping[str, str] | None = None) -> str:
        return self._docker(
            "compose",
            "--project-directory",
            str(self.root),
            "--file",
            str(self.root / "compose.yaml"),
            "--file",
            str(self.overlay_path),
            *arguments,
            environment=environment,
        )

    def _docker(
        self,
        *arguments: str,
        timeout_s: float = COMMAND_TIMEOUT_S,
        environment: Mapping[str, str] | None = None,
        stderr: int = subprocess.PIPE,
    ) -> str:
        variables = {**os.environ, **self.environment, **(environment or {}), "COMPOSE_PROJECT_NAME": self.project}
        command = ["docker", *arguments]
        try:
            done = subprocess.run(
                command,
                # `compose run` would read the terminal.
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=stderr,
                env=variables,
                check=False,
                timeout=timeout_s,
                start_new_session=True,
            )
        except FileNotFoundError:
            raise EngineGone("docker is not on the PATH", "run `make doctor`") from None
        except subprocess.TimeoutExpired:
            raise _Unanswered(
                f"the engine did not answer `{_short(command)}` in {timeout_s:.0f} s",
                "read the engine's log, restart it, then continue with --resume",
            ) from None
        if done.returncode == 0:
            return done.stdout.decode(errors="replace")
        last = _last_line((done.stderr or done.stdout).decode(errors="replace"))
        if not engine_answers():
            raise EngineGone(f"the Docker engine no longer answers ({last})", "restart it, then continue with --resume")
        raise EngineRejected(f"`{_short(command)}` failed: {last}", "run `make doctor`")


def require_engine() -> None:
    """Raise `EngineGone` if no engine answers."""
    if not engine_answers():
        raise EngineGone("no Docker engine answers", "run `make doctor`")


def engine_answers() -> bool:
    """Whether a Docker engine answers at all."""
    command = ["docker", "version", "--format", "{{.Server.Version}}"]
    with contextlib.suppress(FileNotFoundError, subprocess.TimeoutExpired):
        return subprocess.run(command, capture_output=True, timeout=20, check=False).returncode == 0
    return False


def _container(item: dict[str, Any]) -> Container:
    return Container(
        id=item["Id"],
        name=item["Config"]["Labels"]["com.docker.compose.service"],
        image=item["Image"],
        running=item["State"]["Running"],
        exit_code=item["State"]["ExitCode"],
        restarts=item["RestartCount"],
        oom_killed=item["State"]["OOMKilled"],
    )


def _last_line(text: str) -> str:
    # For several networks or containers, Docker prints each error and then "exit status 1".
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("exit status")]
    return lines[-1] if lines else "no message"


def _short(command: Sequence[str]) -> str:
    return " ".join(word for word in command if "/" not in word and not word.startswith("--"))[:80]
