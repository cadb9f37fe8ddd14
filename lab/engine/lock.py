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
    # Everybody may write to the folder: a link is not followed.
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600), "r+") as file:
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
