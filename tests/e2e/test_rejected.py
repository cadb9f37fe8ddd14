"""What a user's mistakes look like on real containers. Nothing is measured; the lab's own project is needed."""

import re
import signal
import socket
import subprocess
from pathlib import Path

import pytest

from tests.command_line import LAB, lab, one_line
from tests.e2e.tiny import TINY, containers

pytestmark = [pytest.mark.containers, pytest.mark.timeout(900)]

# Contract tests, which may run at the same time, have Compose projects of other names.
OWN = re.compile(r"tollbooth(-\d+)?")


def own_containers() -> list[str]:
    """What runs of an experiment have on the engine, also those of systems side by side."""
    return [project for project in containers() if OWN.fullmatch(project)]


def test_a_port_in_use_is_named(tiny: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        number = str(taken.getsockname()[1])
        line = one_line(lab("run", str(tiny), GATEWAY_PORT=number))
    assert line == f"error: port {number} on 127.0.0.1, wanted for gateway, is in use"


def test_a_second_run_at_the_same_time_is_an_error(tiny: Path) -> None:
    first = subprocess.Popen([*LAB, "run", str(tiny)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert first.stdout is not None
    first.stdout.readline()
    try:
        assert one_line(lab("run", str(tiny))) == f"error: the lab is in use by process {first.pid}"
    finally:
        first.send_signal(signal.SIGTERM)
        first.communicate(timeout=60)
    assert first.returncode == 130
    assert own_containers() == []


def test_a_container_that_cannot_start_shows_its_last_log_lines(tiny: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text(
        TINY.replace(
            "{telemetry: otel-manual, backend: sink}", "{telemetry: baseline, environment: {JAVA_OPTS: -Xmx1k}}"
        )
    )
    done = lab("run", str(broken), "--set", "protocol.retries=0")
    assert "ended with exit code 1 instead of becoming ready" in one_line(done)
    assert "Too small maximum heap" in done.stderr
    assert own_containers() == []


def test_no_engine_is_one_line(tiny: Path) -> None:
    line = one_line(lab("run", str(tiny), DOCKER_HOST="unix:///nonexistent/docker.sock"))
    assert line == "error: no Docker engine answers"
