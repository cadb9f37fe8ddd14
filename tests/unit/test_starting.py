"""How what was started is waited for: often looked at, and the engine seldom called."""

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from lab.engine import StartFailed, await_ready
from tests.fake import FakeClock


class Engine:
    """An engine that counts how often it is called, and on which `a1` ends after some seconds."""

    def __init__(self, clock: FakeClock, ends_s: float = 1e9) -> None:
        self.clock, self.ends_s, self.calls = clock, ends_s, 0

    def containers(self) -> dict[str, SimpleNamespace]:
        self.calls += 1
        a1 = SimpleNamespace(running=self.clock.now_s() < self.ends_s, exit_code=1)
        return {"a1": a1, "observer": SimpleNamespace(running=False, exit_code=0)}

    def last_log_lines(self, service: str, count: int) -> list[str]:
        return [f"{service} says why"]


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
    assert await_ready(engine, ["a1"], ready, 30.0, 0.25, clock)
    assert (clock.now_s(), engine.calls) == (3.5, 4)
    assert len(set(looks)) >= 14


def test_what_is_never_ready_is_given_up_at_the_bound() -> None:
    clock = FakeClock()
    assert not await_ready(Engine(clock), ["a1"], lambda: False, 5.0, 0.25, clock)
    assert clock.now_s() == 5.0


def test_what_ends_instead_is_named_within_a_second() -> None:
    clock = FakeClock()
    with pytest.raises(StartFailed, match="container a1 ended with exit code 1 instead of becoming ready") as failed:
        await_ready(Engine(clock, ends_s=2.5), ["a1"], lambda: False, 30.0, 0.25, clock)
    assert "a1 says why" in failed.value.hint
    assert clock.now_s() <= 3.5
