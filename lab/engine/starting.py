"""Waits until what was started is ready, and notices what ended instead."""

from collections.abc import Callable, Sequence

from lab.engine.clock import Clock, wait_until
from lab.engine.driver import Driver, start_failed

# Each time is a process of `docker`, and what is starting needs the CPU time.
QUERY_ENGINE_EVERY_S = 1.0


def await_ready(
    driver: Driver, parts: Sequence[str], ready: Callable[[], bool], bound_s: float, every_s: float, clock: Clock
) -> bool:
    """Wait until `ready`; return whether it was within the bound. Looks every `every_s`.

    Raises `StartFailed` within a second after one of the containers `parts` has ended.
    """
    end_s = clock.now_s() + bound_s
    while True:
        for name, container in driver.containers().items():
            if name in parts and not container.running:
                ended = f"ended with exit code {container.exit_code} instead of becoming ready"
                raise start_failed(driver, name, ended)
        if wait_until(ready, QUERY_ENGINE_EVERY_S, every_s, clock):
            return True
        if clock.now_s() >= end_s:
            return False
