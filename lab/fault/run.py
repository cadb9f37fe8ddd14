"""Runs a trial's faults during its load, and lifts them in every case."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.engine import EngineRefused
from lab.fault.fault import CannotInject, DeclaredFault, Subject
from lab.fault.journal import Journal
from lab.fault.moments import ContainerTime
from lab.fault.schedule import steps
from lab.record import Action, FaultLog

# Why an action is not possible here. Without an engine the run ends instead.
NOT_POSSIBLE = (CannotInject, EngineRefused, OSError)

Wait = Callable[[float], bool]
"""Waits for that many seconds; returns false, perhaps earlier, if no further action is wanted."""


@dataclass
class Injector:
    """Injects faults into one running system, and records it in the journal and in `faults.jsonl`."""

    subject: Subject
    journal: Journal
    log: FaultLog
    time: ContainerTime
    _in_force: dict[int, DeclaredFault] = field(default_factory=dict)

    def play(self, faults: Sequence[DeclaredFault], window_start_s: float, wait: Wait) -> None:
        """Injects and lifts each fault at its drawn time; returns after the last, or when `wait` returns false.

        `window_start_s` is by the subject's clock. If a fault cannot be injected, the reason is recorded and the
        others continue: the trial will be rejected. Faults in force are lifted before this ends, also by an error.
        """
        try:
            for step in steps(faults):
                if not wait(max(0.0, window_start_s + step.at_s - self.subject.clock.now_s())):
                    return
                if step.action == "inject":
                    self._inject(step.number, faults[step.number])
                elif step.number in self._in_force:
                    self._lift(step.number)
        finally:
            for number in reversed(tuple(self._in_force)):
                self._lift(number)

    @contextlib.contextmanager
    def during_load(self, faults: Sequence[DeclaredFault], window_start_s: float) -> Iterator[None]:
        """Plays the faults while the block waits for the load. All are lifted when the block ends, also by an error.

        Raises an error of the faults if the block itself succeeded.
        """
        stop, errors = threading.Event(), list[BaseException]()

        def play() -> None:
            try:
                self.play(faults, window_start_s, lambda seconds: not stop.wait(seconds))
            except BaseException as error:
                errors.append(error)

        thread = threading.Thread(target=play, name="faults")
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()
        if errors:
            raise errors[0]

    def _inject(self, number: int, fault: DeclaredFault) -> None:
        self.journal.add(number, fault)
        self._in_force[number] = fault
        begin_ns = self.time.now_ns()
        try:
            seen = fault.inject(self.subject)
        except NOT_POSSIBLE as error:
            self.log.refused(number, _declared(fault), begin_ns, self.time.now_ns(), _reason(error))
            self._undo(number, fault)
        else:
            self.log.done(number, _declared(fault), "inject", Action(begin_ns, self.time.now_ns(), seen))

    def _undo(self, number: int, fault: DeclaredFault) -> None:
        """Lifts what was perhaps injected in part; ignores that there is nothing to lift."""
        with contextlib.suppress(*NOT_POSSIBLE):
            fault.lift(self.subject)
        self._lifted(number)

    def _lift(self, number: int) -> None:
        fault, begin_ns = self._in_force[number], self.time.now_ns()
        try:
            seen = fault.lift(self.subject)
        except NOT_POSSIBLE as error:
            reason = f"it could not be lifted: {_reason(error)}"
            self.log.refused(number, _declared(fault), begin_ns, self.time.now_ns(), reason)
        else:
            self.log.done(number, _declared(fault), "lift", Action(begin_ns, self.time.now_ns(), seen))
        self._lifted(number)

    def _lifted(self, number: int) -> None:
        del self._in_force[number]
        self.journal.remove(number)


def injector(subject: Subject, journal: Journal, path: Path) -> Injector:
    """An injector that writes `faults.jsonl` to `path`. It reads the engine's clock: create it before the load."""
    time = ContainerTime(subject.driver, subject.clock)
    return Injector(subject, journal, FaultLog(path, time.error_ns), time)


def _declared(fault: DeclaredFault) -> dict[str, Any]:
    return fault.model_dump(mode="json")


def _reason(error: Exception) -> str:
    return error.message if isinstance(error, EngineRefused) else str(error)
