"""One file of many, each with its SHA-256: a zip file that is written in one pass and verified before use.

The last member, `bundle.json`, says what the archive is (format: docs/reference/formats.md). A file that was cut off
has no end, and so is no zip file.
"""

import hashlib
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Literal

from lab.errors import UserError
from lab.record import Record, whole

CONTENTS = "bundle.json"
CHUNK_BYTES = 1 << 20
# Layers of images become half as large with the fastest level, and hardly smaller with slower ones.
LEVEL = 1
COPY_AGAIN = "copy it again from where it was made"

Took = Callable[[int], None]
"""Called with the number of bytes after each chunk."""


class Member(Record):
    """A file of an archive, as it was before it was compressed."""

    sha256: str
    size_bytes: int


class About(Record):
    """For which engine and Python an archive is, of which revision of the lab, and the digest label of each image."""

    platform: str
    python: str
    revision: str
    images: Mapping[str, str]


class Contents(About):
    """What an archive says of itself."""

    format: Literal["tollbooth.bundle"] = "tollbooth.bundle"
    version: Literal[1] = 1
    members: Mapping[str, Member]


def write(path: Path, about: About, members: Iterable[tuple[str, IO[bytes]]], took: Took) -> None:
    """Writes an archive. A file of this name is there only when it is complete."""
    with whole(path) as part, zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as archive:
        added = {name: _add(archive, name, source, took) for name, source in members}
        archive.writestr(CONTENTS, Contents(**about.model_dump(), members=added).model_dump_json())


def _add(archive: zipfile.ZipFile, name: str, source: IO[bytes], took: Took) -> Member:
    digest, size = hashlib.sha256(), 0
    with archive.open(name, "w", force_zip64=True) as out:
        while chunk := source.read(CHUNK_BYTES):
            out.write(chunk)
            digest.update(chunk)
            size += len(chunk)
            took(len(chunk))
    return Member(sha256=digest.hexdigest(), size_bytes=size)


def read_contents(path: Path) -> Contents:
    """What an archive says of itself. Raises `UserError` if it was cut off, or is no archive of this version."""
    if not path.is_file():
        raise UserError(f"there is no file {path}", "name an archive that `lab bundle` made")
    try:
        with zipfile.ZipFile(path) as archive:
            return Contents.model_validate_json(archive.read(CONTENTS))
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, ValueError):
        message = f"{path} is cut off, or not made by this version's `lab bundle`"
        raise UserError(message, COPY_AGAIN) from None


def verify(path: Path, members: Mapping[str, Member], took: Took) -> None:
    """Reads every member; raises `UserError` at the first that is not what was written."""
    with zipfile.ZipFile(path) as archive:
        for name, recorded in members.items():
            if _digest(archive, name, took) != recorded.sha256:
                raise UserError(f"{path} is damaged: {name} is not what was written", COPY_AGAIN)


def _digest(archive: zipfile.ZipFile, name: str, took: Took) -> str | None:
    digest = hashlib.sha256()
    try:
        with archive.open(name) as stream:
            while chunk := stream.read(CHUNK_BYTES):
                digest.update(chunk)
                took(len(chunk))
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError):
        return None
    return digest.hexdigest()


@contextmanager
def member(path: Path, name: str) -> Iterator[IO[bytes]]:
    """Yields a member, to be read."""
    with zipfile.ZipFile(path) as archive, archive.open(name) as stream:
        yield stream


def unique_bytes(images: Iterable[tuple[Sequence[str], int]]) -> int:
    """The bytes of all layers of images, each once; an image is its layers' ids, lowest first, and its size.

    An image that is based on another one adds only what it has more.
    """
    sizes = {tuple(layers): size for layers, size in images}
    return sum(size - _below(layers, sizes) for layers, size in sizes.items())


def _below(layers: Sequence[str], sizes: Mapping[tuple[str, ...], int]) -> int:
    """The size of the largest other image that is the lower part of this one."""
    return max((sizes.get(tuple(layers[:count]), 0) for count in range(1, len(layers))), default=0)
