"""Has loaded the lab, and runs command lines of it, each in a fork of its own. `tests.forked` starts it.

An order is a line of JSON on standard input: `words`, `environment`, the working folder `here`, and the `folder` that
gets `out` and `errors`. The answer is a line with the exit code.
"""

import gc
import json
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import scipy.stats  # noqa: F401  # commands load it when they need it, and the tables, too

import lab.report.runs
import lab.report.terminal  # noqa: F401
from lab.cli import LAB, main
from lab.target.mesh.target import Mesh
from tests.repository import ROOT

BOUND_S = 600


def become(order: Mapping[str, Any]) -> None:
    """Makes this process the one that was ordered."""
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["here"])
    folder = Path(order["folder"])
    for number, path in enumerate((Path(os.devnull), folder / "out", folder / "errors")):
        os.dup2(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), number)
    sys.argv = ["lab", *order["words"]]
    signal.alarm(BOUND_S)


def run() -> None:
    """Runs the command line, and ends as it does, but without taking apart all that was loaded: that takes longer."""
    try:
        main()
    except SystemExit as ended:
        if not isinstance(ended.code, int):
            raise
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(ended.code)


if __name__ == "__main__":
    # Each command that reads an experiment would make these models, and compose the YAML of these files.
    _ = LAB.grammar.files, LAB.grammar.experiments
    Mesh(ROOT).parts("mesh")
    # A fork shares the memory that neither writes to, and looking for garbage writes to all of it.
    gc.freeze()
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            become(json.loads(line))
            run()
        status = os.waitpid(child, 0)[1]
        sys.stdout.write(f"{os.waitstatus_to_exitcode(status)}\n")
        sys.stdout.flush()
