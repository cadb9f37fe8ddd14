"""Runs a trial's faults beside its load, and lifts them whatever happens."""

import contextlib
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lab.engine.driver import EngineRefused
from lab.fault.fault import CannotInject, DeclaredFault, Subject
from lab.fault.journal import Journal
from lab.fault.moments import ContainerTime
from lab.fault.schedule import steps
from lab.record.faults import Action, FaultLog

# What an action says where it cannot be done here. The engine's absence is not among them: it ends the run.
REFUSALS = (CannotInject, EngineRefused, OSError)

Wait = Callable[[float], bool]
"""Lets that many seconds pass; returns false at once, or earlier, where no more is to be done."""


@dataclass
class Injector:
    """Injects faults into one running system, and keeps what it did in the journal and in `faults.jsonl`."""

    subject: Subject
    journal: Journal
    log: FaultLog
    time: ContainerTime
    _in_force: dict[int, DeclaredFault] = field(default_factory=dict)

    def play(self, faults: Sequence[DeclaredFault], window_start_s: float, wait: Wait) -> None:
        """Injects and lifts each fault at its drawn time, and returns after the last, or when `wait` says so.

        `window_start_s` is by the subject's clock. A fault that cannot be injected is recorded with the reason, and the
        others go on: the trial will be refused. Whatever ends this, what is in force is lifted first.
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
    def beside(self, faults: Sequence[DeclaredFault], window_start_s: float) -> Iterator[None]:
        """Plays the faults while the block waits for the load. When that ends, however it does, all are lifted.

        Raises what ended the faults, where the block itself went well.
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
        self.journal.note(number, fault)
        self._in_force[number] = fault
        begin_ns = self.time.now_ns()
        try:
            seen = fault.inject(self.subject)
        except REFUSALS as refusal:
            self.log.refused(number, _declared(fault), begin_ns, self.time.now_ns(), _reason(refusal))
            self._take_back(number, fault)
        else:
            self.log.done(number, _declared(fault), "inject", Action(begin_ns, self.time.now_ns(), seen))

    def _take_back(self, number: int, fault: DeclaredFault) -> None:
        """Lifts what was perhaps half injected; that there is nothing to lift is no news."""
        with contextlib.suppress(*REFUSALS):
            fault.lift(self.subject)
        self._strike(number)

    def _lift(self, number: int) -> None:
        fault, begin_ns = self._in_force[number], self.time.now_ns()
        try:
            seen = fault.lift(self.subject)
        except REFUSALS as refusal:
            reason = f"it could not be lifted: {_reason(refusal)}"
            self.log.refused(number, _declared(fault), begin_ns, self.time.now_ns(), reason)
        else:
            self.log.done(number, _declared(fault), "lift", Action(begin_ns, self.time.now_ns(), seen))
        self._strike(number)

    def _strike(self, number: int) -> None:
        del self._in_force[number]
        self.journal.strike(number)


def injector(subject: Subject, journal: Journal, path: Path) -> Injector:
    """An injector that writes `faults.jsonl` to `path`. It asks the engine for the time, so make it before the load."""
    time = ContainerTime(subject.driver, subject.clock)
    return Injector(subject, journal, FaultLog(path, time.error_ns), time)


def _declared(fault: DeclaredFault) -> dict[str, Any]:
    return fault.model_dump(mode="json")


def _reason(refusal: Exception) -> str:
    return refusal.message if isinstance(refusal, EngineRefused) else str(refusal)
