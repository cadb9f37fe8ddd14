"""lock_notebooks.py VERSION: writes notebooks/requirements.lock, for this version of JupyterLab.

It has what JupyterLab needs and requirements.lock lacks, as wheels for any machine. What hashes passwords (argon2) is
left out: it is compiled for each kind of machine, and only the token lets anybody in.
"""

import sys
from pathlib import Path

from wheels import ELSEWHERE, pin, reported, sha256

LOCK = Path(__file__).resolve().parents[1] / "notebooks" / "requirements.lock"
# setuptools: the lab itself is installed with it; without a network, nothing else brings it. soupsieve: later ones need
# Python 3.11.5, the lab 3.11.
ROOTS = ("setuptools>=77", "soupsieve<3.0.2")
LEFT_OUT = ("argon2-cffi", "argon2-cffi-bindings", "cffi", "pycparser")
ANY_MACHINE = [*ELSEWHERE, "--no-deps", "--platform", "any", "--python-version", "3.11"]
HEAD = """\
# Written by scripts/lock_notebooks.py: what JupyterLab needs, apart from the packages of requirements.lock.
"""

missing = [pin(package) for package in reported(*ROOTS, f"jupyterlab=={sys.argv[1]}")]
wanted = [one for one in missing if one.partition("==")[0] not in LEFT_OUT]
lines = [f"{pin(package)} --hash=sha256:{sha256(package)}\n" for package in reported(*ANY_MACHINE, *wanted)]
LOCK.write_text(HEAD + "".join(sorted(lines, key=lambda line: line.partition("==")[0])))
