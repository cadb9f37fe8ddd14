"""The command line, as a user without a terminal has it."""

import os
import subprocess
import sys

LAB = [sys.executable, "-m", "lab"]


def lab(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line without a terminal."""
    return subprocess.run(
        [*LAB, *words], capture_output=True, text=True, env={**os.environ, **environment}, check=False, timeout=600
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """The error's first line; there must be no stack trace."""
    assert done.returncode not in (0, 70), done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done.stderr.splitlines()[0]
