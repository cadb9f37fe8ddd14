"""`faults.jsonl`: what was done to a trial's system, and when (format: docs/reference/formats.md).

It needs no other record's reader: `lab.record` may read it as a part of a trial.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from lab.errors import UserError
from lab.record.files import VERSION_HINT, read_text

FORMAT, VERSION = "tollbooth.faults", 1

Seen = Mapping[str, int | float | str]
"""What an action saw of the data path: counters of the target or of its proxy, addresses."""

ENDED = "ended"
"""What `seen` calls the containers whose processes were killed."""


@dataclass(frozen=True)
class Action:
    """One thing that was done: from `begin_ns` to `end_ns` of the containers' time; then it was in force."""

    begin_ns: int
    end_ns: int
    seen: Seen


@dataclass(frozen=True)
class Course:
    """A fault that came and went: there from `injected.end_ns` to `lifted.begin_ns`, give or take `clock_error_ns`."""

    injected: Action
    lifted: Action
    clock_error_ns: int

    def counted(self, name: str) -> float:
        """Return by how much a counter that both actions saw grew in between."""
        return float(self.lifted.seen[name]) - float(self.injected.seen[name])


@dataclass(frozen=True)
class Injection:
    """What became of one declared fault; `fault` is its declaration with the start that was drawn.

    None: was not done. `rejected`: why it could not be.
    """

    fault: Mapping[str, Any]
    injected: Action | None = None
    lifted: Action | None = None
    rejected: str | None = None
    clock_error_ns: int = 0


class _Header(BaseModel):
    format: Literal["tollbooth.faults"]
    version: Literal[1]
    clock_error_ns: int


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True)

    number: int
    fault: Mapping[str, Any]
    begin_ns: int
    end_ns: int


class _Done(_Line):
    action: Literal["inject", "lift"]
    seen: Seen


class _Rejected(_Line):
    action: Literal["refused"]
    reason: str


_LINE: TypeAdapter[_Done | _Rejected] = TypeAdapter(Annotated[_Done | _Rejected, Field(discriminator="action")])


class FaultLog:
    """Writes `faults.jsonl`, a line per action as soon as it is done."""

    def __init__(self, path: Path, clock_error_ns: int) -> None:
        self.path = path
        self._append({"format": FORMAT, "version": VERSION, "clock_error_ns": clock_error_ns})

    def done(self, number: int, fault: Mapping[str, Any], action: Literal["inject", "lift"], took: Action) -> None:
        """Writes that a fault was injected, or lifted."""
        times = {"begin_ns": took.begin_ns, "end_ns": took.end_ns}
        self._append({"number": number, "action": action, "fault": dict(fault), **times, "seen": dict(took.seen)})

    def rejected(self, number: int, fault: Mapping[str, Any], begin_ns: int, end_ns: int, reason: str) -> None:
        """Writes why a fault could not be injected, or lifted."""
        times = {"begin_ns": begin_ns, "end_ns": end_ns}
        self._append({"number": number, "action": "refused", "fault": dict(fault), **times, "reason": reason})

    def _append(self, data: Mapping[str, Any]) -> None:
        with self.path.open("a") as file:
            file.write(json.dumps(data, allow_nan=False) + "\n")


def read_injections(path: Path) -> Sequence[Injection]:
    """Read what became of a trial's faults."""
    return parse_injections(read_text(path), str(path))


def parse_injections(text: str, source: str) -> Sequence[Injection]:
    """Parse `faults.jsonl`; raises `UserError` naming `source` and line for what is not one."""
    lines = text.splitlines()
    try:
        header = _Header.model_validate_json(lines[0] if lines else "")
    except ValidationError:
        raise UserError(f"{source} does not begin as {FORMAT} version {VERSION}", VERSION_HINT) from None
    found: dict[int, Injection] = {}
    for at, line in enumerate(lines[1:], start=2):
        try:
            action = _LINE.validate_json(line)
        except ValidationError:
            raise UserError(
                f"{source}, line {at}: not a record of a fault",
                "the file was cut or changed: delete the trial's folder and run with --resume",
            ) from None
        new = Injection(action.fault, clock_error_ns=header.clock_error_ns)
        found[action.number] = _with(found.get(action.number, new), action)
    return tuple(found[number] for number in sorted(found))


def _with(injection: Injection, line: _Done | _Rejected) -> Injection:
    if isinstance(line, _Rejected):
        return replace(injection, rejected=line.reason)
    action = Action(line.begin_ns, line.end_ns, line.seen)
    return replace(injection, injected=action) if line.action == "inject" else replace(injection, lifted=action)


def ended_on_purpose(injections: Sequence[Injection]) -> frozenset[str]:
    """Return the containers whose processes a fault ended: they go and come back, and their counters begin anew."""
    done = (injection.injected for injection in injections if injection.injected is not None)
    return frozenset(name for action in done for name in str(action.seen.get(ENDED, "")).split())
