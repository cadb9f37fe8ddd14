"""The command line without the time that it takes to load: each command is a fork of one process that has loaded it.

`tests.command_line` starts a process for each, as a user does.
"""

import json
import os
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from tests.repository import ROOT


@cache
def _loaded() -> "subprocess.Popen[str]":
    """The process that forks; it ends when the tests do, with its input."""
    words = [sys.executable, "-m", "tests.loaded"]
    return subprocess.Popen(words, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def lab(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs the command line without a terminal."""
    orders, codes = _loaded().stdin, _loaded().stdout
    assert orders is not None
    assert codes is not None
    with tempfile.TemporaryDirectory() as folder:
        order = {
            "words": words,
            "environment": {**os.environ, **environment},
            "here": str(Path.cwd()),
            "folder": folder,
        }
        orders.write(f"{json.dumps(order)}\n")
        orders.flush()
        code = int(codes.readline())
        out, errors = ((Path(folder) / name).read_text() for name in ("out", "errors"))
    return subprocess.CompletedProcess(["lab", *words], code, out, errors)
