"""The fault of the running system. A process of its own injects it, holds it, and lifts it.

Nobody else has to be there when it expires: not the command that began it, nor its terminal. The process lifts the
fault after `LASTS_S`, or as soon as another system runs or none. It has a lock as long as it lives: the kernel frees
it, whatever ends the process. Then the journal says whether it left a fault behind.
"""

import contextlib
import time
from collections.abc import Mapping

from lab.analysis.lab import Lab
from lab.command import detached, running
from lab.command.exploring import FOLDER, driver, start_of
from lab.command.locked import locked
from lab.command.paths import SCRATCH
from lab.command.running import Running
from lab.engine import SystemClock, only_run, wait_until
from lab.errors import UserError
from lab.record.faults import Injection, read_injections
from lab.spec import recorded_experiment

LASTS_S = 600.0
BEGINS_WITHIN_S = 60.0
LIFTED_WITHIN_S = 60.0
LOOK_EVERY_S = 0.2
LOCK = SCRATCH / "fault.lock"
LOG = SCRATCH / "fault.log"
# In the folder of the start.
RECORD = FOLDER / "faults.jsonl"
COMMAND = "hold-fault"


class NotInjected(UserError):
    """The system runs without the fault that was requested."""

    exit_code = 4


def begin(of: Running, environment: Mapping[str, str]) -> None:
    """Begins the faults of a system that is ready; returns once they are in force.

    `environment` is the stack's. Raises `NotInjected`.
    """
    RECORD.unlink(missing_ok=True)
    process = detached.begin([COMMAND, of.id], LOG, environment)
    wait_until(lambda: process.poll() is not None or bool(_done()), BEGINS_WITHIN_S, LOOK_EVERY_S, SystemClock())
    done = _done()
    rejected = next((injection.rejected for injection in done if injection.rejected), None)
    if rejected or not done:
        process.terminate()
        wait_until(lambda: process.poll() is not None, LIFTED_WITHIN_S, LOOK_EVERY_S, SystemClock())
        reason = rejected or next(iter(LOG.read_text().splitlines()), f"nothing was done in {BEGINS_WITHIN_S:.0f} s")
        raise NotInjected(f"the fault could not be injected: {reason}", "the system runs without it")


def hold(lab: Lab, id_: str) -> None:
    """Injects the faults of the system with this id, and lifts them when they expire or it no longer runs."""
    of = running.read()
    if of is None or of.id != id_:
        return
    start = start_of(lab, recorded_experiment(of.spec, lab.grammar), driver())
    clock = SystemClock()
    with only_run(LOCK), start.deployment.measuring(start.level, start.seed, 0.0):
        # By two clocks: a step of the one does not prolong it.
        wait_until(lambda: not running.is_current(id_, time.time()), LASTS_S, LOOK_EVERY_S, clock)


def held() -> bool:
    """Whether a process holds a fault, or is about to."""
    return locked(LOCK)


def await_lifted() -> None:
    """Waits until the fault of a system that no longer runs is lifted."""
    wait_until(lambda: not held(), LIFTED_WITHIN_S, LOOK_EVERY_S, SystemClock())


def _done() -> list[Injection]:
    """Return the faults that were injected or rejected."""
    with contextlib.suppress(UserError):
        return [found for found in read_injections(RECORD) if found.injected or found.rejected]
    return []
