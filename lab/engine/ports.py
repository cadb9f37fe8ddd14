"""The ports that `compose.yaml` publishes on 127.0.0.1, read from that file."""

import os
import re
import socket
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lab.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = re.compile(r"^127\.0\.0\.1:\$\{(?P<variable>[A-Z_]+):-(?P<default>\d+)\}:(?P<inside>\d+)$")


def published(compose: str, environment: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Compose service -> variable -> port number, from the text of `compose.yaml`; variables override defaults."""
    entries = [
        (name, match["variable"], number(match["variable"], match["default"], environment))
        for name, match in _entries(compose)
    ]
    return {name: {variable: port for owner, variable, port in entries if owner == name} for name in _services(compose)}


def engines_choice() -> dict[str, str]:
    """The variables with which the engine chooses every port: for systems that run at the same time."""
    return {match["variable"]: "0" for _, match in _entries(_compose())}


def chosen(services: Iterable[str], published_port: Callable[[str, int], int]) -> Callable[[str], int]:
    """`port` for `services` whose ports the engine chose; `published_port` is `Driver.published_port`."""
    wanted = set(services)
    inside = {match["variable"]: (name, int(match["inside"])) for name, match in _entries(_compose()) if name in wanted}
    return lambda variable: published_port(*inside[variable])


def port(variable: str) -> int:
    """The number of a port variable."""
    return next(ports[variable] for ports in published(_compose(), os.environ).values() if variable in ports)


def of(services: Iterable[str]) -> dict[str, int]:
    """Returns the ports that `services` publish, by their variables."""
    by_service = published(_compose(), os.environ)
    return {variable: number for service in services for variable, number in by_service.get(service, {}).items()}


def require_free(services: Iterable[str], held_by: Iterable[str] = ()) -> None:
    """Raises `UserError` with the first port of `services` that a program uses, other than the services `held_by`."""
    by_service = published(_compose(), os.environ)
    held = set(of(held_by).values())
    for service in services:
        for variable, number in by_service.get(service, {}).items():
            if number not in held and not _free(number):
                raise UserError(
                    f"port {number} on 127.0.0.1, wanted for {service}, is in use",
                    f"stop what listens there, or choose another: {variable}=<port> make ...",
                )


def _compose() -> str:
    return (ROOT / "compose.yaml").read_text()


# Reading takes tens of milliseconds, and a system that starts is looked at several times per second.
@cache
def _services(compose: str) -> Mapping[str, Mapping[str, Any]]:
    """What a `compose.yaml` says of each service."""
    return dict(yaml.safe_load(compose)["services"])


def _entries(compose: str) -> Sequence[tuple[str, re.Match[str]]]:
    """Each service's ports that a variable sets."""
    return [
        (name, match)
        for name, service in _services(compose).items()
        for entry in service.get("ports", [])
        if (match := PUBLISHED.match(entry))
    ]


def number(variable: str, default: str, environment: Mapping[str, str]) -> int:
    """Return the port that a variable sets. Raises `UserError` for one that is no port."""
    text = environment.get(variable) or default
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise UserError(f"{variable}={text} is not a port", "give a number from 1 to 65535")
    return int(text)


def _free(number: int) -> bool:
    with socket.socket() as probe:
        # A port in state TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError:
            return False
    return True
