"""A driver that changes a running system: containers that are as wanted stay, and run on."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import yaml

from lab.engine.compose import ComposeDriver
from lab.engine.driver import Stack

# What is below the folder of a start, as compose.yaml and overlays write it.
MOUNTED = re.compile(r"^\$\{TRIAL_DIR[^}]*\}/(?P<path>[^:]+):")
LABEL = "org.tollbooth.files"
# On each container of a system that stands, whichever checkout started it.
STANDS = "org.tollbooth.stands"


class KeepingDriver(ComposeDriver):
    """A `ComposeDriver` whose `create` keeps what another process created, where it is as in the stack."""

    recreate = ()

    def create(self, stack: Stack) -> None:
        """See `Driver.create`. What the stack does not have is removed first: its ports may be wanted."""
        self.attach()
        if gone := [id_ for name, id_ in self.ids.items() if name not in stack.services]:
            self._docker("rm", "--force", "--volumes", *gone)
        compose = yaml.safe_load((self.root / "compose.yaml").read_text())["services"]
        out = Path(stack.environment["TRIAL_DIR"])
        super().create(labelled(stack, compose, lambda path: _digest(out / path)))

    def stands(self) -> bool:
        """Whether a container runs that such a driver created."""
        return bool(self._docker("ps", "--quiet", "--filter", self._label, "--filter", f"label={STANDS}").split())


def labelled(stack: Stack, compose: Mapping[str, Any], digest: Callable[[str], str]) -> Stack:
    """Return the stack with labels on each container: that it stands, and the digests of the start's files it reads.

    Compose recreates a container whose configuration has changed, and does not look into files. `compose` is what
    compose.yaml says of each service; `digest` returns that of a file, "" for a folder. Pure.
    """
    services = dict(cast(Mapping[str, Any], stack.overlay["services"]))
    for name in stack.services:
        own = services.get(name, {})
        of_kind = compose.get(own.get("extends", {}).get("service", name), {})
        digests = (digest(path) for path in _mounted(of_kind, own))
        services[name] = {**own, "labels": {STANDS: "yes", LABEL: " ".join(filter(None, digests))}}
    return replace(stack, overlay={**stack.overlay, "services": services})


def _mounted(*described: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths below the start's folder that a container's descriptions mount."""
    for service in described:
        for volume in service.get("volumes", ()):
            if found := MOUNTED.match(volume):
                yield found["path"]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
