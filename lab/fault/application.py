"""Faults that a service causes itself: it watches a file with the fault to have, and confirms with its counters.

Format: docs/reference/formats.md, `ready/<node>.fault.json` and `ready/<node>.fault-taken.json`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

from typing_extensions import override

from lab.engine import wait_until
from lab.errors import UserError
from lab.fault.fault import CannotInject, DeclaredFault, Part, Subject
from lab.fault.planes import SERVICE, Role
from lab.record import Seen, read_json, write_json_atomic

FORMAT, TAKEN_FORMAT, VERSION = "tollbooth.fault", "tollbooth.fault-taken", 1
ANSWER_BOUND_S = 5.0
ANSWER_EVERY_S = 0.05


class ByService(DeclaredFault):
    """A fault of the target's operations. A kind has its name in the file, and says what its size is."""

    size: float
    part: ClassVar[Part] = "application"
    roles: ClassVar[frozenset[Role]] = frozenset({SERVICE})
    setting: ClassVar[str]
    """The name of `size` in the file."""

    @override
    def inject(self, subject: Subject) -> Seen:
        return self._set(subject, {self.setting: self.size})

    @override
    def lift(self, subject: Subject) -> Seen:
        return self._set(subject, {})

    def _set(self, subject: Subject, wanted: Mapping[str, float]) -> Seen:
        """Set the fault that the node has (empty: none); return what it had counted when it applied it.

        Raises `CannotInject` if it does not confirm.
        """
        answer, file = subject.ready / f"{self.target}.fault-taken.json", f"{self.target}.fault.json"
        number = int(_read(answer).get("number", 0)) + 1
        write_json_atomic(subject.ready / file, {"format": FORMAT, "version": VERSION, "number": number, **wanted})
        if not wait_until(lambda: _read(answer).get("number") == number, ANSWER_BOUND_S, ANSWER_EVERY_S, subject.clock):
            raise CannotInject(f"{self.target} did not apply {file} within {ANSWER_BOUND_S:g} s")
        taken = _read(answer)
        return {name: int(taken[name]) for name in ("operations", "errors", "waited_ns", "given_up")}


def _read(path: Path) -> dict[str, Any]:
    """Read a confirmation; empty if there is none yet."""
    try:
        return read_json(path, TAKEN_FORMAT, VERSION)
    except UserError:
        return {}
