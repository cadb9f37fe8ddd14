"""`lab migrate`: what is of version 1 is converted whole or not at all, and nothing else is written."""

import errno
import json
import os
from pathlib import Path
from typing import Any

import pytest

from lab.command.migrate import migrate
from lab.target.mesh import version1
from tests.golden.records import EXPERIMENTS
from tests.labs import parse

OF_VERSION_1 = next(path for path in sorted(EXPERIMENTS.glob("*.yaml")) if "\nversion: 1\n" in path.read_text())


def migrated(path: Path) -> str:
    """Migrate a file or a folder, and return what is said of it."""
    said = list[str]()
    migrate(path, version1, said.append)
    (line,) = said
    return line.removeprefix(f"{path}: ")


def unchanged(path: Path) -> bool:
    """Whether a file of `old` was not written."""
    return path.stat().st_mtime_ns == 1


def old(path: Path, text: str) -> Path:
    """Write a file that is old."""
    path.write_text(text)
    os.utime(path, ns=(1, 1))
    return path


def test_an_experiment_of_version_1_is_converted(tmp_path: Path) -> None:
    file = old(tmp_path / "x.yaml", OF_VERSION_1.read_text())
    assert migrated(file) == "converted"
    assert parse(file.read_text(), "x").levels()
    assert list(tmp_path.iterdir()) == [file]
    os.utime(file, ns=(1, 1))
    assert migrated(file) == "already version 2"
    assert unchanged(file)


def test_a_conversion_that_fails_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    file = old(tmp_path / "x.yaml", OF_VERSION_1.read_text())
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        migrated(file)
    assert file.read_text() == OF_VERSION_1.read_text()
    assert unchanged(file)


@pytest.mark.parametrize(
    "manifest", [{"version": 2, "spec": {"target": {"kind": "jmh", "benchmark": "x"}}}, {"version": 2}, {}]
)
def test_a_run_that_is_not_of_version_1_is_left_as_it_is(tmp_path: Path, manifest: dict[str, Any]) -> None:
    (tmp_path / "trials" / "001-x").mkdir(parents=True)
    written = [
        old(tmp_path / "manifest.json", json.dumps(manifest)),
        old(tmp_path / "trials" / "001-x" / "trial.json", json.dumps({"version": 2})),
    ]
    assert migrated(tmp_path) == "0 records converted"
    assert all(map(unchanged, written))
