"""lock_notebooks.py VERSION: writes notebooks/requirements.lock, for this version of JupyterLab.

It has what JupyterLab needs and requirements.lock lacks, as wheels for any machine. What hashes passwords (argon2) is
left out: it is compiled for each kind of machine, and only the token lets anybody in.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

LOCK = Path(__file__).resolve().parents[1] / "notebooks" / "requirements.lock"
# setuptools: the lab itself is installed with it; without a network, nothing else brings it. soupsieve: later ones need
# Python 3.11.5, the lab 3.11.
ROOTS = ("setuptools>=77", "soupsieve<3.0.2")
LEFT_OUT = ("argon2-cffi", "argon2-cffi-bindings", "cffi", "pycparser")
REPORT = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-", "--only-binary", ":all:"]
# Nothing is installed, but pip wants to know where to.
ANY_MACHINE = ["--target", "nowhere", "--no-deps", "--platform", "any", "--python-version", "3.11"]
HEAD = """\
# Written by scripts/lock_notebooks.py: what JupyterLab needs, apart from the packages of requirements.lock.
"""


def reported(*words: str) -> list[dict[str, Any]]:
    """Return what pip would install."""
    done = subprocess.run([*REPORT, *words], check=True, stdout=subprocess.PIPE)
    found: list[dict[str, Any]] = json.loads(done.stdout)["install"]
    return found


def pin(package: dict[str, Any]) -> str:
    """Return `name==version` of a package."""
    return f"{package['metadata']['name'].lower().replace('_', '-')}=={package['metadata']['version']}"


missing = [pin(package) for package in reported(*ROOTS, f"jupyterlab=={sys.argv[1]}")]
wanted = [one for one in missing if one.partition("==")[0] not in LEFT_OUT]
lines = [
    f"{pin(package)} --hash=sha256:{package['download_info']['archive_info']['hashes']['sha256']}\n"
    for package in reported(*ANY_MACHINE, *wanted)
]
LOCK.write_text(HEAD + "".join(sorted(lines, key=lambda line: line.partition("==")[0])))
