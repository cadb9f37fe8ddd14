"""The set-up's start of the Docker engine, with a `docker` and a `dockerd` that are scripts."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).parents[2] / "scripts" / "setup"
STARTED = "failed to start daemon: pid file found, ensure docker is not running or delete docker.pid"

# Answers once dockerd has started.
DOCKER = '[ -e "$FOLDER/started" ]'
# Does not start beside a pid file, as the real one does where a process has that number.
DOCKERD = f"""
echo 'time="2026-01-01T00:00:00Z" level=info msg="Starting up"'
if [ -e "$FOLDER/docker.pid" ]; then
    echo "{STARTED}"
    echo 'time="2026-01-01T00:00:00Z" level=info msg="stopping event stream"'
    exit 1
fi
touch "$FOLDER/started"
"""
SLEEPER = "sleep 60 & trap 'kill $!' TERM; wait"

Spawn = Callable[[str, str], "subprocess.Popen[bytes]"]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    # No dockerd is running: the machine's own must not count.
    for name, body in {"docker": DOCKER, "dockerd": DOCKERD, "pgrep": "exit 1"}.items():
        write_script(tmp_path / name, body)
    return tmp_path


@pytest.fixture
def spawn(tmp_path: Path) -> Iterator[Spawn]:
    """Starts a script under a process name of its own."""
    spawned: list[subprocess.Popen[bytes]] = []

    def start(name: str, body: str) -> "subprocess.Popen[bytes]":
        (tmp_path / "running").mkdir(exist_ok=True)
        write_script(tmp_path / "running" / name, body)
        spawned.append(subprocess.Popen([tmp_path / "running" / name]))
        comm = Path(f"/proc/{spawned[-1].pid}/comm")
        wait_until(lambda: comm.read_text().strip() == name)
        return spawned[-1]

    yield start
    for process in spawned:
        process.terminate()
        process.wait()


def is_zombie(pid: int) -> bool:
    return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()


def write_script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def start_engine(folder: Path) -> "subprocess.CompletedProcess[str]":
    script = f"""
    set -euo pipefail
    source {SCRIPTS}/common.sh
    source {SCRIPTS}/engine.sh
    ENGINE_LOG=$FOLDER/dockerd.log ENGINE_PID_FILE=$FOLDER/docker.pid CONTAINERD_PID_FILE=$FOLDER/containerd.pid
    SYSTEMD_FOLDER=$FOLDER/none ENGINE_START_TIMEOUT_S=8
    start_engine
    """
    environment = {**os.environ, "FOLDER": str(folder), "PATH": f"{folder}:{os.environ['PATH']}"}
    return subprocess.run(
        ["bash", "-c", script], env=environment, capture_output=True, text=True, check=False, timeout=30
    )


def recovered(folder: Path, *stale: str) -> None:
    done = start_engine(folder)
    paths = " ".join(str(folder / name) for name in stale)
    assert done.stderr.splitlines() == [
        "setup: starting the Docker engine",
        f"setup: removing the pid file of an engine that no longer runs: {paths}",
    ]
    assert done.returncode == 0
    assert not any((folder / name).exists() for name in stale)


def ended_pid() -> int:
    with subprocess.Popen(["true"]) as process:
        return process.pid


def test_without_pid_files_the_engine_just_starts(folder: Path) -> None:
    done = start_engine(folder)
    assert (done.returncode, done.stderr) == (0, "setup: starting the Docker engine\n")


def test_pid_files_of_processes_that_ended_are_removed(folder: Path) -> None:
    (folder / "docker.pid").write_text(str(ended_pid()))
    (folder / "containerd.pid").write_text(str(ended_pid()))
    recovered(folder, "docker.pid", "containerd.pid")


@pytest.mark.parametrize("content", ["", "not a number\n"])
def test_a_pid_file_without_a_number_is_removed(folder: Path, content: str) -> None:
    (folder / "docker.pid").write_text(content)
    recovered(folder, "docker.pid")


@pytest.mark.parametrize("name", ["docker.pid", "containerd.pid"])
def test_a_pid_that_another_program_got_is_stale(folder: Path, spawn: Spawn, name: str) -> None:
    (folder / name).write_text(str(spawn("other", SLEEPER).pid))
    recovered(folder, name)


def test_a_killed_engine_that_is_still_listed_as_a_zombie_is_stale(folder: Path, spawn: Spawn) -> None:
    for file, program in (("docker.pid", "dockerd"), ("containerd.pid", "containerd")):
        killed = spawn(program, SLEEPER)
        killed.kill()
        wait_until(partial(is_zombie, killed.pid))
        (folder / file).write_text(str(killed.pid))
    recovered(folder, "docker.pid", "containerd.pid")


def test_the_pid_file_of_a_containerd_that_outlived_its_engine_stays(folder: Path, spawn: Spawn) -> None:
    (folder / "containerd.pid").write_text(str(spawn("containerd", SLEEPER).pid))
    assert start_engine(folder).returncode == 0
    assert (folder / "containerd.pid").exists()


def test_the_pid_file_of_a_running_dockerd_stays_even_if_the_search_misses_it(folder: Path, spawn: Spawn) -> None:
    (folder / "docker.pid").write_text(f"{spawn('dockerd', SLEEPER).pid}\n")
    began = time.monotonic()
    done = start_engine(folder)
    assert done.stderr.splitlines() == [
        "setup: starting the Docker engine",
        f"setup: the Docker engine ended while it started: {STARTED}",
        f"       read {folder}/dockerd.log",
    ]
    assert done.returncode == 1
    assert time.monotonic() - began < 5
    assert (folder / "docker.pid").exists()


def test_a_running_dockerd_is_waited_for_and_no_second_one_started(folder: Path, spawn: Spawn) -> None:
    running = spawn("dockerd", f"sleep 1; touch {folder}/started; {SLEEPER}")
    (folder / "docker.pid").write_text(str(running.pid))
    write_script(folder / "pgrep", f"echo {running.pid}")
    done = start_engine(folder)
    assert (done.returncode, done.stderr) == (0, f"setup: waiting for the Docker engine (process {running.pid})\n")
    assert (folder / "docker.pid").exists()
    assert not (folder / "dockerd.log").exists()


def test_a_running_dockerd_that_ends_is_reported_at_once(folder: Path, spawn: Spawn) -> None:
    write_script(folder / "pgrep", f"echo {spawn('dockerd', 'sleep 1').pid}")
    began = time.monotonic()
    assert "setup: the Docker engine ended while it started: no log\n" in start_engine(folder).stderr
    assert time.monotonic() - began < 5


def test_an_engine_that_ends_at_once_is_reported_with_its_own_line_and_not_an_older_one(folder: Path) -> None:
    (folder / "dockerd.log").write_text("failed to start daemon: an older start\n")
    write_script(folder / "dockerd", "echo 'failed to load listeners: no such device'; exit 1")
    began = time.monotonic()
    done = start_engine(folder)
    assert done.stderr.splitlines() == [
        "setup: starting the Docker engine",
        "setup: the Docker engine ended while it started: failed to load listeners: no such device",
        f"       read {folder}/dockerd.log",
    ]
    assert done.returncode == 1
    assert time.monotonic() - began < 5


def test_an_engine_that_never_answers_is_reported_after_the_time_limit(folder: Path) -> None:
    write_script(folder / "dockerd", "echo 'level=error msg=stuck'; exec sleep 20")
    done = start_engine(folder)
    assert "setup: the Docker engine did not answer within 8 s: level=error msg=stuck\n" in done.stderr
    assert done.returncode == 1
