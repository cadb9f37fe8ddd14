"""Two runs at once would measure each other: the second names the first."""

import errno
import os
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.engine.lock import only_run
from lab.errors import UserError


def test_a_second_holder_is_rejected_and_the_first_is_named(tmp_path: Path) -> None:
    message = f"in use by process {os.getpid()}"
    with only_run(tmp_path / "lock"), pytest.raises(UserError, match=message), only_run(tmp_path / "lock"):
        pass
    with only_run(tmp_path / "lock"):
        pass


def test_a_second_process_is_rejected_and_the_first_is_named(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from lab.engine.lock import only_run
with only_run(Path({str(tmp_path / "lock")!r})):
    print("held", flush=True)
    input()
"""
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(UserError, match=f"in use by process {other.pid}"), only_run(tmp_path / "lock"):
            pass
        other.communicate("\n")
    with only_run(tmp_path / "lock"):
        pass


@pytest.fixture
def strict_umask() -> Iterator[None]:
    before = os.umask(0o077)
    yield
    os.umask(before)


@pytest.mark.usefixtures("strict_umask")
def test_every_user_may_lock_the_file(tmp_path: Path) -> None:
    with only_run(tmp_path / "lock"):
        assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o666


def test_a_file_that_is_there_is_not_opened_to_create_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a folder such as /tmp, the kernel does not allow that for a file of another user."""

    def protected(path: Path, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, "Permission denied")
        return opened(path, flags, mode)

    with only_run(tmp_path / "lock"):
        pass
    opened = os.open
    monkeypatch.setattr(os, "open", protected)
    with only_run(tmp_path / "lock"):
        assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_a_killed_holder_frees_the_lock(tmp_path: Path) -> None:
    code = f"""
import os, signal
from pathlib import Path
from lab.engine.lock import only_run
with only_run(Path({str(tmp_path / "lock")!r})):
    os.kill(os.getpid(), signal.SIGKILL)
"""
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == -9
    with only_run(tmp_path / "lock"):
        assert (tmp_path / "lock").read_text() == str(os.getpid())
