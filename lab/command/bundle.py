"""`lab bundle`: images and Python packages in one file, for machines without a network; and its images, loaded."""

import contextlib
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Generator, Mapping, Sequence
from pathlib import Path
from typing import IO, Annotated, Any

import typer

from lab.command.commands import console, say
from lab.command.paths import LOCK, ROOT, SCRATCH, shown
from lab.engine import archive, image_archive, images, only_run, require_engine
from lab.engine.image_engine import ImageEngine
from lab.engine.image_recipes import TABLE, wanted_digests
from lab.engine.machine import parse_engine_info, run_command
from lab.errors import UserError
from lab.run.progress import Progress

IMAGES, PACKAGES = "images.tar", "wheels"
LOCKS = (ROOT / "requirements.lock", ROOT / "notebooks" / "requirements.lock")
PYTHON = f"Python {sys.version_info.major}.{sys.version_info.minor} on {platform.system()} {platform.machine()}"
"""Packages are for this; scripts/unpack_wheels.py says the same of the Python that shall install them."""
DEFAULT = Path("tollbooth-bundle.zip")
# They only build other images.
ONLY_BUILDS = ("toolchain-go", "toolchain-java")
# The engine first writes the stream to its disk, then unpacks the layers.
COPIES_WHILE_LOADING = 2
PROGRESS_EVERY_S = 10.0

app = typer.Typer()


@app.command(
    epilog="Examples: lab bundle · lab bundle /media/stick/class.zip · lab bundle --load /media/stick/class.zip"
)
def bundle(
    file: Annotated[Path, typer.Argument(help="The archive.")] = DEFAULT,
    load: Annotated[bool, typer.Option("--load", help="Loads the images of the archive into the engine.")] = False,
) -> None:
    """Writes all images and Python packages into one file, for machines without a network; or loads its images."""
    progress, contents = Progress(console), archive.read_contents(file) if load else None
    require_engine()
    with only_run(LOCK):
        if contents:
            unpack(file, contents, progress)
            _warn_of_other_versions(contents)
        else:
            _bundle_all(file, progress)


def pack(file: Path, references: Sequence[str], packages: Sequence[Path], progress: Progress) -> None:
    """Writes an archive of images and of files of packages. Raises `UserError` where its disk may be too small."""
    total = image_archive.size_bytes(references) + sum(package.stat().st_size for package in packages)
    require_room(file.absolute().parent, total, "the archive")
    about = archive.About(
        platform=_platform(),
        python=PYTHON,
        revision=(run_command(["git", "-C", str(ROOT), "rev-parse", "HEAD"]) or "unknown").strip(),
        images=_labels(references),
    )
    meter = Meter("written", total, progress.say)
    with progress.step(f"writing {shown(file)}"), contextlib.closing(_members(references, packages)) as members:
        archive.write(file, about, members, meter.took)


def unpack(file: Path, contents: archive.Contents, progress: Progress) -> None:
    """Loads an archive's images, unless all are here. Raises `UserError` before it loads any if a part is wrong."""
    if _loaded(contents.images):
        progress.say("all images of the archive are here already")
        return
    if contents.platform != _platform():
        raise UserError(f"the images are for {contents.platform}, this engine is {_platform()}", "make another archive")
    size_bytes = contents.members[IMAGES].size_bytes
    root = Path(_engine().get("DockerRootDir", ""))
    # An engine in a virtual machine names a folder that is not here.
    if root.is_dir():
        require_room(root, COPIES_WHILE_LOADING * size_bytes, "loading")
    whole = sum(member.size_bytes for member in contents.members.values())
    with progress.step("verifying checksums"):
        archive.verify(file, contents.members, Meter("verified", whole, progress.say).took)
    with progress.step("loading images"), archive.member(file, IMAGES) as stream:
        image_archive.load(stream, Meter("loaded", size_bytes, progress.say).took)
    if not _loaded(contents.images):
        raise UserError("the engine took the images, but does not have all of them", "load the archive again")


def require_room(folder: Path, wanted: int, what: str) -> None:
    """Raises `UserError` where less than so many bytes are free on the disk of a folder."""
    free = shutil.disk_usage(folder).free
    if free < wanted:
        message = f"{what} may need {wanted >> 20} MiB on the disk of {shown(folder)}; {free >> 20} MiB are free"
        raise UserError(message, "make room, or choose another disk")


class Meter:
    """Says now and then how far something is."""

    def __init__(
        self, done: str, total: int, say: Callable[[str], None], now: Callable[[], float] = time.monotonic
    ) -> None:
        self._done, self._total, self._say, self._now = done, total, say, now
        self._bytes, self._said_s = 0, now()

    def took(self, more: int) -> None:
        """Counts bytes."""
        self._bytes += more
        if self._now() - self._said_s >= PROGRESS_EVERY_S:
            self._said_s = self._now()
            self._say(f"{self._done}: {self._bytes >> 20} of {self._total >> 20} MiB")


def _bundle_all(file: Path, progress: Progress) -> None:
    if not file.absolute().parent.is_dir():
        raise UserError(f"there is no folder {file.parent}", "name a file in a folder that exists")
    names = [name for name in TABLE if name not in ONLY_BUILDS]
    images.ensure(names, progress.say)
    SCRATCH.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=SCRATCH) as folder:
        with progress.step("downloading the Python packages"):
            _download(Path(folder))
        pack(file, list(images.references(names).values()), sorted(Path(folder).iterdir()), progress)
    say(f"{shown(file)}: {file.stat().st_size >> 20} MiB. On the other machine: make setup BUNDLE={file.name}")


def _download(folder: Path) -> None:
    """Puts the locked packages into a folder, as this Python and machine need them."""
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
    locks = [word for lock in LOCKS for word in ("--requirement", str(lock))]
    done = subprocess.run(
        [*command, "--only-binary", ":all:", "--dest", str(folder), *locks], capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise UserError("the Python packages could not be downloaded", done.stderr.strip().rpartition("\n")[2])


def _members(references: Sequence[str], packages: Sequence[Path]) -> Generator[tuple[str, IO[bytes]]]:
    for package in packages:
        with package.open("rb") as file:
            yield f"{PACKAGES}/{package.name}", file
    for stream in image_archive.saved(references):
        yield IMAGES, stream


def _labels(references: Collection[str]) -> dict[str, str]:
    """The digest label of each of these images that is here; an image may have more names than these."""
    found = ImageEngine().digests(references)
    return {reference: found[reference] for reference in references if reference in found}


def _loaded(wanted: Mapping[str, str]) -> bool:
    return _labels(wanted) == wanted


def _engine() -> dict[str, Any]:
    return parse_engine_info(run_command(["docker", "info", "--format", "{{json .}}"]))


def _platform() -> str:
    """What images must be made for, such as `linux x86_64`."""
    return f"{_engine().get('OSType')} {_engine().get('Architecture')}"


def _warn_of_other_versions(contents: archive.Contents) -> None:
    """Says which images this checkout would build again: those of other sources or versions."""
    digests = wanted_digests(ROOT, images.versions())
    references = images.references(name for name in TABLE if name not in ONLY_BUILDS)
    other = [
        name
        for name, reference in references.items()
        if not images.is_right(name, contents.images.get(reference), digests[name])
    ]
    if other:
        say(f"this checkout has other sources of {', '.join(other)}, and would build them: a network is needed")
        say(f"to use the archive as it is: git checkout {contents.revision}")
