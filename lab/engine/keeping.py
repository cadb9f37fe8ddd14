"""A driver that changes a running system: containers that are as wanted stay, and run on."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import yaml

from lab.engine.compose import ComposeDriver
from lab.engine.driver import Stack, with_added

# What is below the folder of a start, as compose.yaml and overlays write it.
MOUNTED = re.compile(r"^\$\{TRIAL_DIR[^}]*\}/(?P<path>[^:]+):")
LABEL = "org.tollbooth.files"
# On each container that `lab up` started, from whichever checkout.
BY_UP = "org.tollbooth.stands"
# A service of compose.yaml in front of the one whose name it has before this.
GUARD = "-guard"
# What a guard says of the service behind it: it leaves its port to the guard, or gets a page.
BEHIND = "x-behind"
GUARD_IMAGE = "envoy"


class KeepingDriver(ComposeDriver):
    """A `ComposeDriver` whose `create` keeps what another process created, where it is as in the stack."""

    recreate = ()

    def create(self, stack: Stack) -> None:
        """See `Driver.create`. What the stack does not have is removed first: its ports may be wanted."""
        self.attach()
        if gone := [id_ for name, id_ in self.ids.items() if name.removesuffix(GUARD) not in stack.services]:
            self._docker("rm", "--force", "--volumes", *gone)
        compose, out = self._compose_services(), Path(stack.environment["TRIAL_DIR"])
        super().create(labelled(with_guards(stack, compose), compose, lambda path: _digest(out / path)))

    def start(self, services: Sequence[str]) -> None:
        """See `Driver.start`. A guard has the network namespace of the container behind it, which has to run."""
        super().start(services)
        if guards := [name + GUARD for name in services if name + GUARD in self.ids]:
            super().start(guards)

    def guarded_pages(self) -> list[str]:
        """Return the addresses of pages that a container only has behind a guard, each with its name."""
        compose = self._compose_services()
        pages = (
            (name, int(entry.rpartition(":")[2]))
            for name in self.ids
            if name + GUARD in self.ids
            for entry in compose[name + GUARD][BEHIND].get("ports", ())
        )
        return [f"http://127.0.0.1:{self.published_port(name, inside)}/ ({name})" for name, inside in pages]

    def _compose_services(self) -> Mapping[str, Any]:
        return cast(Mapping[str, Any], yaml.safe_load((self.root / "compose.yaml").read_text())["services"])

    def is_running(self) -> bool:
        """Whether a container runs that such a driver created."""
        return bool(self._docker("ps", "--quiet", "--filter", self._label, "--filter", f"label={BY_UP}").split())


def with_guards(stack: Stack, compose: Mapping[str, Any]) -> Stack:
    """Return the stack with the guards of its services: pages of other sites may at most read what they publish.

    `compose` is what compose.yaml says of each service. Pure.
    """
    services = dict(cast(Mapping[str, Any], stack.overlay["services"]))
    guarded = [name for name in stack.services if name + GUARD in compose]
    for name in guarded:
        services[name] = with_added(services.get(name, {}), compose[name + GUARD][BEHIND])
    guards = (name + GUARD for name in guarded)
    return replace(stack, services=(*stack.services, *guards), overlay={**stack.overlay, "services": services})


def labelled(stack: Stack, compose: Mapping[str, Any], digest: Callable[[str], str]) -> Stack:
    """Return the stack with labels on each container: `BY_UP`, and the digests of the start's files that it reads.

    Compose recreates a container whose configuration has changed, and does not look into files. `compose` is what
    compose.yaml says of each service; `digest` returns that of a file, "" for a folder. Pure.
    """
    services = dict(cast(Mapping[str, Any], stack.overlay["services"]))
    for name in stack.services:
        own = services.get(name, {})
        of_kind = compose.get(own.get("extends", {}).get("service", name), {})
        digests = (digest(path) for path in _mounted(of_kind, own))
        services[name] = {**own, "labels": {BY_UP: "yes", LABEL: " ".join(filter(None, digests))}}
    return replace(stack, overlay={**stack.overlay, "services": services})


def _mounted(*described: Mapping[str, Any]) -> Iterator[str]:
    """Yield the paths below the start's folder that a container's descriptions mount."""
    for service in described:
        for volume in service.get("volumes", ()):
            if found := MOUNTED.match(volume):
                yield found["path"]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
