"""Images of the Docker engine, with the `docker` command."""

import json
import os
import subprocess
import threading
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from lab.engine.image_recipes import DIGEST_LABEL
from lab.errors import UserError

REGISTRY_ANSWERS_WITHIN_S = 20.0
PULL_BOUND_S = 900.0
LAST_LOG_LINES = 12
# BuildKit, which older engines do not use by default. Only the engine's builder sees local images.
BUILD_ENVIRONMENT = {**os.environ, "DOCKER_BUILDKIT": "1", "BUILDX_BUILDER": "default"}


class ImageEngine:
    """The engine that the `docker` command talks to."""

    def __init__(self) -> None:
        self._builds: set[subprocess.Popen[bytes]] = set()
        self._cancelled = False
        self._lock = threading.Lock()

    def digests(self, references: Iterable[str]) -> dict[str, str]:
        """The digest label of each image that is present; "" if it has none."""
        return {
            tag: (labels or {}).get(DIGEST_LABEL, "")
            for tag, labels in inspect(references, "{{json .Config.Labels}}").items()
        }

    def pull(self, official: str, reference: str) -> bool:
        """Pulls `official` and tags it `reference`; False if no registry provides it."""
        command = ["docker", "pull", official]
        # The first line comes as soon as the registry has answered.
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as pull:
            assert pull.stdout is not None
            _bounded(pull, REGISTRY_ANSWERS_WITHIN_S, pull.stdout.readline)
            _bounded(pull, PULL_BOUND_S, pull.stdout.read)
        if pull.returncode == 0:
            subprocess.run(["docker", "tag", official, reference], check=True)
        return pull.returncode == 0

    def build(self, name: str, command: list[str], log: Path) -> None:
        """Runs a build; raises `UserError` with the log's last lines."""
        with log.open("wb") as out:
            # In one step: no build may start between a cancellation and the end of the others.
            with self._lock:
                if self._cancelled:
                    raise UserError(f"the image {name} was not built", "another one failed first")
                build = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, env=BUILD_ENVIRONMENT)
                self._builds.add(build)
            build.wait()
        self._builds.discard(build)
        if build.returncode != 0:
            last = log.read_text(errors="replace").splitlines()[-LAST_LOG_LINES:]
            raise UserError(f"the image {name} could not be built", "\n".join([f"{log} ends:", *last]))

    def cancel(self) -> None:
        """Stops the running builds."""
        with self._lock:
            self._cancelled = True
            for build in list(self._builds):
                build.terminate()


def image_ids(references: Iterable[str]) -> dict[str, str]:
    """The id (`sha256:...`) of each present image by its reference."""
    return inspect(references, "{{json .Id}}")


def _bounded(process: subprocess.Popen[str], bound_s: float, read: Callable[[], str]) -> None:
    patience = threading.Timer(bound_s, process.kill)
    patience.start()
    try:
        read()
    finally:
        # Also after Ctrl-C: the process would wait for the timer.
        patience.cancel()


def inspect(references: Iterable[str], field: str) -> dict[str, Any]:
    """A field of each present image, by each of its references."""
    # Images that are not there make the command fail; it prints the others all the same, or an empty line for none.
    command = ["docker", "image", "inspect", "--format", f"{{{{json .RepoTags}}}} {field}", *references]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    described = (line.split(" ", 1) for line in done.stdout.splitlines() if line)
    return {tag: json.loads(value) for tags, value in described for tag in json.loads(tags)}
