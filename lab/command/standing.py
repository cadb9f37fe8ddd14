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


class Standing(Record):
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


def read() -> Standing | None:
    """Return what stands; None if nothing does. Raises `UserError` for the record of another version."""
    if not PATH.exists():
        return None
    try:
        return Standing.model_validate(read_json(PATH, FORMAT, VERSION))
    except (UserError, ValidationError):
        raise UserError("another version of the lab started what stands", "stop it first: make down") from None


def write(standing: Standing) -> None:
    """Records what stands."""
    PATH.parent.mkdir(exist_ok=True)
    write_json_atomic(PATH, {"format": FORMAT, "version": VERSION, **standing.model_dump(mode="json")})


def new(spec: Mapping[str, Any]) -> Standing:
    """Return a system that is about to start."""
    return Standing(id=os.urandom(8).hex(), spec=spec)


def forget() -> None:
    """Records that nothing stands."""
    PATH.unlink(missing_ok=True)


def is_current(id_: str, now_s: float) -> bool:
    """Whether the system of this id stands, and its faults have not expired."""
    with contextlib.suppress(UserError):
        standing = read()
        return standing is not None and standing.id == id_ and now_s < standing.fault_until_s
    return False


def runs() -> bool:
    """Whether a container of a system runs that this checkout started, or another one: their names are the same."""
    return KeepingDriver(ROOT, SCRATCH).stands()


def reject_beside() -> None:
    """Raises `UserError` if a system runs; forgets one whose containers have ended, such as by a reboot."""
    if runs():
        raise UserError("a system that `make up` started is running", "stop it first: make down")
    forget()
