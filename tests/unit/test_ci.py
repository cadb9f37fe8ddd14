"""What CI runs in which process, and that no process compiles what others have compiled."""

import os
import re
import subprocess
from fnmatch import fnmatch
from pathlib import Path

from tests.repository import ROOT

SCRIPT = (ROOT / "scripts" / "test.sh").read_text()


def test_each_file_of_tests_is_in_one_of_two_processes() -> None:
    (pattern,) = re.findall(r"^SECOND_HALF='(.*)'$", SCRIPT, re.MULTILINE)
    every = {str(path) for path in (ROOT / "tests").rglob("test_*.py")}
    # What `--ignore-glob` of pytest leaves, and what the shell makes of the pattern.
    first = {path for path in every if not fnmatch(path, str(ROOT / pattern))}
    listed = subprocess.run(["bash", "-c", f"printf '%s\\n' {pattern}"], cwd=ROOT, capture_output=True, check=True)
    second = {str(ROOT / name) for name in listed.stdout.decode().split()}
    assert first | second == every
    assert not first & second
    assert min(len(first), len(second)) > len(every) / 4


def test_each_test_with_containers_of_its_own_is_in_one_group() -> None:
    *groups, others = re.findall(r'\bbeside "?((?:not )?test_[^"]*?)"?; }', SCRIPT)
    assert len(groups) == 4
    left_out = others.removeprefix("not ").split(" and not ")
    for name in (path.name for kind in ("contract", "e2e") for path in (ROOT / "tests" / kind).glob("test_*.py")):
        chosen = [group for group in groups if any(part in name for part in group.split(" or "))]
        assert len(chosen) == any(part in name for part in left_out), name


def test_the_tests_of_the_labs_own_project_are_all_run() -> None:
    ((first, rest),) = re.findall(
        r"own_project tests/contract -k (\w+) .*own_project tests/contract -k \"not (\w+)\"", SCRIPT, re.DOTALL
    )
    assert first == rest
    assert f"def {first}(" in (ROOT / "tests" / "contract" / "test_faults.py").read_text()
    assert "own_project tests/e2e" in SCRIPT


def test_python_keeps_compiled_modules_whatever_the_environment_says(tmp_path: Path) -> None:
    more = tmp_path / "more.mk"
    more.write_text('shown:\n\t@echo "<$${PYTHONDONTWRITEBYTECODE-}>"\n')
    shown = subprocess.run(
        ["make", "-f", "Makefile", "-f", str(more), "shown"], cwd=ROOT, capture_output=True, text=True, check=True,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    )  # fmt: skip
    assert shown.stdout == "<>\n"
