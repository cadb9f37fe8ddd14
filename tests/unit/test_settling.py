"""When systems have settled."""

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from lab.engine import StartFailed
from lab.record import Requests, Series, read_summary
from lab.report.findings import remarks
from lab.run.settling import BLOCK_REQUESTS, QUIET_BLOCKS, Settling, jit_fractions, settle
from lab.run.start import Start
from tests.fake import FakeClock

KEPT = Path(__file__).parents[2] / "docs" / "results"
QUIET, BUSY = 0.01, 0.011
MS_NS = 1_000_000


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


def settled_after_looks(looks: int, monkeypatch: pytest.MonkeyPatch) -> tuple[Settling, int]:
    """Return what settles and how many loads were sent. The observer sees a load's end at the given look."""
    judged: list[Path] = []

    def jit_fractions(start: object, path: Path) -> list[float]:
        judged.append(path)
        return [QUIET] * QUIET_BLOCKS if judged.count(path) >= looks else []

    def send(requests: int) -> list[Path]:
        assert requests == QUIET_BLOCKS * BLOCK_REQUESTS
        sent.append(Path(f"load-{len(sent)}"))
        return [sent[-1]]

    sent: list[Path] = []
    monkeypatch.setattr("lab.run.settling.jit_fractions", jit_fractions)
    clock = FakeClock()
    start = SimpleNamespace(place=SimpleNamespace(clock=clock), failed=lambda name, what: StartFailed(f"{name} {what}"))
    found, files = settle([cast(Start, start)], send, clock.now_s() + 60, lambda text: None)
    assert files == [[path] for path in sent]
    return found, len(files)


@pytest.mark.parametrize("looks", [1, 3])
def test_a_load_is_judged_before_the_next_is_sent(looks: int, monkeypatch: pytest.MonkeyPatch) -> None:
    found, loads = settled_after_looks(looks, monkeypatch)
    assert found.settled and loads == 1
    assert found.fractions == [[QUIET] * QUIET_BLOCKS]


def test_an_observer_that_does_not_see_a_load_fails_the_set(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(StartFailed, match="observer did not see the end of a load of the warm-up within 10 s"):
        settled_after_looks(10_000, monkeypatch)


@pytest.mark.parametrize(
    ("requests", "fractions"), [(600, [0.02, 0.02, 0.02]), (608, [0.02, 0.02, 0.02 * 200 / 208]), (199, [])]
)
def test_a_rest_is_no_block_of_its_own(requests: int, fractions: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    """A request each ms and one core busy. Compilers use 2 % of it, and nothing after the first 600 requests."""
    start_ns, zeros = np.arange(requests) * MS_NS, np.zeros(requests, dtype=np.int64)
    sent = Requests(zeros, np.full(requests, "a1"), start_ns, start_ns, start_ns + MS_NS, zeros, zeros, False)
    t_ns = np.array([0, 600, 700]) * MS_NS
    used = {"cpu_usage_ns": Series(t_ns, t_ns), "jit_cpu_ns": Series(t_ns, np.array([0, 12, 12]) * MS_NS)}
    monkeypatch.setattr("lab.run.settling.read_requests", lambda path: sent)
    monkeypatch.setattr("lab.run.settling.read_counters", lambda path: SimpleNamespace(containers={"a1": used}))
    deployment = SimpleNamespace(roles=lambda: {"a1": "service", "sink": "backend"})
    start = cast(Start, SimpleNamespace(out=Path(), deployment=deployment))
    assert jit_fractions(start, Path("requests.csv")) == pytest.approx(fractions)


def test_a_run_that_did_not_wait_is_compared_with_the_limit() -> None:
    assert remarks(read_summary(KEPT / "quick" / "summary.json"))[-1] == (
        "Not settled: compilers used 2.6 to 4.7 % of the services' CPU in the windows (limit 1.0 %)."
    )


def test_a_run_that_waited_says_what_compilers_used_after_it() -> None:
    assert (QUIET_BLOCKS, BLOCK_REQUESTS) == (3, 200)
    steady = read_summary(KEPT / "steady" / "summary.json")
    said = (
        "In the warm-up of all sets that count, each system once had three quiet blocks of 200 requests (compilers "
        "at most 1.0 % of its CPU). In the windows, compilers used 0.52 to 1.5 % of the services' CPU."
    )
    assert remarks(steady)[-1] == said
    levels = {name: level.model_copy(update={"not_settled": 2}) for name, level in steady.levels.items()}
    left_out = steady.model_copy(update={"levels": levels})
    assert remarks(left_out)[-1] == f"{said} Sets that had not settled, and are left out: 2."
