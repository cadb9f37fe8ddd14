"""What the page's state depends on: the record of the running system, processes, the engine, the clock."""

import time
from collections.abc import Callable, Mapping, Sequence

from lab.analysis.lab import Lab
from lab.command import held_fault, running
from lab.command.paths import JOURNAL
from lab.command.running import Running
from lab.fault.journal import Journal
from lab.page import changes
from lab.page.changes import Change
from lab.page.kept import Kept
from lab.page.known import Known

# A query to the engine is a process.
ENGINE_EVERY_S = 5.0


class ThisMachine:
    """The `World` of a page that is served. `fresh`: whether the observer sees containers."""

    def __init__(self, lab: Lab, fresh: Callable[[], bool]) -> None:
        self._lab = lab
        self._fresh = fresh
        self._known: Known | None = None
        self._gone = Kept[bool](ENGINE_EVERY_S)

    def running(self) -> Running | None:
        """See `World.running`."""
        return running.read()

    def age_s(self) -> float:
        """See `World.age_s`."""
        try:
            return time.time() - running.PATH.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    def known(self, of: Running) -> Known:
        """See `World.known`."""
        if self._known is None or self._known.of != of:
            self._known = Known(self._lab, of)
        return self._known

    def gone(self, of: Running) -> bool:
        """See `World.gone`: the engine is queried only while the observer sees nothing."""
        return not self._fresh() and self._gone.get(of.id, lambda: not running.has_containers())

    def fault_left(self) -> bool:
        """See `World.fault_left`."""
        # Whoever ends as it should empties the journal, then frees its lock: so the journal is read after that, too.
        journal = Journal(JOURNAL)
        return bool(journal.left()) and not held_fault.held() and bool(journal.left())

    def begin(self, words: Sequence[str], variables: Mapping[str, str]) -> Change:
        """See `World.begin`."""
        return changes.begin(words, variables)

    def now_s(self) -> float:
        """See `World.now_s`."""
        return time.time()
