"""The ports that `compose.yaml` publishes on 127.0.0.1: read there, so that they stand in one place."""

import os
import re
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import yaml

from lab.errors import UserError

ROOT = Path(__file__).resolve().parents[2]
PUBLISHED = re.compile(r"^127\.0\.0\.1:\$\{(?P<variable>[A-Z_]+):-(?P<default>\d+)\}:(?P<inside>\d+)$")


def published(compose: str, environment: Mapping[str, str]) -> dict[str, dict[str, int]]:
    """Compose service -> variable -> port number, from the text of `compose.yaml`; variables override defaults."""
    found: dict[str, dict[str, int]] = {name: {} for name in yaml.safe_load(compose)["services"]}
    for name, match in _entries(compose):
        found[name][match["variable"]] = _number(match, environment)
    return found


def engines_choice() -> dict[str, str]:
    """The variables by which the engine chooses every port: for a system that stands beside another."""
    return {match["variable"]: "0" for _, match in _entries(_compose())}


def chosen(services: Iterable[str], published_port: Callable[[str, int], int]) -> Callable[[str], int]:
    """What `port` is where the engine chose: of `services`, asking `published_port` (`Driver.published_port`)."""
    wanted = set(services)
    inside = {match["variable"]: (name, int(match["inside"])) for name, match in _entries(_compose()) if name in wanted}
    return lambda variable: published_port(*inside[variable])


def port(variable: str) -> int:
    """The number behind one port variable, as it is now."""
    by_service = published(_compose(), os.environ)
    return next(ports[variable] for ports in by_service.values() if variable in ports)


def refuse_busy(services: Iterable[str]) -> None:
    """Raises `UserError` naming the first port of `services` that something else on this machine holds."""
    by_service = published(_compose(), os.environ)
    for service in services:
        for variable, number in by_service.get(service, {}).items():
            if not _free(number):
                raise UserError(
                    f"port {number} on 127.0.0.1, wanted for {service}, is in use",
                    f"stop what listens there, or choose another: {variable}=<port> make ...",
                )


def _compose() -> str:
    return (ROOT / "compose.yaml").read_text()


def _entries(compose: str) -> Iterator[tuple[str, re.Match[str]]]:
    """Each service's ports that a variable gives."""
    for name, service in yaml.safe_load(compose)["services"].items():
        for entry in service.get("ports", []):
            if match := PUBLISHED.match(entry):
                yield name, match


def _number(match: re.Match[str], environment: Mapping[str, str]) -> int:
    text = environment.get(match["variable"]) or match["default"]
    if not text.isdecimal() or not 0 < int(text) < 65536:
        raise UserError(f"{match['variable']}={text} is not a port", "give a number from 1 to 65535")
    return int(text)


def _free(number: int) -> bool:
    with socket.socket() as probe:
        # A port that is merely in TIME_WAIT is free.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", number))
        except OSError:
            return False
    return True
