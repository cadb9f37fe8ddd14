"""Reading and writing the JSON and text files of a results folder."""

import json
import lzma
import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from lab.errors import UserError

FIX_HINT = "the file was cut or changed after it was written: delete the trial's folder and run with --resume"
VERSION_HINT = "it was written by another version of the lab: analyse it with that one"
MIGRATE_HINT = "convert the results folder once: lab migrate FOLDER"

PACKED = ".xz"

Model = TypeVar("Model", bound="Record")


class Record(BaseModel):
    """A part of a JSON record: unchangeable, and open to fields that a later writer adds."""

    model_config = ConfigDict(frozen=True)


def write_json_atomic(path: Path, data: Mapping[str, Any]) -> None:
    """Write `data` to `path`, whole or not at all."""
    # As one text: `json.dump` would write each of its words alone.
    write_atomic(path, json.dumps(data, indent=1, allow_nan=False) + "\n")


def write_atomic(path: Path, text: str) -> None:
    """Write `text` to `path`, whole or not at all, also where the machine stops in between."""
    part = path.with_name(f".{path.name}.part")
    with part.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Give a path for a new file or folder. It gets its name if the block ends well; otherwise it is removed."""
    part = path.with_name(f".{path.name}.part")
    _remove(part)
    try:
        yield part
        part.rename(path)
    finally:
        _remove(part)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def packed(path: Path) -> Path:
    """Return where a record is kept compressed: `summary.json.xz` for `summary.json`. Readers accept both."""
    return path.with_name(f"{path.name}{PACKED}")


def stored(path: Path) -> bool:
    """Whether a record is there, as it is or compressed."""
    return path.exists() or packed(path).exists()


def write_packed(path: Path, text: str) -> None:
    """Write a record compressed; the same text gives the same bytes."""
    # Bytes of text are not aligned (`pb`). Higher presets only have larger dictionaries, which cost time for each file.
    packed(path).write_bytes(
        lzma.compress(text.encode(), filters=[{"id": lzma.FILTER_LZMA2, "preset": 6 | lzma.PRESET_EXTREME, "pb": 0}])
    )


def read_json(path: Path, format_name: str, version: int) -> dict[str, Any]:
    """Read a JSON record; raises `UserError` where it is missing, broken, or of another format or version."""
    data = json_object(read_text(path), str(path))
    check_format(data, format_name, version, str(path))
    return data


def complete_lines(text: str) -> tuple[list[str], bool]:
    """Split into lines; a last one without its end (its writer was killed) is left out."""
    *lines, rest = text.split("\n")
    return lines, rest != ""


def read_text(path: Path) -> str:
    """Return a record's text. Raises `UserError` if the file is missing or unreadable."""
    try:
        compressed = not path.exists() and packed(path).exists()
        return (lzma.decompress(packed(path).read_bytes()) if compressed else path.read_bytes()).decode("utf-8")
    except FileNotFoundError:
        raise UserError(f"{path} is missing", "was this folder written by `lab run`?") from None
    except (OSError, EOFError, lzma.LZMAError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}", FIX_HINT) from error


def json_lines(
    text: str, source: str, format_name: str, version: int, what: str, take: Callable[[dict[str, Any]], None]
) -> tuple[dict[str, Any], bool]:
    """Parse JSON Lines, and let `take` have each record; return the header, and whether a last line is not whole.

    Such a line is left out: its writer was killed. `take` raises `KeyError` or `TypeError` for what is not `what`;
    errors name `source` and line.
    """
    lines, truncated = complete_lines(text)
    if not lines:
        raise UserError(f"{source} is empty", FIX_HINT)
    header = json_object(lines[0], f"{source}, line 1")
    check_format(header, format_name, version, source)
    for number, data in enumerate(_json_objects(lines[1:], source), start=2):
        try:
            take(data)
        except (KeyError, TypeError) as error:
            raise UserError(f"{source}, line {number}: not {what} ({error})", FIX_HINT) from error
    return header, truncated


def _json_objects(lines: Sequence[str], source: str) -> list[dict[str, Any]]:
    """Parse a JSON object from each line: all at once, and one by one where that fails, to name the line."""
    try:
        found = json.loads(f"[{','.join(lines)}]")
    except json.JSONDecodeError:
        found = []
    if len(found) == len(lines) and all(isinstance(data, dict) for data in found):
        return found  # type: ignore[no-any-return]
    return [json_object(line, f"{source}, line {number}") for number, line in enumerate(lines, start=2)]


def json_object(text: str, where: str) -> dict[str, Any]:
    """Parse a JSON object. Raises `UserError` that names `where` if the text is none."""
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise UserError(f"{where}: not JSON ({error.msg})", FIX_HINT) from error
    if not isinstance(data, dict):
        raise UserError(f"{where}: not a JSON object", FIX_HINT)
    return data


def check_format(data: Mapping[str, Any], format_name: str, version: int, source: str) -> None:
    """Raise `UserError` if a record has another format or version than the reader's."""
    name, found = data.get("format"), data.get("version")
    if (name, found) != (format_name, version):
        raise UserError(
            f"{source}: is {name} version {found}, not {format_name} version {version}",
            MIGRATE_HINT if name == format_name and isinstance(found, int) and found < version else VERSION_HINT,
        )


def validated(model: type[Model], data: dict[str, Any], path: Path) -> Model:
    """Return a record as its model. Raises `UserError` that names the first wrong field."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        first = error.errors()[0]
        raise UserError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}", FIX_HINT) from error
