"""The page's process: one at a time, on record for its user only, ended by its record; and a change's."""

import os
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from lab.command import detached, running, serving
from lab.command.choice import chosen
from lab.command.held_fault import NotInjected
from lab.command.serving import Serving
from lab.command.up import _or_without_fault
from lab.engine.lock import only_run
from lab.errors import UserError
from lab.fault.journal import Journal
from lab.page import changes, world
from lab.page.serve import shorten
from lab.page.state import State
from lab.page.world import ThisMachine
from tests import page_fakes
from tests.labs import LAB
from tests.page_fakes import FakeWorld

PAGE = Serving(token="ab", port=8070)


@pytest.fixture(autouse=True)
def scratch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own for records."""
    monkeypatch.setattr(serving, "SCRATCH", tmp_path)
    for name, file in {"PATH": "page.json", "LOCK": "page.lock", "LOG": "page.log"}.items():
        monkeypatch.setattr(serving, name, tmp_path / file)
    monkeypatch.delenv(serving.VARIABLE, raising=False)
    return tmp_path


def test_a_page_is_on_record_while_it_is_served_and_only_for_its_user() -> None:
    assert serving.read() is None
    with serving.on_record(PAGE) as current:
        assert serving.read() == PAGE
        assert stat.S_IMODE(serving.PATH.stat().st_mode) == 0o600
        assert current()
        assert serving.begin() == "http://127.0.0.1:8070/#token=ab"
        serving.PATH.unlink()
        assert not current()
    assert serving.read() is None


def test_a_record_of_another_page_is_left_alone() -> None:
    with serving.on_record(PAGE):
        serving.PATH.write_text(serving.PATH.read_text().replace('"ab"', '"cd"'))
    assert serving.read() == Serving(token="cd", port=8070)


def test_there_is_one_page() -> None:
    with serving.on_record(PAGE), pytest.raises(UserError, match="in use by process"), serving.on_record(PAGE):
        pass


def test_a_page_that_cannot_be_served_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def begun(*_: object, **options: object) -> "subprocess.Popen[bytes]":
        code = "print('error: port 8070 is in use'); raise SystemExit(2)"
        return real([sys.executable, "-c", code], stdout=options["stdout"])  # type: ignore[call-overload]

    real = subprocess.Popen
    monkeypatch.setattr(detached.subprocess, "Popen", begun)
    with pytest.raises(serving.NotServed, match="port 8070 is in use"):
        serving.begin()


def test_a_port_in_use_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server((serving.HOST, 0)) as taken:
        number = taken.getsockname()[1]
        monkeypatch.setenv(serving.VARIABLE, str(number))
        with pytest.raises(UserError, match=f"port {number} on 127.0.0.1, wanted for the page, is in use") as caught:
            serving.require_port()
        assert caught.value.hint == "stop what listens there, or choose another: PAGE_PORT=<port> make up"
        # If the page is what listens there, nothing is wrong.
        with serving.on_record(Serving(token="ab", port=number)):
            serving.require_port()
    serving.require_port()


@pytest.mark.parametrize("text", ["eighty", "0", "65536", "-1"])
def test_what_is_no_port_is_rejected(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(serving.VARIABLE, text)
    with pytest.raises(UserError, match="is not a port"):
        serving.port()


def test_a_fault_that_was_not_injected_is_not_on_record(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "PATH", tmp_path / "up.json")
    now = page_fakes.running_system(fault="frozen", fault_until_s=10.0)
    with pytest.raises(NotInjected), _or_without_fault(now):
        raise NotInjected("the fault could not be injected", "the system runs without it")
    kept = running.read()
    assert kept is not None
    assert kept.fault_until_s == 0.0


# --- changes ----------------------------------------------------------------------------------------------------------


def test_a_change_is_a_process_with_words_that_no_shell_reads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "lab"
    program.write_text(
        '#!/bin/sh\nfor word in "$@"; do echo "[$word]"; done\necho $GATEWAY_PORT\n'
        "read -r _ _ _ _ _ session _ </proc/$$/stat\necho $session\nexit $CODE\n"
    )
    program.chmod(0o755)
    monkeypatch.setattr(changes, "LOG", tmp_path / "change.log")
    monkeypatch.setattr(detached.sys, "executable", str(program))
    words = changes.words_of("mesh", ["telemetry=$(id)", 'environment.A="1"'], "none")
    change = changes.begin(words, {"GATEWAY_PORT": "9000", "CODE": "0"})
    assert isinstance(change, changes.ByCommand)
    change.process.wait(10)
    *said, port, session = (tmp_path / "change.log").read_text().split("\n")[:-1]
    assert said == [f"[{word}]" for word in ("-m", "lab", *words)]
    assert port == "9000"
    # The end of the page, or of its terminal, does not reach it.
    assert int(session) == change.process.pid != os.getsid(0)
    assert (change.running(), change.error()) == (False, None)


@pytest.mark.parametrize(
    ("output", "said"),
    [
        ("starting ...\nerror: port 8080 is in use\nstop what listens\n", "port 8080 is in use: stop what listens"),
        ("error: unknown fault\n", "unknown fault"),
        ("", "the change ended without a reason: see page-change.log in .lab"),
    ],
)
def test_a_change_that_failed_says_why_in_a_line(output: str, said: str) -> None:
    assert changes.said(output) == said


# --- what the state depends on ----------------------------------------------------------------------------------------


def test_the_engine_is_called_only_where_the_observer_sees_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    monkeypatch.setattr(running, "has_containers", lambda: bool(calls.append(True)))
    now = page_fakes.running_system()
    assert not ThisMachine(LAB, lambda: True).gone(now)
    assert calls == []
    blind = ThisMachine(LAB, lambda: False)
    assert blind.gone(now)
    # Not once more in the next seconds.
    assert blind.gone(now)
    assert calls == [True]


def test_what_is_known_of_a_system_is_found_once_until_its_record_changes(tmp_path: Path) -> None:
    machine, now = ThisMachine(LAB, lambda: True), page_fakes.running_system()
    assert machine.known(now) is machine.known(now.model_copy())
    assert machine.known(now.model_copy(update={"id": "two"})).of.id == "two"


def test_a_fault_is_left_if_the_journal_has_it_and_no_process_lives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(world.paths, "JOURNAL", tmp_path / "faults.json")
    monkeypatch.setattr(world.held_fault, "LOCK", tmp_path / "fault.lock")
    machine = ThisMachine(LAB, lambda: True)
    assert not machine.fault_left()
    (fault,) = chosen(LAB, "mesh", [], "frozen").baseline_level().settings.faults
    Journal(tmp_path / "faults.json").add(0, fault)
    assert machine.fault_left()
    with only_run(tmp_path / "fault.lock"):
        assert not machine.fault_left()
    # It empties the journal and frees the lock just now, between two looks.
    monkeypatch.setattr(world.held_fault, "held", lambda: bool(Journal(tmp_path / "faults.json").clear()))
    assert not machine.fault_left()


# --- the observer's record --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("most_bytes", "done"), [(2, ["stop", "start"]), (3, [])])
def test_the_observer_starts_again_when_its_record_is_long(most_bytes: int, done: list[str], tmp_path: Path) -> None:
    from tests.fake import FakeDriver

    class Engine:
        place = type("Place", (), {"driver": FakeDriver()})

    counters = tmp_path / "counters.jsonl"
    view = State(FakeWorld(page_fakes.running_system())).view()
    assert view.known is not None
    view.known.__dict__["_start"] = Engine
    shorten(view, counters, most_bytes)
    counters.write_text("abc")
    shorten(view, counters, most_bytes)
    assert Engine.place.driver.done == done
