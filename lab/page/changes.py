"""A change of the system: the command that `make up` runs, as a list of words, in a process of its own.

It does not need the page: if that is killed, the change ends as it would have, and its fault expires.
"""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

from typing_extensions import override

from lab.command import detached, paths

LOG = paths.SCRATCH / "page-change.log"
ERROR = "error: "


class Change(Protocol):
    """A change that was begun."""

    def running(self) -> bool:
        """Whether it has not ended."""

    def error(self) -> str | None:
        """Return why it failed, once it has ended; None if it did not."""


class ByCommand(Change):
    """A `Change` that is a process, whose output is in the file `log`."""

    def __init__(self, process: "subprocess.Popen[bytes]", log: Path) -> None:
        self.process = process
        self.log = log

    @override
    def running(self) -> bool:
        return self.process.poll() is None

    @override
    def error(self) -> str | None:
        return said(self.log.read_text()) if self.process.poll() else None


def words_of(kind: str, overrides: Sequence[str], fault: str) -> list[str]:
    """Return the arguments of `lab`: values that the controls list, each a word of its own."""
    return ["up", kind, *(word for override in overrides for word in ("--set", override)), "--fault", fault]


def begin(words: Sequence[str], variables: Mapping[str, str]) -> Change:
    """Begins a change. `variables`: of its environment, besides the page's own."""
    return ByCommand(detached.begin(words, LOG, variables), LOG)


def said(output: str) -> str:
    """Return the error that the lab printed, with what to do about it, in a line."""
    lines = output.splitlines()
    first = next((number for number, line in enumerate(lines) if line.startswith(ERROR)), None)
    if first is None:
        return f"the change ended without a reason: see {LOG.name} in .lab"
    return ": ".join([lines[first].removeprefix(ERROR), *lines[first + 1 : first + 2]])
