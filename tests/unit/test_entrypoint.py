"""The script that starts a service: a wrong variable is one line, before anything else is looked at."""

import subprocess

from tests.repository import ROOT


def test_a_class_archive_that_is_neither_on_nor_off_is_one_line() -> None:
    done = subprocess.run(
        ["sh", str(ROOT / "services" / "entrypoint.sh")],
        env={"PATH": "/usr/bin:/bin", "CLASS_ARCHIVE": "maybe"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert line.startswith("tollbooth: CLASS_ARCHIVE: ")
    assert "'maybe'" in line
