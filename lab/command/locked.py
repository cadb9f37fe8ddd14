"""Whether a process lives that has a lock as long as it does: the kernel frees it, whatever ends the process."""

from pathlib import Path

from lab.engine import only_run
from lab.errors import UserError


def locked(path: Path) -> bool:
    """Whether a process has the lock file at `path`."""
    path.parent.mkdir(exist_ok=True)
    try:
        with only_run(path):
            return False
    except UserError:
        return True
