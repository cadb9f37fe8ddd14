"""unpack_wheels.py ARCHIVE FOLDER: the Python packages of an archive that `lab bundle` made.

Runs before the lab's packages are installed, so it has only the standard library.
"""

import json
import platform
import sys
import zipfile
import zlib


def unpack(path: str, folder: str) -> str:
    """Unpacks the packages into a folder; returns why that is not possible, or ""."""
    own = f"Python {sys.version_info.major}.{sys.version_info.minor} on {platform.system()} {platform.machine()}"
    try:
        with zipfile.ZipFile(path) as archive:
            needed = json.loads(archive.read("bundle.json"))["python"]
            if needed != own:
                return f"the packages of {path} are for {needed}, this is {own}"
            # The checksum of each is verified when it is installed.
            archive.extractall(folder, [name for name in archive.namelist() if name.startswith("wheels/")])
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError):
        return f"{path} is cut off, damaged, or not made by `lab bundle`: copy it again"
    return ""


if __name__ == "__main__":
    if wrong := unpack(sys.argv[1], sys.argv[2]):
        sys.exit(f"setup: {wrong}")
