"""The append-only list of an experiment's runs: one whose folder was deleted still has its number."""

import json
from datetime import datetime
from pathlib import Path

ATTEMPTS = "attempts.jsonl"


def numbered(folder: Path, started: datetime, command: str) -> int:
    """Append a run to the list beside its folder, and return its number: 1 for the first."""
    log = folder.parent / ATTEMPTS
    number = 1 + (len(log.read_text().splitlines()) if log.exists() else 0)
    with log.open("a") as file:
        said = {"attempt": number, "run": folder.name, "started": started.isoformat(timespec="seconds")}
        file.write(json.dumps({**said, "command": command}) + "\n")
    return number
