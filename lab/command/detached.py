"""A command of the lab in a process of its own, which outlives what began it."""

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from lab.command.paths import ROOT

# What it says, or what is on record of it, may hold a token.
ONLY_OWNER = 0o600


def begin(words: Sequence[str], log: Path, environment: Mapping[str, str]) -> "subprocess.Popen[bytes]":
    """Begins `lab` with these words. What it says is in the file `log`, which begins anew.

    `environment`: variables besides this process's own.
    """
    log.touch(mode=ONLY_OWNER)
    with log.open("w") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "lab", *words],
            cwd=ROOT,
            env={**os.environ, **environment},
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            # Neither Ctrl-C, nor the end of the terminal or of what began it, reaches it.
            start_new_session=True,
        )
