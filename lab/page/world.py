"""What the page's state depends on: the record of the running system, processes, the engine, the clock."""

import time
from collections.abc import Callable, Mapping, Sequence

from typing_extensions import override

from lab.analysis.lab import Lab
from lab.command import held_fault, paths, running
from lab.command.running import Running
from lab.fault.journal import Journal
from lab.page import changes
from lab.page.changes import Change
from lab.page.kept import Kept
from lab.page.known import Known
from lab.page.state import World

# A query to the engine is a process.
ENGINE_EVERY_S = 5.0


class ThisMachine(World):
    """The `World` of a page that is served. `fresh`: whether the observer sees containers."""

    def __init__(self, lab: Lab, fresh: Callable[[], bool]) -> None:
        self._lab = lab
        self._fresh = fresh
        self._known: Known | None = None
        self._gone = Kept[bool](ENGINE_EVERY_S)

    @override
    def running(self) -> Running | None:
        return running.read()

    @override
    def age_s(self) -> float:
        try:
            return time.time() - running.PATH.stat().st_mtime
        except FileNotFoundError:
            return 0.0

    @override
    def known(self, of: Running) -> Known:
        if self._known is None or self._known.of != of:
            self._known = Known(self._lab, of)
        return self._known

    def gone(self, of: Running) -> bool:
        """See `World.gone`: the engine is queried only while the observer sees nothing."""
        return not self._fresh() and self._gone.get(of.id, lambda: not running.has_containers())

    @override
    def fault_left(self) -> bool:
        # Whoever ends as it should empties the journal, then frees its lock: so the journal is read after that, too.
        journal = Journal(paths.JOURNAL)
        return bool(journal.left()) and not held_fault.held() and bool(journal.left())

    @override
    def begin(self, words: Sequence[str], variables: Mapping[str, str]) -> Change:
        return changes.begin(words, variables)

    @override
    def now_s(self) -> float:
        return time.time()
