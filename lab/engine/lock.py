"""One run at a time: two would disturb each other."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lab.errors import UserError


@contextmanager
def only_run(path: Path) -> Iterator[None]:
    """Holds the lock file at `path`; raises `UserError` while another process does.

    The kernel releases it when the process ends.
    """
    with os.fdopen(_opened(path), "r+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UserError(
                f"the lab is in use by process {file.read().strip() or 'unknown'}",
                "wait until it ends (or stop it with Ctrl-C): two runs would disturb each other",
            ) from None
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def _opened(path: Path) -> int:
    """Open the file, which every user of the machine may lock."""
    # Everybody may write to the folder: a link is not followed.
    flags = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC
    try:
        # Not with O_CREAT: the kernel does not allow that for another user's file in such a folder.
        return os.open(path, flags)
    except FileNotFoundError:
        created = os.open(path, flags | os.O_CREAT, 0o666)
        os.fchmod(created, 0o666)
        return created
