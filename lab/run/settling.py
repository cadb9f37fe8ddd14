"""Warming a set of systems up until their compilers have little left to do.

A JVM compiles what runs often, for minutes with the optimising compiler. What it compiles in a window counts as the
cost of a request, and systems with more code compile for longer.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lab.analysis.metrics.jvm import SETTLED_JIT_FRACTION
from lab.engine import Clock
from lab.errors import UserError
from lab.record import OTHER_ROLES, NotDerivableError, SettlingPart, read_counters, read_requests
from lab.run.start import Start

BLOCK_REQUESTS = 200
QUIET_BLOCKS = 3
LONGEST_S = 20 * 60.0


@dataclass
class Settling:
    """The blocks of a warm-up so far: of each system, what its compilers used of its CPU, by block."""

    systems: int
    fractions: list[list[float]] = field(init=False)

    def __post_init__(self) -> None:
        self.fractions = [[] for _ in range(self.systems)]

    def add(self, block: Sequence[float]) -> None:
        """Adds a block: a fraction for each system."""
        for known, fraction in zip(self.fractions, block, strict=True):
            known.append(fraction)

    @property
    def blocks(self) -> int:
        """How many blocks there were."""
        return len(self.fractions[0])

    @property
    def settled(self) -> bool:
        """Whether every system has settled: its compilers were once quiet for several blocks in a row."""
        return all(map(_quiet, self.fractions))

    def said(self) -> str:
        """The last block in words."""
        busiest = max(known[-1] for known in self.fractions)
        done = sum(map(_quiet, self.fractions))
        return (
            f"warm-up block {self.blocks}: compilers use up to {busiest:.1%} of a system's CPU "
            f"(limit {SETTLED_JIT_FRACTION:.0%}); {done} of {self.systems} systems have settled"
        )

    def part(self, system: int) -> SettlingPart:
        """What `trial.json` says of it."""
        return SettlingPart(settled=self.settled, jit_cpu_fractions=self.fractions[system])


def _quiet(fractions: Sequence[float]) -> bool:
    """Whether some `QUIET_BLOCKS` blocks in a row were quiet. A later burst of compilation may still come."""
    quiet = [fraction <= SETTLED_JIT_FRACTION for fraction in fractions]
    return any(all(quiet[first : first + QUIET_BLOCKS]) for first in range(len(quiet) - QUIET_BLOCKS + 1))


def settle(
    starts: Sequence[Start], send: Callable[[int], list[Path]], clock: Clock, say: Callable[[str], None]
) -> tuple[Settling, list[list[Path]]]:
    """Sends blocks of requests to all systems until each has settled, for at most `LONGEST_S`.

    `send` sends so many requests to each system at the same time and returns their records. Returns the blocks and
    their records, each a list with an entry for each system. Raises `UserError` where the kernel does not count the
    CPU time of threads.
    """
    found, sent, began_s = Settling(len(starts)), list[list[Path]](), clock.now_s()
    while not found.settled and clock.now_s() - began_s < LONGEST_S:
        sent.append(send(BLOCK_REQUESTS))
        # The observer lags by up to a second: a block is judged once it was seen to its end, while later ones are sent.
        for files in sent[found.blocks :]:
            fractions = [_jit_fraction(start, path) for start, path in zip(starts, files, strict=True)]
            if None in fractions:
                break
            found.add([fraction for fraction in fractions if fraction is not None])
            say(found.said())
    return found, sent


def _jit_fraction(start: Start, sent: Path) -> float | None:
    """What compilers used of a system's CPU while a block was sent; None while the observer has not seen all of it."""
    requests = read_requests(sent)
    containers = read_counters(start.out / "counters.jsonl").containers
    services = [name for name, role in start.deployment.roles().items() if role not in OTHER_ROLES]
    start_ns, end_ns = requests.first_start_ns(), requests.last_end_ns()
    try:
        jit, cpu = ([containers[name][field] for name in services] for field in ("jit_cpu_ns", "cpu_usage_ns"))
        if min(int(series.t_ns[-1]) for series in (*jit, *cpu)) < end_ns:
            return None
        return sum(one.increase(start_ns, end_ns) for one in jit) / sum(one.increase(start_ns, end_ns) for one in cpu)
    except (KeyError, NotDerivableError) as error:
        raise UserError(
            f"what compilers used is not known, so a warm-up would never end: {error}",
            "leave out `until_settled`; the report then says that the systems had not settled",
        ) from error
