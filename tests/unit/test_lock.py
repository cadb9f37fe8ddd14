"""Two runs at once would measure each other: the second names the first."""

import os
import subprocess
import sys
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
