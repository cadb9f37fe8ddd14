"""Creates what a target starts, waits until it is ready, and notices what ended instead."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from lab.engine import ports
from lab.engine.clock import wait_until
from lab.engine.driver import Stack, start_failed
from lab.engine.place import Place

READY_EVERY_S = 0.1
# Each time is a process of `docker`, and what is starting needs the CPU time.
QUERY_ENGINE_EVERY_S = 1.0


def create(
    place: Place,
    stack: Stack,
    out: Path,
    variables: Mapping[str, str] = {},
    instruments: Sequence[str] = (),
    files: Mapping[str, str] = {},
    folders_inside: Sequence[str] = (),
) -> None:
    """Create the containers of `stack` and of `instruments`, and before them the folder `out`, which they write to.

    They get the place's CPUs and ports, and `variables`. `files`: what they read in the folder, path within it -> text.
    Only where the place keeps what runs may the folder exist.
    """
    for folder in (out, *(out / name for name in folders_inside)):
        folder.mkdir(parents=True, exist_ok=place.keeps)
        # Containers run as users of their own.
        folder.chmod(0o777)
    for name, text in files.items():
        path = out / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    published = {} if place.alone else ports.engines_choice()
    environment = {**stack.environment, "TRIAL_DIR": str(out), **place.cpus.variables(), **variables, **published}
    place.driver.create(replace(stack, services=(*stack.services, *instruments), environment=environment))


def await_ready(
    place: Place,
    parts: Sequence[str],
    ready: Callable[[], bool],
    bound_s: float,
    every_s: float = READY_EVERY_S,
    late: Callable[[], str] | None = None,
) -> None:
    """Wait until `ready`, which is called every `every_s`.

    Raises `StartFailed` within a second after one of the containers `parts` has ended, and after the bound: then with
    the container that `late` names, or the last of `parts`.
    """
    driver, clock = place.driver, place.clock
    end_s = clock.now_s() + bound_s
    while True:
        for name, container in driver.containers().items():
            if name in parts and not container.running:
                ended = f"ended with exit code {container.exit_code} instead of becoming ready"
                raise start_failed(driver, name, ended)
        if wait_until(ready, QUERY_ENGINE_EVERY_S, every_s, clock):
            return
        if clock.now_s() >= end_s:
            raise start_failed(driver, late() if late else parts[-1], f"was not ready after {bound_s:.0f} s")
