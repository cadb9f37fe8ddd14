"""The faults in force, written to disk before they are injected: the next start of the lab finds them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab.engine import Driver
from lab.errors import UserError
from lab.fault.fault import DeclaredFault
from lab.record import read_json, write_json_atomic

FORMAT = "tollbooth.fault-journal"
VERSION = 1


class Journal:
    """The faults in force, by number, in the file at `path`; no file if there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._faults: dict[str, Mapping[str, Any]] = {}

    def add(self, number: int, fault: DeclaredFault) -> None:
        """Records a fault that is about to be injected."""
        self._faults[str(number)] = fault.model_dump(mode="json")
        self._write()

    def remove(self, number: int) -> None:
        """Removes a lifted fault."""
        del self._faults[str(number)]
        self._write()

    def left(self) -> list[str]:
        """The faults in force according to the file, such as `frozen of s2`."""
        if not self.path.exists():
            return []
        try:
            faults = read_json(self.path, FORMAT, VERSION)["faults"]
            return [f"{fault['kind']} of {fault['target']}" for fault in faults.values()]
        except (UserError, KeyError, TypeError, AttributeError):
            return ["a fault that another version of the lab recorded"]

    def clear(self) -> None:
        """Removes all faults."""
        self._faults = {}
        self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        if self._faults:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_json_atomic(self.path, {"format": FORMAT, "version": VERSION, "faults": self._faults})
        else:
            self.clear()


def lift_leftovers(journal: Journal, driver: Driver, say: Callable[[str], None]) -> None:
    """Lifts the faults of a run that was killed, and reports them; does nothing if there are none.

    Faults change only the lab's containers: removing these lifts them.
    """
    if left := journal.left():
        driver.remove()
        journal.clear()
        say(f"an earlier run ended during a fault ({', '.join(left)}): its containers are removed, which lifts it")
