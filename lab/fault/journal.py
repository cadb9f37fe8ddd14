"""What is in force now, on the disk before it is done, so that the next start knows of it however this one ends."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lab.engine.driver import Driver
from lab.errors import UserError
from lab.fault.fault import DeclaredFault
from lab.record.files import read_json, write_json_atomic

FORMAT = "tollbooth.fault-journal"
VERSION = 1


class Journal:
    """The faults in force, by number, in the file at `path`; no file while there is none."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._faults: dict[str, Mapping[str, Any]] = {}

    def note(self, number: int, fault: DeclaredFault) -> None:
        """Writes that a fault is about to be injected."""
        self._faults[str(number)] = fault.model_dump(mode="json")
        self._write()

    def strike(self, number: int) -> None:
        """Writes that a fault is lifted."""
        del self._faults[str(number)]
        self._write()

    def left(self) -> list[str]:
        """What the file says is in force, such as `frozen of s2`."""
        if not self.path.exists():
            return []
        try:
            faults = read_json(self.path, FORMAT, VERSION)["faults"]
            return [f"{fault['kind']} of {fault['target']}" for fault in faults.values()]
        except (UserError, KeyError, TypeError, AttributeError):
            return ["a fault that another version of the lab noted"]

    def clear(self) -> None:
        """Nothing is in force."""
        self._faults = {}
        self.path.unlink(missing_ok=True)

    def _write(self) -> None:
        if self._faults:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            write_json_atomic(self.path, {"format": FORMAT, "version": VERSION, "faults": self._faults})
        else:
            self.clear()


def lift_leftovers(journal: Journal, driver: Driver, say: Callable[[str], None]) -> None:
    """Lifts what a run left that was killed in mid-fault, and says so; does nothing where there is nothing.

    No fault changes anything but the lab's containers, so that it goes when they go.
    """
    if left := journal.left():
        driver.remove()
        journal.clear()
        what = ", ".join(left)
        say(f"an earlier run was ended in mid-fault ({what}): its containers are removed, and that with them")
