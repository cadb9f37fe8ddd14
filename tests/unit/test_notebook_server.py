"""`make notebooks`: JupyterLab on this machine only, with a token, whatever the user's settings say."""

import json
import os
import re
import shutil
import socket
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from lab.engine.clock import SystemClock, wait_until
from tests.repository import ROOT

LOCK = ROOT / "notebooks" / "requirements.lock"
PINNED = re.compile(r"([a-z0-9-]+)==\S+ --hash=sha256:[0-9a-f]{64}")
ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/lab/tree/notebooks\?token=([0-9a-f]{40,})")
ANSWERS_WITHIN_S = 60
# Settings of a user that would open the server.
OPEN = {"JUPYTER_TOKEN": "", "JUPYTER_TOKEN_FILE": "/nothing", "JUPYTER_CONFIG_DIR": "/nothing"}
# Prints how it was called, in place of Python.
RECORDER = """#!/bin/sh
for word in "$@"; do echo "$word"; done
env
"""


def test_the_server_is_started_closed(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy2(ROOT / "scripts" / "notebooks.sh", tmp_path / "scripts")
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    python.write_text(RECORDER)
    python.chmod(0o755)
    environment = {"PATH": os.environ["PATH"], **OPEN}
    done = subprocess.run(
        [tmp_path / "scripts" / "notebooks.sh"], env=environment, capture_output=True, text=True, check=True
    )
    said = done.stdout.splitlines()
    assert said[:3] == ["-m", "jupyterlab", "--ServerApp.ip=127.0.0.1"]
    assert "JUPYTER_NO_CONFIG=1" in said
    assert [line for line in said if "token" in line.lower() or "password" in line.lower()] == []


def test_each_package_is_pinned_with_one_checksum_and_is_not_in_the_labs_own_lock() -> None:
    own = set(re.findall(r"^([a-z0-9-]+)==(?!.*'pypy')", (ROOT / "requirements.lock").read_text(), re.MULTILINE))
    lines = [line for line in LOCK.read_text().splitlines() if not line.startswith("#")]
    found = [PINNED.fullmatch(line) for line in lines]
    assert all(found), lines
    names = [match[1] for match in found if match]
    assert {"jupyterlab", "jupyter-server", "setuptools"} <= set(names)
    assert sorted(set(names)) == names
    assert own.isdisjoint(names)


# --- the real one, which is installed first --------------------------------------------------------------------------


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """What a started server has printed, once it has printed its address."""
    log = tmp_path / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            ["make", "notebooks"], cwd=ROOT, env={**os.environ, **OPEN}, stdout=out, stderr=out, start_new_session=True
        )
    try:
        ready = wait_until(lambda: bool(ADDRESS.search(log.read_text())), 10 * ANSWERS_WITHIN_S, 0.2, SystemClock())
        assert ready, log.read_text()
        yield log.read_text()
    finally:
        os.killpg(process.pid, 15)
        process.wait(ANSWERS_WITHIN_S)


def status(address: str, token: str = "", host: str = "") -> int:
    headers = {**({"Authorization": f"token {token}"} if token else {}), **({"Host": host} if host else {})}
    try:
        with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=ANSWERS_WITHIN_S) as got:
            return int(got.status)
    except urllib.error.HTTPError as rejected:
        return rejected.code


@pytest.mark.long
def test_only_who_has_the_token_gets_in(server: str) -> None:
    found = ADDRESS.search(server)
    assert found
    port, token = found.groups()
    api = f"http://127.0.0.1:{port}/api"
    assert status(f"{api}/contents/notebooks") == 403
    assert status(f"{api}/contents/notebooks", "0" * 48) == 403
    assert status(f"{api}/contents/notebooks/telemetry-overhead.ipynb", token) == 200
    assert status(f"{api}/contents/notebooks", token, "elsewhere.example") == 403
    assert status(f"http://127.0.0.1:{port}/lab/tree/notebooks", token) == 200
    with urllib.request.urlopen(
        urllib.request.Request(f"{api}/kernelspecs", headers={"Authorization": f"token {token}"})
    ) as got:
        assert json.load(got)["default"] == "python3"
    # 127.0.0.2 is loopback too: what listens on every address answers there.
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.2", int(port)), timeout=5)
