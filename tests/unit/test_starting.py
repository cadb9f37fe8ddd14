"""How what a target starts is created, and waited for: often looked at, and the engine seldom called."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.engine import Place, Stack, StartFailed, await_ready, create, ports
from tests.benches import place
from tests.fake import FakeClock


class Engine:
    """An engine that counts how often it is called, and on which `a1` ends after some seconds."""

    def __init__(self, clock: FakeClock, ends_s: float = 1e9) -> None:
        self.clock, self.ends_s, self.calls = clock, ends_s, 0
        self.created = list[Stack]()

    def create(self, stack: Stack) -> None:
        self.created.append(stack)

    def containers(self) -> dict[str, SimpleNamespace]:
        self.calls += 1
        a1 = SimpleNamespace(running=self.clock.now_s() < self.ends_s, exit_code=1)
        return {"a1": a1, "observer": SimpleNamespace(running=False, exit_code=0)}

    def last_log_lines(self, service: str, count: int) -> list[str]:
        return [f"{service} says why"]


def on(engine: Any, alone: bool = True) -> Place:
    return place(engine, alone)


def looking(clock: FakeClock, ready_s: float) -> tuple[Callable[[], bool], list[float]]:
    """What is ready after some seconds, and when it was looked at."""
    looks = list[float]()

    def ready() -> bool:
        looks.append(clock.now_s())
        return clock.now_s() >= ready_s

    return ready, looks


def test_the_engine_is_called_once_a_second_and_readiness_is_seen_at_once() -> None:
    clock = FakeClock()
    engine, (ready, looks) = Engine(clock), looking(clock, 3.5)
    await_ready(on(engine), ["a1"], ready, 30.0, 0.25)
    assert (clock.now_s(), engine.calls) == (3.5, 4)
    assert len(set(looks)) >= 14


@pytest.mark.parametrize(("late", "named"), [(None, "a1"), (lambda: "a2", "a2")])
def test_what_is_never_ready_is_given_up_at_the_bound_and_named(late: Callable[[], str] | None, named: str) -> None:
    clock = FakeClock()
    with pytest.raises(StartFailed, match=f"container {named} was not ready after 5 s"):
        await_ready(on(Engine(clock)), ["a2", "a1"], lambda: False, 5.0, 0.25, late)
    assert clock.now_s() == 5.0


def test_what_ends_instead_is_named_within_a_second() -> None:
    clock = FakeClock()
    with pytest.raises(StartFailed, match="container a1 ended with exit code 1 instead of becoming ready") as failed:
        await_ready(on(Engine(clock, ends_s=2.5)), ["a1"], lambda: False, 30.0, 0.25)
    assert "a1 says why" in failed.value.hint
    assert clock.now_s() <= 3.5


def test_containers_are_created_after_the_folder_that_they_write_to(tmp_path: Path) -> None:
    engine, out = Engine(FakeClock()), tmp_path / "start"
    stack, files = Stack(("a1",), {}, {"A": "1", "B": "1"}), {"envoy/a1.json": "{}"}
    create(on(engine), stack, out, {"B": "2"}, ["observer"], files, ["ready"])
    environment = {"A": "1", "B": "2", "TRIAL_DIR": str(out), "SERVICE_CPUS": "0,1", "OTHER_CPUS": "0,1"}
    assert engine.created == [Stack(("a1", "observer"), {}, environment)]
    assert (out / "envoy" / "a1.json").read_text() == "{}"
    assert {folder.stat().st_mode & 0o777 for folder in (out, out / "ready")} == {0o777}


def test_only_a_system_that_is_kept_finds_its_folder(tmp_path: Path) -> None:
    where, stack = on(Engine(FakeClock())), Stack((), {})
    with pytest.raises(FileExistsError):
        create(where, stack, tmp_path)
    create(replace(where, keeps=True), stack, tmp_path)


def test_where_others_run_the_engine_chooses_every_port(tmp_path: Path) -> None:
    engine = Engine(FakeClock())
    create(on(engine, alone=False), Stack((), {}, {"A": "1"}), tmp_path / "start")
    assert engine.created[0].environment.items() >= {"A": "1", **ports.engines_choice()}.items()
