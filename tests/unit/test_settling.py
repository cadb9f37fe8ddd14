"""When systems have settled."""

from pathlib import Path
from typing import cast

import pytest

from lab.run.settling import QUIET_BLOCKS, Settling, settle
from lab.run.start import Start
from tests.fake import FakeClock

QUIET, BUSY = 0.01, 0.011


def settling(*systems: list[float]) -> Settling:
    made = Settling(len(systems))
    for block in zip(*systems, strict=True):
        made.add(block)
    return made


@pytest.mark.parametrize(
    ("fractions", "settled"),
    [
        ([], False),
        ([QUIET] * (QUIET_BLOCKS - 1), False),
        ([QUIET] * QUIET_BLOCKS, True),
        ([BUSY, QUIET, QUIET, BUSY, QUIET], False),
        ([BUSY, *[QUIET] * QUIET_BLOCKS, BUSY], True),  # settled before the burst
    ],
)
def test_a_system_settles_with_three_quiet_blocks_in_a_row(fractions: list[float], settled: bool) -> None:
    assert settling(fractions).settled == settled


def test_all_systems_have_to_settle() -> None:
    quiet, busy = [QUIET] * 4, [QUIET, QUIET, BUSY, QUIET]
    assert not settling(quiet, busy).settled
    assert settling(quiet, quiet).settled


def test_what_is_said_and_recorded() -> None:
    made = settling([0.04, QUIET, QUIET, QUIET], [0.05, 0.002, 0.003, 0.02])
    assert made.said() == (
        "warm-up block 4: compilers use up to 2.0% of a system's CPU (limit 1%); 1 of 2 systems have settled"
    )
    assert made.part(1).settled is False
    assert made.part(1).jit_cpu_fractions == [0.05, 0.002, 0.003, 0.02]


def test_a_block_is_judged_once_the_observer_has_seen_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each block is first judged before it was seen, which then leaves it for the next time."""
    judged: list[Path] = []

    def jit_fraction(start: object, path: Path) -> float | None:
        judged.append(path)
        return QUIET if judged.count(path) > 1 else None

    def send(requests: int) -> list[Path]:
        sent.append(Path(f"block-{len(sent)}"))
        return [sent[-1]]

    sent: list[Path] = []
    monkeypatch.setattr("lab.run.settling._jit_fraction", jit_fraction)
    found, files = settle([cast(Start, None)], send, FakeClock(), lambda text: None)
    assert found.settled
    assert found.fractions == [[QUIET] * QUIET_BLOCKS]
    assert len(files) == QUIET_BLOCKS + 1
