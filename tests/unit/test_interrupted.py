"""Ctrl-C, SIGTERM and a closed terminal: nothing is cut in two, what was measured is kept, and what is left is said."""

import io
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from lab import cli
from lab.command import commands, prepare, running
from lab.engine import EngineGone, EngineRejected
from lab.engine.lock import only_run
from lab.errors import UserError
from lab.run.measure import Measured, NotRemoved, StartInterrupted, read_whole, removed_after
from lab.run.start import Start
from lab.run.uninterrupted import SIGNALS, ignore_signals, interrupt_by_signals, uninterrupted

THREE = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]
MEASURED = [Measured(Path(name), None, {}, []) for name in ("one", "other")]


class Cut(BaseException):
    pass


@pytest.fixture(autouse=True)
def handler() -> Iterator[Mock]:
    """Return what each signal calls until the lab changes it: a signal that is not handled would end the tests."""
    noted = Mock()
    before = {number: signal.signal(number, lambda *_: noted()) for number in THREE}
    yield noted
    for number, earlier in before.items():
        signal.signal(number, earlier)


@pytest.mark.parametrize("number", THREE)
def test_a_signal_interrupts(number: int) -> None:
    interrupt_by_signals()
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(number)


@pytest.mark.parametrize("number", THREE)
def test_a_signal_is_held_back_until_the_block_has_ended(number: int, handler: Mock) -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(number)
        done.append("the rest of the block")
    assert done and not handler.called
    signal.raise_signal(number)
    assert handler.call_count == 1


def test_the_given_interruption_is_raised() -> None:
    with pytest.raises((Cut, KeyboardInterrupt)) as cut, uninterrupted(Cut):
        signal.raise_signal(signal.SIGINT)
    assert cut.type is Cut
    with uninterrupted(Cut):
        pass


@pytest.mark.parametrize("number", THREE)
def test_a_signal_that_is_ignored_stays_ignored(number: int) -> None:
    signal.signal(number, signal.SIG_IGN)
    interrupt_by_signals()
    with uninterrupted():
        assert signal.getsignal(number) is signal.SIG_IGN
        signal.raise_signal(number)
    assert signal.getsignal(number) is signal.SIG_IGN
    assert all(signal.getsignal(other) is signal.default_int_handler for other in THREE if other != number)


def test_a_clean_up_is_not_interrupted(handler: Mock) -> None:
    ignore_signals()
    for number in THREE:
        signal.raise_signal(number)
    assert not handler.called
    assert set(SIGNALS) == set(THREE)


def interrupted() -> Sequence[Measured]:
    """Return what was measured; a signal comes while it is read."""
    signal.raise_signal(signal.SIGTERM)
    return MEASURED


def start(failure: BaseException | None) -> Start:
    """A start that is not removed where there is a failure."""
    return SimpleNamespace(remove=Mock(side_effect=failure))  # type: ignore[return-value]


def read_in_the_end() -> None:
    read_whole(interrupted)


def removed_badly() -> None:
    with removed_after([start(EngineGone("gone"))], interrupted):
        pass


def removed_and_interrupted() -> None:
    with removed_after([start(KeyboardInterrupt())], interrupted):
        pass


@pytest.mark.parametrize("end", [read_in_the_end, removed_badly, removed_and_interrupted])
def test_a_signal_while_records_are_read_loses_nothing(end: Callable[[], None]) -> None:
    interrupt_by_signals()
    with pytest.raises(KeyboardInterrupt) as cut:
        end()
    assert isinstance(cut.value, StartInterrupted)
    assert cut.value.measured == MEASURED


def test_what_is_read_without_a_signal_is_returned() -> None:
    assert read_whole(lambda: MEASURED) == MEASURED
    with pytest.raises(NotRemoved) as failed, removed_after([start(EngineGone("gone"))], lambda: MEASURED):
        pass
    assert failed.value.measured == MEASURED


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mock:
    """Return an engine without a system of `lab up`."""
    monkeypatch.setattr(commands, "LOCK", tmp_path / "lock")
    made = Mock(spec_set=("has_containers", "remove_all"), **{"has_containers.return_value": False})
    monkeypatch.setattr(running, "has_containers", made.has_containers)
    monkeypatch.setattr(prepare, "remove_all", made.remove_all)
    return made


def test_a_clean_up_removes_everything(engine: Mock) -> None:
    assert commands.clean_up()
    assert engine.remove_all.call_count == 1


@pytest.mark.parametrize("failed", ["has_containers", "remove_all"])
@pytest.mark.parametrize("error", [EngineGone("the engine is gone"), EngineRejected("networks are in use")])
def test_a_clean_up_without_an_engine_says_so(engine: Mock, failed: str, error: UserError) -> None:
    getattr(engine, failed).side_effect = error
    assert not commands.clean_up()


def test_a_clean_up_leaves_what_lab_up_started_and_what_another_process_measures(engine: Mock) -> None:
    with only_run(commands.LOCK):
        assert commands.clean_up()
    engine.has_containers.return_value = True
    assert commands.clean_up()
    assert not engine.remove_all.called


@pytest.mark.parametrize(
    ("cleaned", "said"),
    [(True, "everything was stopped and"), (False, "containers may still run (stop them: lab down) and")],
)
def test_an_interrupted_command_says_whether_containers_may_still_run(
    cleaned: bool, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    errors = io.StringIO()
    monkeypatch.setattr(cli, "app", Mock(side_effect=KeyboardInterrupt))
    monkeypatch.setattr(commands, "clean_up", lambda: cleaned)
    monkeypatch.setattr(sys, "stderr", errors)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.INTERRUPTED
    assert errors.getvalue().splitlines() == [
        "error: interrupted",
        f"{said} finished trials are kept: continue with --resume",
    ]


@pytest.mark.parametrize("number", THREE)
def test_the_command_line_ends_in_order_by_each_signal(number: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cli, "app", lambda **_: signal.raise_signal(number))
    monkeypatch.setattr(commands, "clean_up", lambda: True)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == cli.INTERRUPTED
