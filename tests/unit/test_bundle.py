"""`lab bundle`: what is written is what is read; a file that is cut off, damaged or too large is rejected before use.

The engine is a script here. tests/contract/test_bundled_images.py has a real one.
"""

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from rich.console import Console

from lab.command.bundle import IMAGES, PYTHON, Meter, _warn_of_other_versions, pack, require_room, unpack
from lab.engine import images
from lab.engine.archive import About, Contents, read_contents, unique_bytes, verify, write
from lab.engine.image_recipes import TABLE, wanted_digests
from lab.errors import UserError
from lab.run.progress import Progress
from tests.command_line import one_line
from tests.forked import lab
from tests.repository import ROOT

IMAGE = "tollbooth/sink:dev"
STREAM = bytes(range(256)) * 40_000
ABOUT = About(platform="linux x86_64", python=PYTHON, revision="abc", images={IMAGE: "label"})
LAYERS = {"base": ["a"], "jre": ["a", "b"], "services": ["a", "b", "c"], "other": ["a", "d"]}


def ignore(_: int) -> None:
    """Take no notice of progress."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "bundle.zip"
    write(path, ABOUT, [("wheels/a.whl", io.BytesIO(b"wheel")), (IMAGES, io.BytesIO(STREAM))], ignore)
    return path


# --- the archive ------------------------------------------------------------------------------------------------------
def test_an_archive_says_what_it_is_and_verifies(file: Path) -> None:
    contents = read_contents(file)
    assert contents.model_dump() == Contents(**ABOUT.model_dump(), members=contents.members).model_dump()
    assert {name: member.size_bytes for name, member in contents.members.items()} == {
        "wheels/a.whl": 5,
        IMAGES: len(STREAM),
    }
    seen: list[int] = []
    verify(file, contents.members, seen.append)
    assert sum(seen) == 5 + len(STREAM)


@pytest.mark.parametrize("kept", [0.0, 0.3, 0.99])
def test_an_archive_that_was_cut_off_is_reported(file: Path, kept: float) -> None:
    whole = file.read_bytes()
    file.write_bytes(whole[: int(kept * len(whole))])
    with pytest.raises(UserError, match="is cut off, or not made by this version") as raised:
        read_contents(file)
    assert raised.value.hint == "copy it again from where it was made"


def test_a_damaged_part_is_named(file: Path) -> None:
    contents = read_contents(file)
    damaged = bytearray(file.read_bytes())
    damaged[len(damaged) // 3] ^= 0xFF
    file.write_bytes(damaged)
    with pytest.raises(UserError, match=f"is damaged: {IMAGES} is not what was written"):
        verify(file, contents.members, ignore)


def test_a_part_that_was_exchanged_is_named(file: Path) -> None:
    """As a zip file it is fine."""
    contents = read_contents(file)
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("wheels/a.whl", b"other")
        archive.writestr(IMAGES, STREAM)
    with pytest.raises(UserError, match=r"wheels/a\.whl is not what was written"):
        verify(file, contents.members, ignore)


def test_another_zip_file_is_none(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", "b")
    with pytest.raises(UserError, match="not made by this version"):
        read_contents(tmp_path / "x.zip")
    with pytest.raises(UserError, match="there is no file"):
        read_contents(tmp_path)


def test_nothing_is_left_of_an_archive_that_failed(tmp_path: Path) -> None:
    class Failing(io.BytesIO):
        def read(self, _: int | None = None) -> bytes:
            raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        write(tmp_path / "bundle.zip", ABOUT, [(IMAGES, Failing())], ignore)
    assert list(tmp_path.iterdir()) == []


def test_shared_layers_count_once() -> None:
    sizes = {"base": 10, "jre": 25, "services": 26, "other": 17}
    assert unique_bytes((LAYERS[name], size) for name, size in sizes.items()) == 10 + 15 + 1 + 7
    assert unique_bytes([(["a", "b"], 5), (["a", "b"], 5)]) == 5
    assert unique_bytes([]) == 0


# --- with an engine ---------------------------------------------------------------------------------------------------
@pytest.fixture
def docker(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with an engine: `labels` and `sizes` are what it has, `loaded` is what it was given."""
    folder = tmp_path / "engine"
    folder.mkdir()
    (folder / "labels").write_text(f'["{IMAGE}","other:1"] {{"org.tollbooth.inputs":"label"}}\n')
    (folder / "sizes").write_text(f'["{IMAGE}","other:1"] [["a"], {len(STREAM)}]\n')
    (folder / "stream").write_bytes(STREAM)
    script = folder / "docker"
    script.write_text(
        f"""#!/bin/sh
cd {folder}
case "$*" in
*Labels*) cat labels ;;
*Layers*) cat sizes ;;
info*) echo '{{"ServerVersion":"1","OSType":"linux","Architecture":"x86_64","DockerRootDir":"{folder}"}}' ;;
save*) cat stream; exec ./after-save ;;
load*) cat >loaded; cp labels-then labels; exec ./after-load ;;
esac
"""
    )
    for name in ("after-save", "after-load"):
        (folder / name).write_text("#!/bin/sh\n")
        (folder / name).chmod(0o755)
    script.chmod(0o755)
    (folder / "labels-then").write_text((folder / "labels").read_text())
    monkeypatch.setenv("PATH", f"{folder}:{os.environ['PATH']}")
    return folder


@pytest.fixture
def said() -> io.StringIO:
    return io.StringIO()


@pytest.fixture
def progress(said: io.StringIO) -> Progress:
    return Progress(Console(file=said, width=200))


def packed(folder: Path, progress: Progress) -> Path:
    wheel = folder / "a-1-py3-none-any.whl"
    wheel.write_bytes(b"wheel")
    path = folder / "bundle.zip"
    pack(path, [IMAGE], [wheel], progress)
    return path


def loaded(path: Path, progress: Progress) -> None:
    unpack(path, read_contents(path), progress)


def test_what_was_packed_is_loaded(docker: Path, tmp_path: Path, progress: Progress) -> None:
    path = packed(tmp_path, progress)
    assert read_contents(path).images == {IMAGE: "label"}
    (docker / "labels").write_text("\n")
    loaded(path, progress)
    assert (docker / "loaded").read_bytes() == STREAM


def test_images_that_are_here_are_not_loaded_again(
    docker: Path, tmp_path: Path, progress: Progress, said: io.StringIO
) -> None:
    loaded(packed(tmp_path, progress), progress)
    assert "all images of the archive are here already" in said.getvalue()
    assert not (docker / "loaded").exists()


def test_images_of_other_sources_are_loaded(docker: Path, tmp_path: Path, progress: Progress) -> None:
    path = packed(tmp_path, progress)
    (docker / "labels").write_text((docker / "labels").read_text().replace("label", "older"))
    loaded(path, progress)
    assert (docker / "loaded").exists()


def test_an_engine_that_does_not_send_everything_leaves_no_archive(
    docker: Path, tmp_path: Path, progress: Progress
) -> None:
    (docker / "after-save").write_text("#!/bin/sh\necho 'no such layer' >&2\nexit 1\n")
    with pytest.raises(UserError, match="the engine did not save the images") as raised:
        packed(tmp_path, progress)
    assert raised.value.hint == "no such layer"
    assert list(tmp_path.glob("bundle.zip*")) == []


@pytest.mark.parametrize(
    ("after", "message"),
    [
        ("echo 'no space left on device' >&2; exit 1", "the engine did not load the images"),
        ("echo >labels", "does not have all of them"),
    ],
)
def test_an_engine_that_does_not_take_them_is_reported(
    docker: Path, tmp_path: Path, progress: Progress, after: str, message: str
) -> None:
    path = packed(tmp_path, progress)
    (docker / "labels").write_text("\n")
    (docker / "after-load").write_text(f"#!/bin/sh\n{after}\n")
    with pytest.raises(UserError, match=message):
        loaded(path, progress)


def test_nothing_is_loaded_from_a_damaged_archive(docker: Path, tmp_path: Path, progress: Progress) -> None:
    path = packed(tmp_path, progress)
    (docker / "labels").write_text("\n")
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 3] ^= 0xFF
    path.write_bytes(damaged)
    with pytest.raises(UserError, match="is damaged"):
        loaded(path, progress)
    assert not (docker / "loaded").exists()


def test_images_for_another_processor_are_rejected(docker: Path, tmp_path: Path, progress: Progress) -> None:
    path = packed(tmp_path, progress)
    (docker / "labels").write_text("\n")
    script = docker / "docker"
    script.write_text(script.read_text().replace("x86_64", "aarch64"))
    with pytest.raises(UserError, match="the images are for linux x86_64, this engine is linux aarch64"):
        loaded(path, progress)


# --- room, progress, the command line ---------------------------------------------------------------------------------
def test_too_small_a_disk_is_found_before_anything_is_written(docker: Path, tmp_path: Path, progress: Progress) -> None:
    (docker / "sizes").write_text(f'["{IMAGE}"] [["a"], {1 << 60}]\n')
    with pytest.raises(UserError, match=r"the archive may need \d+ MiB .* MiB are free"):
        packed(tmp_path, progress)
    assert list(tmp_path.glob("bundle.zip*")) == []


def test_enough_room_is_enough(tmp_path: Path) -> None:
    require_room(tmp_path, 1, "this")


def test_progress_is_said_now_and_then() -> None:
    said: list[str] = []
    times_s = iter([0.0, 5.0, 10.0, 10.0, 12.0, 25.0, 25.0])
    meter = Meter("written", 8 << 20, said.append, lambda: next(times_s))
    for _ in range(4):
        meter.took(1 << 20)
    assert said == ["written: 2 of 8 MiB", "written: 4 of 8 MiB"]


def test_a_missing_archive_is_one_line() -> None:
    assert "there is no file nothing.zip" in one_line(lab("bundle", "--load", "nothing.zip"))


def test_images_that_this_checkout_would_build_again_are_named(capsys: pytest.CaptureFixture[str]) -> None:
    digests, references = wanted_digests(ROOT, images.versions()), images.references(TABLE)
    of_this = ABOUT.model_copy(update={"images": {references[name]: digests[name] for name in TABLE}})
    _warn_of_other_versions(Contents(**of_this.model_dump(), members={}))
    assert capsys.readouterr().out == ""
    older = {**of_this.images, references["sink"]: "older"}
    _warn_of_other_versions(Contents(**{**of_this.model_dump(), "images": older}, members={}))
    said = capsys.readouterr().out
    assert "this checkout has other sources of sink, and would build them" in said
    assert "git checkout abc" in said


# --- packages, before any is installed --------------------------------------------------------------------------------
def unpacked(path: Path, folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-I", "-S", str(ROOT / "scripts" / "unpack_wheels.py"), str(path), str(folder)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_packages_are_unpacked_by_python_alone(file: Path, tmp_path: Path) -> None:
    done = unpacked(file, tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")
    assert [path.relative_to(tmp_path) for path in (tmp_path / "out").rglob("*.*")] == [Path("out/wheels/a.whl")]


def test_packages_for_another_python_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "bundle.zip"
    write(path, ABOUT.model_copy(update={"python": "Python 2.7 on Minix"}), [], ignore)
    done = unpacked(path, tmp_path / "out")
    assert done.stderr == f"setup: the packages of {path} are for Python 2.7 on Minix, this is {PYTHON}\n"
    assert done.returncode == 1


def test_packages_of_an_archive_that_was_cut_off_are_reported(file: Path, tmp_path: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])
    done = unpacked(file, tmp_path / "out")
    assert done.stderr.startswith(f"setup: {file} is cut off") and done.stderr.count("\n") == 1


SETUP = f"""
set -euo pipefail
for part in common python jupyterlab bundle; do source {ROOT}/scripts/setup/$part.sh; done
mkdir scripts && cp {ROOT}/scripts/unpack_wheels.py scripts/
python_is_installed() {{ [[ -e installed ]]; }}
jupyterlab_is_installed() {{ [[ -e installed ]]; }}
find_python() {{ echo {sys.executable}; }}
ensure_python() {{ echo "python: $PIP_NO_INDEX $(ls $PIP_FIND_LINKS)"; }}
ensure_jupyterlab() {{ echo "jupyterlab: $PIP_NO_INDEX $(ls $PIP_FIND_LINKS)"; }}
"""


def set_up(commands: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(["bash", "-c", SETUP + commands], cwd=folder, capture_output=True, text=True, check=False)


def test_the_set_up_calls_no_registry(file: Path, tmp_path: Path) -> None:
    done = set_up(f'ensure_packages_of {file}; echo "then: ${{PIP_NO_INDEX-none}}"', tmp_path)
    assert done.stdout.splitlines() == ["python: 1 a.whl", "jupyterlab: 1 a.whl", "then: none"]
    assert (done.returncode, done.stderr) == (0, f"setup: unpacking the Python packages of {file}\n")
    assert not (tmp_path / ".lab" / "bundle").exists()


def test_the_set_up_needs_no_packages_if_they_are_installed(file: Path, tmp_path: Path) -> None:
    done = set_up(f"touch installed; ensure_packages_of {file}", tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_set_up_ends_at_an_archive_that_was_cut_off(file: Path, tmp_path: Path) -> None:
    file.write_bytes(file.read_bytes()[:-100])
    done = set_up(f"ensure_packages_of {file}", tmp_path)
    assert done.returncode == 1
    assert "is cut off" in done.stderr.splitlines()[-1]
    assert done.stdout == ""
