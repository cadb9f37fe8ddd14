"""lock_locust.py VERSION: writes images/locust/requirements.lock, for this version of Locust.

It has the wheels that the image can install: Debian's Python, on amd64 and arm64. All would be ten times as many.
"""

import json
import subprocess
import sys
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "images" / "locust" / "requirements.lock"
HEAD = "# Written by scripts/lock_locust.py VERSION: wheels for Debian's Python, on amd64 and arm64.\n"
# Nothing is installed, but pip wants to know where to.
REPORT = [
    *(sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-", "--only-binary", ":all:"),
    *("--target", "nowhere", "--python-version", "3.13"),
]
GLIBC = ("2_17", "2_28", "2_34")


def hashes(machine: str, wanted: list[str]) -> dict[str, str]:
    """Return what pip would install on a machine of this name: `name==version`, and the SHA-256 of its wheel."""
    platforms = [word for glibc in GLIBC for word in ("--platform", f"manylinux_{glibc}_{machine}")]
    done = subprocess.run([*REPORT, *platforms, *wanted], check=True, stdout=subprocess.PIPE)
    return {
        f"{one['metadata']['name'].lower().replace('_', '-')}=={one['metadata']['version']}": str(
            one["download_info"]["archive_info"]["hashes"]["sha256"]
        )
        for one in json.loads(done.stdout)["install"]
    }


amd64 = hashes("x86_64", [f"locust=={sys.argv[1]}", "--platform", "manylinux2014_x86_64"])
# The same versions for the other machine.
arm64 = hashes("aarch64", [*amd64, "--no-deps", "--platform", "manylinux2014_aarch64"])
LOCK.write_text(
    HEAD
    + "".join(
        f"{pin} {' '.join(f'--hash=sha256:{digest}' for digest in sorted({amd64[pin], arm64[pin]}))}\n"
        for pin in sorted(amd64)
    )
)
