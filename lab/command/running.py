"""The system that `lab up` started, on record from before its first container until it is taken down."""

import contextlib
import os
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

from lab.command.paths import ROOT, SCRATCH
from lab.engine.keeping import KeepingDriver
from lab.errors import UserError
from lab.record import Record, read_json, write_json_atomic

FORMAT, VERSION = "tollbooth.up", 1
PATH = SCRATCH / "up.json"


class Running(Record):
    """A system that was requested. `spec` is what was chosen, as a manifest has it.

    `ready`: it was complete once; until then, a start or a change goes on, or was broken off. `services`: its
    containers; `ports`: theirs, by variable. `fault_until_s`: when the faults in `spec` end, in Unix seconds.
    """

    id: str
    spec: Mapping[str, Any]
    ready: bool = False
    services: tuple[str, ...] = ()
    ports: Mapping[str, int] = {}
    fault_until_s: float = 0.0


def read() -> Running | None:
    """Return the running system; None without one. Raises `UserError` for the record of another version."""
    if not PATH.exists():
        return None
    try:
        return Running.model_validate(read_json(PATH, FORMAT, VERSION))
    except (UserError, ValidationError):
        raise UserError("another version of the lab started the running system", "stop it first: make down") from None


def write(running: Running) -> None:
    """Records the running system."""
    PATH.parent.mkdir(exist_ok=True)
    write_json_atomic(PATH, {"format": FORMAT, "version": VERSION, **running.model_dump(mode="json")})


def new(spec: Mapping[str, Any]) -> Running:
    """Return a system that is about to start."""
    return Running(id=os.urandom(8).hex(), spec=spec)


def forget() -> None:
    """Records that no system runs."""
    PATH.unlink(missing_ok=True)


def is_current(id_: str, now_s: float) -> bool:
    """Whether the system of this id runs, and its faults have not expired."""
    with contextlib.suppress(UserError):
        now = read()
        return now is not None and now.id == id_ and now_s < now.fault_until_s
    return False


def has_containers() -> bool:
    """Whether a container of a system runs that this checkout started, or another one: their names are the same."""
    return KeepingDriver(ROOT, SCRATCH).is_running()


def reject_beside() -> None:
    """Raises `UserError` if a system runs; forgets one whose containers have ended, such as by a reboot."""
    if has_containers():
        raise UserError("a system that `make up` started is running", "stop it first: make down")
    forget()
