"""The process that serves the page of the running system: `lab up` begins it, `lab down` ends it.

Changes of the system do not touch it: its address and token stay. It ends as soon as its record is gone. The record
holds the token, so only the user may read it.
"""

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pydantic import ValidationError

from lab.command import detached
from lab.command.detached import ONLY_OWNER
from lab.command.locked import locked
from lab.command.paths import SCRATCH
from lab.engine import SystemClock, only_run, ports, wait_until
from lab.errors import UserError
from lab.record import Record, read_json, write_json_atomic

FORMAT, VERSION = "tollbooth.page", 1
PATH = SCRATCH / "page.json"
LOCK = SCRATCH / "page.lock"
LOG = SCRATCH / "page.log"
COMMAND = "page"
HOST = "127.0.0.1"
VARIABLE, DEFAULT_PORT = "PAGE_PORT", "8070"
BEGINS_WITHIN_S = 30.0
ENDS_WITHIN_S = 10.0
LOOK_EVERY_S = 0.2


class NotServed(UserError):
    """The system runs without its page."""

    exit_code = 4


class Serving(Record):
    """A page that is served at `port` to who has `token`."""

    token: str
    port: int

    @property
    def address(self) -> str:
        """Where it is. Browsers do not send what is behind `#`."""
        return f"http://{HOST}:{self.port}/#token={self.token}"


def read() -> Serving | None:
    """Return which page is served; None without one, or for the record of another version."""
    try:
        return Serving.model_validate(read_json(PATH, FORMAT, VERSION))
    except (UserError, ValidationError):
        return None


@contextmanager
def on_record(serving: Serving) -> Iterator[Callable[[], bool]]:
    """Puts the page on record during the block; yields whether it still is. Raises `UserError` beside another one."""
    SCRATCH.mkdir(exist_ok=True)
    with only_run(LOCK):
        PATH.with_name(f".{PATH.name}.part").touch(mode=ONLY_OWNER)
        write_json_atomic(PATH, {"format": FORMAT, "version": VERSION, **serving.model_dump(mode="json")})
        try:
            yield lambda: read() == serving
        finally:
            if read() == serving:
                PATH.unlink()


def begin() -> str:
    """Begins to serve the page unless it is served; returns its address. Raises `NotServed`."""
    if not locked(LOCK):
        PATH.unlink(missing_ok=True)
        process = detached.begin([COMMAND], LOG, {})
        wait_until(lambda: PATH.exists() or process.poll() is not None, BEGINS_WITHIN_S, LOOK_EVERY_S, SystemClock())
    serving = read()
    if serving is None:
        said = next(iter(LOG.read_text().splitlines()), f"it did not begin in {BEGINS_WITHIN_S:.0f} s")
        raise NotServed(f"the page is not served: {said}", "the system runs without it")
    return serving.address


def end() -> None:
    """Ends the page, and waits until it has."""
    PATH.unlink(missing_ok=True)
    wait_until(lambda: not locked(LOCK), ENDS_WITHIN_S, LOOK_EVERY_S, SystemClock())


def port() -> int:
    """Return the page's port. Raises `UserError` for a variable that is no port."""
    return ports.number(VARIABLE, DEFAULT_PORT, os.environ)


def require_port() -> None:
    """Raises `UserError` where the page is not served and could not be: its port is in use."""
    if locked(LOCK):
        return
    number = port()
    try:
        socket.create_server((HOST, number)).close()
    except OSError:
        raise in_use(number) from None


def in_use(number: int) -> UserError:
    """Return the error of a port that another program has."""
    return UserError(
        f"port {number} on {HOST}, wanted for the page, is in use",
        f"stop what listens there, or choose another: {VARIABLE}=<port> make up",
    )
