"""`lab up` and `lab down`: a system that runs, with a light load, until it is taken down."""

import shutil
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from rich.console import Console

from lab.analysis.lab import Lab
from lab.command import held_fault, prepare, running, serving
from lab.command.choice import changes_in_place, chosen, described, has_faults, recorded
from lab.command.exploring import FOLDER, driver, pages, start_of
from lab.command.held_fault import NotInjected
from lab.command.paths import JOURNAL, LOCK, shown
from lab.command.running import Running
from lab.contract import Needs
from lab.engine import images, only_run, ports, require_engine
from lab.engine.keeping import GUARD_IMAGE, KeepingDriver
from lab.engine.machine import read_machine
from lab.errors import UserError
from lab.fault.journal import Journal, lift_leftovers
from lab.run.progress import Progress
from lab.run.start import Start
from lab.run.uninterrupted import ignore_signals
from lab.spec import Experiment

# Of the load generator, sidecars, and what a backend takes beyond a system's own estimate.
OTHERS_BYTES = 512 << 20
GIB = 1 << 30


class Interrupted(UserError):
    """Ctrl-C."""

    exit_code = 130


def up(lab: Lab, kind: str, overrides: Sequence[str], fault: str | None, console: Console) -> None:
    """Starts an example of a kind of target, or changes the running system to it, and prints addresses.

    Raises `UserError`. If it was not ready by then, everything is stopped.
    """
    experiment, progress = chosen(lab, kind, overrides, fault), Progress(console)
    with only_run(LOCK):
        try:
            _up(lab, experiment, progress)
        except KeyboardInterrupt:
            left = "the earlier system runs: make down stops it" if running.PATH.exists() else "nothing is running"
            raise Interrupted("interrupted", left) from None


def down(progress: Progress) -> None:
    """Removes all of the lab's containers, networks and volumes, also those of a start that was broken off."""
    with only_run(LOCK):
        serving.end()
        running.forget()
        held_fault.await_lifted()
        prepare.remove_all()
        Journal(JOURNAL).clear()
        shutil.rmtree(FOLDER, ignore_errors=True)
    progress.say("the lab is down")


def require_memory(needed_bytes: int, available_bytes: int | None) -> None:
    """Raises `UserError` where a system may need more memory than there is (None: unknown)."""
    if available_bytes is not None and available_bytes < needed_bytes:
        raise UserError(
            f"the system may need {needed_bytes / GIB:.1f} GiB of memory, {available_bytes / GIB:.1f} GiB are free",
            "close other programs, or choose a smaller system: make up TOPOLOGY=duo",
        )


def runs_as_wanted(now: Running, wanted: Experiment, on: KeepingDriver) -> bool:
    """Whether the wanted system runs, with its fault in force or all of its containers running."""
    if not now.ready or now.spec != recorded(wanted) or now.ports != ports.of(now.services):
        return False
    if has_faults(wanted):
        return held_fault.held()
    containers = on.containers()
    return all(name in containers and containers[name].running for name in now.services)


def _up(lab: Lab, experiment: Experiment, progress: Progress) -> None:
    require_engine()
    serving.require_port()
    on = driver()
    start, now = start_of(lab, experiment, on), running.read()
    if now is None:
        running.reject_beside()
    if now is not None and runs_as_wanted(now, experiment, on):
        progress.say(f"runs already: {described(experiment)}")
    else:
        needs = lab.target(experiment).declaration.needs(experiment)
        generator = [start.generator.service] if start.generator else []
        images.ensure([*needs.images, *generator, *start.instruments, GUARD_IMAGE], progress.say)
        with progress.step(f"starting {described(experiment)}"):
            now = _changed(start, now, needs, progress)
        if now.fault_until_s:
            with progress.step("injecting the fault"), _or_without_fault(now):
                held_fault.begin(now, on.environment)
    _print_addresses(start, now, progress)


def _changed(start: Start, before: Running | None, needs: Needs, progress: Progress) -> Running:
    """Starts a system, or changes the running one, until it is ready; returns its record."""
    experiment, on = start.context.experiment, start.place.driver
    now = running.new(recorded(experiment))
    in_place = before is not None and before.ready and changes_in_place(before.spec, now.spec)
    if before is not None and in_place:
        ports.require_free([name for name in needs.services if name not in before.services], held_by=before.services)
    with _or_nothing():
        running.write(now)
        held_fault.await_lifted()
        # What a fault's process left behind when it was killed is lifted with the containers.
        if not in_place or Journal(JOURNAL).left():
            _make_room(start, needs, progress)
        start.create()
        start.start()
        if start.generator and not on.containers()[start.generator.service].running:
            start.generator.send_on(start.plan, start.stage)
        services = tuple(sorted(on.containers()))
        until_s = time.time() + held_fault.LASTS_S if has_faults(experiment) else 0.0
        now = Running(
            id=now.id,
            spec=now.spec,
            ready=True,
            services=services,
            ports=ports.of(services),
            fault_until_s=until_s,
        )
        running.write(now)
    return now


def _make_room(start: Start, needs: Needs, progress: Progress) -> None:
    """Removes what is left of other systems, and checks ports and memory."""
    lift_leftovers(Journal(JOURNAL), start.place.driver, progress.say)
    prepare.remove_all()
    shutil.rmtree(FOLDER, ignore_errors=True)
    ports.require_free(needs.services)
    machine = read_machine(Path("/proc"), Path("/sys"), pause=lambda _: None)
    require_memory(needs.system_bytes + OTHERS_BYTES, machine.memory_available_bytes or machine.memory_bytes)


@contextmanager
def _or_nothing() -> Iterator[None]:
    """Removes everything if the block does not succeed: half a system would run, and its record would not be true."""
    try:
        yield
    except BaseException:
        ignore_signals()
        running.forget()
        prepare.remove_all()
        raise


@contextmanager
def _or_without_fault(now: Running) -> Iterator[None]:
    """Records that the system has no fault if the block could not inject it."""
    try:
        yield
    except NotInjected:
        running.write(now.model_copy(update={"fault_until_s": 0.0}))
        raise


def _print_addresses(start: Start, now: Running, progress: Progress) -> None:
    """Prints what can be done with the running system. Raises `NotServed`."""
    lines = [f"the page: {serving.begin()}", *pages(start)]
    if start.generator:
        lines.append(f"a light load: {start.generator.service}")
    if now.fault_until_s:
        lines.append(f"the fault ends at {datetime.fromtimestamp(now.fault_until_s):%H:%M:%S}")
    for line in (*lines, f"files: {shown(FOLDER)}", "stop it: make down"):
        progress.say(f"  {line}")
