"""lock_locust.py VERSION: writes images/locust/requirements.lock, for this version of Locust.

It has the wheels that the image can install: Debian's Python, on amd64 and arm64. All would be ten times as many.
"""

import sys
from pathlib import Path

from wheels import ELSEWHERE, pin, reported, sha256

LOCK = Path(__file__).resolve().parents[1] / "images" / "locust" / "requirements.lock"
HEAD = "# Written by scripts/lock_locust.py VERSION: wheels for Debian's Python, on amd64 and arm64.\n"
VERSIONS = ("2014", "_2_17", "_2_28", "_2_34")


def hashes(machine: str, *wanted: str) -> dict[str, str]:
    """Return what pip would install on a machine of this name: `name==version`, and the SHA-256 of its wheel."""
    platforms = [word for version in VERSIONS for word in ("--platform", f"manylinux{version}_{machine}")]
    found = reported(*ELSEWHERE, "--python-version", "3.13", *platforms, *wanted)
    return {pin(package): sha256(package) for package in found}


amd64 = hashes("x86_64", f"locust=={sys.argv[1]}")
# The same versions for the other machine.
arm64 = hashes("aarch64", "--no-deps", *amd64)
LOCK.write_text(
    HEAD
    + "".join(
        f"{name} {' '.join(f'--hash=sha256:{digest}' for digest in sorted({amd64[name], arm64[name]}))}\n"
        for name in sorted(amd64)
    )
)
