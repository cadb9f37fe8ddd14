"""Warming a set of systems up until their compilers have little left to do.

A JVM compiles what runs often, for minutes with the optimising compiler. What it compiles in a window counts as the
cost of a request, and systems with more code compile for longer. It compiles again when the load changes, even after
thousands of requests in a closed loop. So systems settle in turns like those that are measured.
"""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from lab.analysis.metrics.jvm import SETTLED_JIT_FRACTION
from lab.engine import Clock, wait_until
from lab.errors import UserError
from lab.record import OTHER_ROLES, NotDerivableError, SettlingPart, read_counters, read_requests
from lab.run.start import Start

BLOCK_REQUESTS = 200
QUIET_BLOCKS = 3
# How long the observer may take to see the end of a load.
SEEN_BOUND_S, SEEN_EVERY_S = 10.0, 0.5


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
    return settled_after([fraction <= SETTLED_JIT_FRACTION for fraction in fractions]) is not None


def settled_after(quiet: Sequence[bool]) -> int | None:
    """Return after how many blocks some `QUIET_BLOCKS` in a row had been quiet; None where they never were.

    A later burst of compilation may still come.
    """
    ends = range(QUIET_BLOCKS, len(quiet) + 1)
    return next((end for end in ends if all(quiet[end - QUIET_BLOCKS : end])), None)


def settle(
    starts: Sequence[Start], send: Callable[[int], list[Path]], until_s: float, say: Callable[[str], None]
) -> tuple[Settling, list[list[Path]]]:
    """Sends blocks of requests to all systems, until each has settled or the clock is at `until_s`.

    `send` sends so many requests to each system and returns their records. Returns the blocks and the records, each a
    list with an entry for each system. Raises `UserError` where the kernel does not count the CPU time of threads, and
    `StartFailed` where the observer does not see a load's end.
    """
    found, sent, clock = Settling(len(starts)), list[list[Path]](), starts[0].place.clock
    while not found.settled and clock.now_s() < until_s:
        # Between two loads the systems are idle, so a load has as many blocks as one needs to settle.
        sent.append(send(QUIET_BLOCKS * BLOCK_REQUESTS))
        for block in zip(*_seen(starts, sent[-1], clock), strict=True):
            found.add(block)
            say(found.said())
    return found, sent


def _seen(starts: Sequence[Start], sent: Sequence[Path], clock: Clock) -> list[list[float]]:
    """Return each system's blocks of a load once the observer, which lags by up to a second, has seen their end.

    Raises `StartFailed` if it does not see it within `SEEN_BOUND_S`: blocks around it would not be in a row.
    """
    found: list[list[float]] = [[] for _ in starts]

    def all_seen() -> bool:
        for system, (start, path) in enumerate(zip(starts, sent, strict=True)):
            found[system] = found[system] or jit_fractions(start, path)
        return all(found)

    if not wait_until(all_seen, SEEN_BOUND_S, SEEN_EVERY_S, clock):
        blind = starts[next(system for system, known in enumerate(found) if not known)]
        raise blind.failed("observer", f"did not see the end of a load of the warm-up within {SEEN_BOUND_S:.0f} s")
    return found


def jit_fractions(start: Start, sent: Path) -> list[float]:
    """What compilers used of a system's CPU in each block that was sent; nothing while the observer lags behind.

    A block ends where the next one begins, and the last with its last answer. What is left over belongs to the last:
    a few requests, in which nothing happened to be compiled, are no quiet block.
    """
    requests = read_requests(sent)
    containers = read_counters(start.out / "counters.jsonl").containers
    services = [name for name, role in start.deployment.roles().items() if role not in OTHER_ROLES]
    in_blocks = len(requests) - len(requests) % BLOCK_REQUESTS
    edges_ns = [*np.sort(requests.start_ns)[:in_blocks:BLOCK_REQUESTS].tolist(), requests.last_end_ns()]
    try:
        jit, cpu = ([containers[name][field] for name in services] for field in ("jit_cpu_ns", "cpu_usage_ns"))
        if min(int(series.t_ns[-1]) for series in (*jit, *cpu)) < edges_ns[-1]:
            return []
        return [
            sum(one.increase(*block) for one in jit) / sum(one.increase(*block) for one in cpu)
            for block in itertools.pairwise(edges_ns)
        ]
    except (KeyError, NotDerivableError) as error:
        raise UserError(
            f"what compilers used is not known, so a warm-up would never end: {error}",
            "leave out `until_settled`; the report then says that the systems had not settled",
        ) from error
