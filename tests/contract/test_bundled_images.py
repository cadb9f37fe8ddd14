"""`lab bundle` with a real engine: an image of one small layer is packed, removed, and loaded again."""

import io
import subprocess
import tarfile
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from rich.console import Console

from lab.command.bundle import pack, unpack
from lab.engine.archive import read_contents
from lab.engine.image_archive import load
from lab.engine.image_engine import image_ids
from lab.engine.image_recipes import DIGEST_LABEL
from lab.errors import UserError
from lab.run.progress import Progress

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(120)]


def docker(*words: str, content: bytes = b"") -> bytes:
    return subprocess.run(["docker", *words], input=content, capture_output=True, check=True).stdout


@pytest.fixture
def image() -> Iterator[str]:
    """An image of one file, made without a build, under a name of its own."""
    name, layer, unique = f"tollbooth-bundle-test:{uuid.uuid4().hex}", io.BytesIO(), uuid.uuid4().bytes
    with tarfile.open(fileobj=layer, mode="w") as tar:
        file = tarfile.TarInfo("unique")
        file.size = len(unique)
        tar.addfile(file, io.BytesIO(unique))
    docker("import", "--change", f"LABEL {DIGEST_LABEL}=digest", "-", name, content=layer.getvalue())
    yield name
    subprocess.run(["docker", "image", "rm", name], capture_output=True, check=False)


@pytest.fixture
def progress() -> Progress:
    return Progress(Console(file=io.StringIO()))


def test_an_image_is_loaded_as_it_was(image: str, tmp_path: Path, progress: Progress) -> None:
    path, before = tmp_path / "bundle.zip", image_ids([image])
    pack(path, [image], [], progress)
    contents = read_contents(path)
    assert contents.images == {image: "digest"}
    docker("image", "rm", image)
    assert image_ids([image]) == {}
    unpack(path, contents, progress)
    assert image_ids([image]) == before


def test_of_a_damaged_archive_nothing_is_loaded(image: str, tmp_path: Path, progress: Progress) -> None:
    path = tmp_path / "bundle.zip"
    pack(path, [image], [], progress)
    docker("image", "rm", image)
    contents, damaged = read_contents(path), bytearray(path.read_bytes())
    damaged[len(damaged) // 3] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(UserError, match="is damaged"):
        unpack(path, contents, progress)
    assert image_ids([image]) == {}


def test_an_engine_that_rejects_the_stream_says_why() -> None:
    with pytest.raises(UserError, match="the engine did not load the images") as raised:
        load(io.BytesIO(b"no images" * 1000), lambda _: None)
    assert raised.value.hint
