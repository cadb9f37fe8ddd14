"""The driver against a `docker` that is a script: what it does about an engine's moods."""

import os
import subprocess
from pathlib import Path

import pytest

from lab.command import prepare
from lab.engine.compose import ComposeDriver
from lab.engine.driver import EngineGone, EngineRejected, start_failed

# Says that the project has one network, and fails to remove it as often as the file `refusals` has lines.
DOCKER = """#!/bin/sh
cd "$(dirname "$0")"
case "$1 $2" in
"network ls") [ -e removed ] || echo net1 ;;
"network rm")
    echo rm >> calls
    if [ -s refusals ]; then
        sed -i 1d refusals
        echo "Error response from daemon: network x id net1 $REFUSAL" >&2
        exit 1
    fi
    touch removed ;;
"network inspect")
    [ ! -e disconnected ] || ENDS={}
    echo "[{\\"Name\\": \\"tollbooth_app\\", \\"Containers\\": $ENDS}]" ;;
"network disconnect")
    echo "$*" >> calls
    [ -z "$DISCONNECTS" ] || { touch disconnected; rm refusals; } ;;
esac
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    script = tmp_path / "docker"
    script.write_text(DOCKER)
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    monkeypatch.setenv("REFUSAL", "has active endpoints")
    monkeypatch.setenv("DISCONNECTS", "")
    monkeypatch.setenv("ENDS", '{"ep-0f3": {"Name": "tollbooth-a1-1"}}')
    return tmp_path


def test_a_network_that_is_in_use_for_another_moment_is_removed_then(folder: Path) -> None:
    (folder / "refusals").write_text("one\ntwo\n")
    ComposeDriver(folder, folder).remove()
    assert (folder / "removed").exists()
    assert (folder / "calls").read_text().count("rm") == 3


def test_an_endpoint_that_the_engine_keeps_of_a_removed_container_is_disconnected_by_force(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.engine.compose.NETWORK_BOUND_S", 0.3)
    monkeypatch.setenv("DISCONNECTS", "yes")
    (folder / "refusals").write_text("again\n" * 100)
    ComposeDriver(folder, folder).remove()
    assert (folder / "removed").exists()
    assert "network disconnect --force tollbooth_app tollbooth-a1-1" in (folder / "calls").read_text()


def test_one_that_stays_in_use_is_reported(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.engine.compose.NETWORK_BOUND_S", 0.3)
    (folder / "refusals").write_text("again\n" * 100)
    with pytest.raises(EngineRejected, match="keeps networks of tollbooth in use"):
        ComposeDriver(folder, folder).remove()


def test_an_empty_one_that_the_engine_miscounts_stays_for_the_next_deployment(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lab.engine.compose.NETWORK_BOUND_S", 0.3)
    monkeypatch.setenv("ENDS", "{}")
    (folder / "refusals").write_text("again\n" * 100)
    ComposeDriver(folder, folder).remove()
    assert not (folder / "removed").exists()


def test_another_refusal_is_not_waited_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFUSAL", "is predefined")
    (folder / "refusals").write_text("one\ntwo\n")
    with pytest.raises(EngineRejected, match="is predefined"):
        ComposeDriver(folder, folder).remove()
    assert (folder / "calls").read_text().count("rm") == 1


def test_a_network_that_a_killed_run_left_without_containers_is_removed_at_the_next_start(
    folder: Path,
) -> None:
    (folder / "docker").write_text(f"""#!/bin/sh
case "$*" in
"network ls --format"*) echo tollbooth-2 ;;
"network ls"*project=tollbooth-2) [ -e {folder}/removed ] || echo net2 ;;
"network rm net2") touch {folder}/removed ;;
esac
""")
    prepare.remove_all()
    assert (folder / "removed").exists()


def with_log(folder: Path, log: str) -> ComposeDriver:
    """Return a driver with one container; `log`: the script's answer to `docker logs`."""
    (folder / "docker").write_text(f'#!/bin/sh\n[ "$1" = logs ] || exit 0\n{log}\n')
    driver = ComposeDriver(folder, folder)
    driver.ids = {"a1": "id1"}
    return driver


def test_a_log_has_what_a_container_wrote_to_either_stream_in_order(folder: Path) -> None:
    driver = with_log(folder, "echo one; echo two >&2; printf 'thr\\377e\\n'")
    assert driver.last_log_lines("a1", 3) == ["one", "two", "thr\N{REPLACEMENT CHARACTER}e"]
    driver.save_logs(folder / "logs")
    assert (folder / "logs" / "a1.log").read_text().splitlines()[:2] == ["one", "two"]


def test_in_place_of_a_log_that_the_engine_does_not_give_is_the_reason(folder: Path) -> None:
    driver = with_log(
        folder, "echo 'Error response from daemon: the logging driver does not support reading' >&2; exit 1"
    )
    driver.save_logs(folder / "logs")
    assert "failed: Error response from daemon: the logging driver" in (folder / "logs" / "a1.log").read_text()
    # What a container did is still said.
    failed = start_failed(driver, "a1", "ended with exit code 1")
    assert failed.message == "container a1 ended with exit code 1"
    assert "failed: Error response from daemon" in failed.hint


def test_an_engine_that_hangs_while_it_gives_a_log_is_gone(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def hangs(command: list[str], timeout: float, **_: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    driver = with_log(folder, "")
    monkeypatch.setattr("lab.engine.compose.subprocess.run", hangs)
    with pytest.raises(EngineGone, match="did not answer `docker logs 8 id1` in 120 s"):
        driver.last_log_lines("a1", 8)
