"""What pip would install, for the scripts that write locks of wheels. Nothing is installed."""

import json
import subprocess
import sys
from typing import Any

REPORT = [sys.executable, "-m", "pip", "install", "--quiet", "--dry-run", "--report", "-", "--only-binary", ":all:"]
# pip wants to know where to.
ELSEWHERE = ["--target", "nowhere"]


def reported(*words: str) -> list[dict[str, Any]]:
    """Return what pip would install."""
    done = subprocess.run([*REPORT, *words], check=True, stdout=subprocess.PIPE)
    found: list[dict[str, Any]] = json.loads(done.stdout)["install"]
    return found


def pin(package: dict[str, Any]) -> str:
    """Return `name==version` of a package."""
    return f"{package['metadata']['name'].lower().replace('_', '-')}=={package['metadata']['version']}"


def sha256(package: dict[str, Any]) -> str:
    """Return the SHA-256 of a package's wheel."""
    return str(package["download_info"]["archive_info"]["hashes"]["sha256"])
