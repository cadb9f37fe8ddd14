"""Whose turn it is, and when: the orders of alternating rounds, and their times. Pure."""

import math
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from lab.record import SECOND_NS, Interval, Slice, Window

Item = TypeVar("Item")
DRAIN_S = 6.0
"""Without load after a warm-up, and after the last round: exporters send what they hold every 5 s."""
LEAD_S = 1.0
"""Generators read their loads, and connect, before the first slice."""
ORDERED_AHEAD_S = 4.0
"""The same right after a warm-up, when compilers still use the CPUs; with one second, one came too late."""


def williams_square(size: int) -> list[list[int]]:
    """Return orders of `size` systems in which each has each place, and follows each other one, equally often.

    An even size needs `size` orders, an odd one twice as many (Williams, Experimental designs balanced for the
    estimation of residual effects of treatments, 1949).
    """
    zigzag = [place // 2 if place % 2 == 0 else size - (place + 1) // 2 for place in range(size)]
    square = [[(system + shift) % size for system in zigzag] for shift in range(size)]
    return square if size % 2 == 0 else [*square, *(order[::-1] for order in square)]


def orders(size: int, rounds: int, seed: int) -> Iterator[list[int]]:
    """Yield the order of each round. Each square has its rows and its systems' names drawn anew."""
    draw = random.Random(seed)
    left: list[list[int]] = []
    for _ in range(rounds):
        if not left:
            left, names = williams_square(size), _shuffled(list(range(size)), draw)
            left = _shuffled([[names[system] for system in order] for order in left], draw)
        yield left.pop()


def _shuffled(items: Sequence[Item], draw: random.Random) -> list[Item]:
    """Order by random keys, the one draw that Python promises to keep between versions."""
    return [item for _, _, item in sorted((draw.random(), index, item) for index, item in enumerate(items))]


def whole_squares(size: int, round_s: float, measure_s: float) -> int:
    """Return the number of rounds nearest to `measure_s` that makes whole squares, one square at least."""
    square = len(williams_square(size))
    return square * max(1, round(measure_s / (round_s * square)))


def in_squares(size: int, rounds: int) -> int:
    """Return the least number of rounds that makes whole squares and is not below `rounds`."""
    square = len(williams_square(size))
    return square * math.ceil(rounds / square)


@dataclass(frozen=True)
class Timeline:
    """When each system of a set has its turns. `rounds`: the order of each; times in Unix nanoseconds.

    `apart_ns`: from the start of a slice to that of the next one in its round. Interleaved slices overlap.
    """

    rounds: Sequence[Sequence[int]]
    first_ns: int
    slice_ns: int
    gap_ns: int
    apart_ns: int

    @property
    def last_ns(self) -> int:
        """When the last slice ends, with the gap after it."""
        return self.first_ns + self._round_ns * len(self.rounds)

    @property
    def loaded_ns(self) -> int:
        """How long there is load, without the gaps. A round of interleaved slices takes the time of one."""
        return len(self.rounds) * self.slice_ns * (1 if self.apart_ns < self.slice_ns else len(self.rounds[0]))

    @property
    def window(self) -> Window:
        """What is measured of each system: all rounds, and a drain in which the last one's telemetry is exported."""
        end_ns = self.last_ns + round(DRAIN_S * SECOND_NS)
        return Window(load_start_ns=self.first_ns, start_ns=self.first_ns, end_ns=end_ns)

    @property
    def idle(self) -> Interval:
        """The time without load before the first round.

        It ends before the first slice, so that no sample of the counters holds both.
        """
        start_ns = self.first_ns - round((LEAD_S + DRAIN_S) * SECOND_NS)
        return Interval(start_ns=start_ns, end_ns=self.first_ns - round(LEAD_S * SECOND_NS))

    def turns(self, system: int) -> list[Slice]:
        """Return the slices of one system."""
        return [
            self._slice(number, position)
            for number, order in enumerate(self.rounds)
            for position, whose in enumerate(order)
            if whose == system
        ]

    def starts_ns(self, system: int) -> list[int]:
        """Return when the slices of one system start."""
        return [turn.start_ns for turn in self.turns(system)]

    @property
    def _round_ns(self) -> int:
        return self.apart_ns * (len(self.rounds[0]) - 1) + self.slice_ns + self.gap_ns

    def _slice(self, number: int, position: int) -> Slice:
        start_ns = self.first_ns + self._round_ns * number + self.apart_ns * position
        return Slice(
            round=number,
            position=position,
            start_ns=start_ns,
            end_ns=start_ns + self.slice_ns,
            next_ns=start_ns + self.slice_ns + self.gap_ns,
        )
