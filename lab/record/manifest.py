"""`manifest.json`: everything needed to repeat a run."""

from pathlib import Path
from typing import Any

from lab.record.files import read_json

FORMAT, VERSION = "tollbooth.manifest", 2


def read_manifest(folder: Path) -> dict[str, Any]:
    """Read the manifest of a results folder."""
    return read_json(folder / "manifest.json", FORMAT, VERSION)
