"""What a student hands in: raw records and answers in one archive, without names of people, machines or folders."""

import lzma
import re
import tarfile
from collections.abc import Iterator, Mapping, Sequence
from io import BytesIO
from pathlib import Path

from lab.errors import UserError
from lab.grading.answers import NAME
from lab.record import packed, read_text, read_trial_record, stored, trial_folders, whole

HOME = r"(?<![\w.])/(?:home|Users)/[\w.-]+|[A-Z]:\\+Users\\"
"""Home folders of any machine."""
FEWEST_LETTERS = 3
"""Shorter names are parts of too many words."""


def contents(run: Path, answers: Path) -> dict[str, Path]:
    """Return what is handed in, by its name in the archive: manifest, answers, each trial's verdict and raw records.

    Logs and the overlay of Compose stay behind: they name folders and containers of the machine.
    """
    found = {NAME: answers, "manifest.json": run / "manifest.json"}
    for folder in trial_folders(run):
        streams = read_trial_record(folder).streams.values()
        names = ["trial.json", *(name for stream in streams for name in stream.files.values())]
        there = [path if path.exists() else packed(path) for path in map(folder.joinpath, names) if stored(path)]
        found |= {file.relative_to(run).as_posix(): file for file in there}
    return found


def names_in(found: Mapping[str, Path], names: Sequence[str]) -> Iterator[str]:
    """Yield where a file contains one of `names` as a word, or a home folder: the first place of each file."""
    words = [rf"(?<!\w){re.escape(name)}(?!\w)" for name in names if len(name) >= FEWEST_LETTERS]
    pattern = re.compile("|".join([*words, HOME]))
    for name, path in found.items():
        text = read_text(path.with_suffix("") if path.suffix == ".xz" else path)
        if seen := pattern.search(text):
            yield f"{name}, line {text.count(chr(10), 0, seen.start()) + 1}: {seen[0]}"


def write_archive(found: Mapping[str, Path], archive: Path, folder: str) -> None:
    """Write an archive of the files, below `folder`, without owners and times. Raises `UserError` if it is there."""
    if archive.exists():
        raise UserError(f"{archive} is there already", "remove it first, or name another file")
    with whole(archive) as part, lzma.open(part, "wb") as out, tarfile.open(fileobj=out, mode="w") as tar:
        for name, path in found.items():
            content = path.read_bytes()
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(content)
            tar.addfile(entry, BytesIO(content))


def unpack(archive: Path, into: Path) -> Path:
    """Unpack what `lab pack` wrote; return the run's folder. Raises `UserError` if it is something else."""
    try:
        with tarfile.open(archive) as tar:
            tar.extractall(into, filter="data")
    except (tarfile.TarError, lzma.LZMAError, EOFError) as error:
        raise UserError(f"{archive} cannot be unpacked: {error}", "let the student run `lab pack` again") from error
    folders = [path.parent for path in into.glob("*/manifest.json")]
    if len(folders) != 1:
        raise UserError(f"{archive} does not hold one run", "let the student run `lab pack` again")
    return folders[0]
