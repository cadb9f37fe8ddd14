"""Runs a trial's faults during its load, at times that are drawn, and lifts them in every case."""

import contextlib
import random
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from lab.engine import Clock, Driver, EngineRejected, Wait, beside
from lab.fault.fault import CannotInject, DeclaredFault, Subject
from lab.fault.journal import Journal
from lab.record import Action, FaultLog, Seen

# Why an action is not possible here. Without an engine the run ends instead.
NOT_POSSIBLE = (CannotInject, EngineRejected, OSError)
# Of the engine's clock, before a load.
READINGS = 3


@dataclass(frozen=True)
class Step:
    """One action, `at_s` seconds after the window's start, on the fault of that number."""

    at_s: float
    number: int
    action: Literal["inject", "lift"]


def drawn(faults: Sequence[DeclaredFault], seed: int) -> tuple[DeclaredFault, ...]:
    """Return the faults with their starts drawn from the trial's seed.

    Each fault takes one draw, needed or not: a start does not depend on the other faults' fields. The draws are from
    `random.Random(seed).random()`, the one sequence that Python promises to keep between versions.
    """
    generator = random.Random(seed)
    return tuple(
        fault.model_copy(
            update={"start_s": round(fault.earliest_s + generator.random() * (fault.latest_s - fault.earliest_s), 3)}
        )
        for fault in faults
    )


def steps(faults: Sequence[DeclaredFault]) -> list[Step]:
    """Return the actions in order of time; at the same time, lifts come first. The faults' starts are drawn."""
    found = [
        step
        for number, fault in enumerate(faults)
        for step in (
            Step(fault.earliest_s, number, "inject"),
            Step(fault.earliest_s + fault.length_s, number, "lift"),
        )
    ]
    return sorted(found, key=lambda step: (step.at_s, step.action == "inject", step.number))


class ContainerTime:
    """Unix time as the containers see it, in nanoseconds: the engine may run on another machine than the lab.

    Cristian's method (Probabilistic clock synchronization, Distributed Computing 3, 1989): read the engine's clock a
    few times, use the quickest reading, and assume that it is from the middle of the time that it took.
    """

    def __init__(self, driver: Driver, clock: Clock) -> None:
        self._clock = clock
        took_s, self._at_s, self._at_ns = min(self._read(driver) for _ in range(READINGS))
        self.error_ns = round(took_s / 2 * 1e9)
        """The largest possible error."""

    def now_ns(self) -> int:
        """The current time."""
        return self._at_ns + round((self._clock.now_s() - self._at_s) * 1e9)

    def _read(self, driver: Driver) -> tuple[float, float, int]:
        """How long a reading took, its middle by the lab's clock, and the time that was read."""
        begin_s = self._clock.now_s()
        read_ns = driver.time_ns()
        end_s = self._clock.now_s()
        return end_s - begin_s, (begin_s + end_s) / 2, read_ns


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

    def during_load(self, faults: Sequence[DeclaredFault], window_start_s: float) -> AbstractContextManager[None]:
        """Plays the faults while the block waits for the load. All are lifted when the block ends, also by an error.

        Raises an error of the faults if the block itself succeeded.
        """
        return beside(lambda wait: self.play(faults, window_start_s, wait), "faults")

    def _inject(self, number: int, fault: DeclaredFault) -> None:
        self.journal.add(number, fault)
        self._in_force[number] = fault
        if not self._act(number, "inject", fault.inject, ""):
            # Perhaps it was injected in part.
            with contextlib.suppress(*NOT_POSSIBLE):
                fault.lift(self.subject)
            self.journal.remove(number)
            del self._in_force[number]

    def _lift(self, number: int) -> None:
        # What could not be lifted stays in the journal: the next start removes its containers.
        if self._act(number, "lift", self._in_force[number].lift, "it could not be lifted: "):
            self.journal.remove(number)
        del self._in_force[number]

    def _act(self, number: int, action: Literal["inject", "lift"], act: Callable[[Subject], Seen], but: str) -> bool:
        """Acts on a fault in force, and records it; returns whether that was possible."""
        fault, begin_ns = self._in_force[number].model_dump(mode="json"), self.time.now_ns()
        try:
            seen = act(self.subject)
        except NOT_POSSIBLE as error:
            reason = error.message if isinstance(error, EngineRejected) else str(error)
            self.log.rejected(number, fault, begin_ns, self.time.now_ns(), f"{but}{reason}")
            return False
        self.log.done(number, fault, action, Action(begin_ns, self.time.now_ns(), seen))
        return True


def injecting(
    faults: Sequence[DeclaredFault], subject: Subject, journal: Path, path: Path, seed: int, lead_s: float
) -> AbstractContextManager[None]:
    """Return what plays the faults while the block waits for the load, whose window begins in `lead_s` seconds.

    Their starts are drawn from `seed`. `journal`: the file that lists the faults in force; `path`: their record.
    """
    if not faults:
        return contextlib.nullcontext()
    playing = injector(subject, Journal(journal), path)
    return playing.during_load(drawn(faults, seed), subject.clock.now_s() + lead_s)


def injector(subject: Subject, journal: Journal, path: Path) -> Injector:
    """An injector that writes `faults.jsonl` to `path`. It reads the engine's clock: create it before the load."""
    time = ContainerTime(subject.driver, subject.clock)
    return Injector(subject, journal, FaultLog(path, time.error_ns), time)
