"""`lab migrate`: converts experiment files and results folders of version 1, in place."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from lab.errors import UserError
from lab.record import json_object, read_text, stored, streams_in, write_atomic, write_json_atomic, write_packed

Json = Mapping[str, Any]


def migrate(path: Path, version1: ModuleType, say: Callable[[str], None]) -> None:
    """Convert an experiment file, or the JSON records of a results folder. What is of version 2 stays as it is.

    `version1` has a pure function for each kind of file, such as `lab.target.mesh.version1`.
    """
    if path.is_file():
        text = read_text(path)
        converted = version1.experiment_text(text) if "\nversion: 1\n" in text else text
        if converted != text:
            write_atomic(path, converted)
        say(f"{path}: {'converted' if converted != text else 'already version 2'}")
    elif (path / "manifest.json").exists():
        say(f"{path}: {_folder(path, version1)} records converted")
    else:
        raise UserError(f"{path} is neither a file nor a results folder", "give the folder that has manifest.json")


def _folder(folder: Path, version1: ModuleType) -> int:
    manifest = _read(folder / "manifest.json")
    if manifest.get("version") != 1:
        return 0
    # Last, so that a migration that was interrupted goes on where it stopped.
    topology = str(manifest["spec"].get("topology") or manifest["spec"]["target"]["topology"])
    steps: list[tuple[Path, Callable[[Json], dict[str, Any]]]] = [
        *(
            (path, partial(version1.trial, topology=topology, streams=streams_in(path.parent)))
            for path in sorted(folder.glob("**/trial.json"))
        ),
        (folder / "summary.json", partial(version1.summary, topology=topology)),
        (folder / "claims.json", version1.verdicts),
        (folder / "manifest.json", version1.manifest),
    ]
    return sum(_convert(path, step) for path, step in steps if stored(path))


def _convert(path: Path, step: Callable[[Json], dict[str, Any]]) -> bool:
    given = _read(path)
    if given.get("version") != 1:
        return False
    if path.exists():
        write_json_atomic(path, step(given))
    else:
        write_packed(path, json.dumps(step(given), separators=(",", ":")))
    return True


def _read(path: Path) -> dict[str, Any]:
    return json_object(read_text(path), str(path))
