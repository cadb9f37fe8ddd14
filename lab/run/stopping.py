"""When a run ends before its last block: its intervals are narrow enough, or its time is spent."""

import math
from collections import defaultdict
from dataclasses import dataclass, field

from lab.engine import Clock
from lab.record import Summary
from lab.spec import Experiment

# Fewer blocks may agree by chance: a fixed-width sequential interval needs a first stage (Chow and Robbins, On the
# asymptotic theory of fixed-width sequential confidence intervals, 1965). After four blocks, the intervals of runs that
# stopped there covered the truth in 88 to 92 %; after six in 94 to 95 % (docs/explanation/statistics.md).
FIRST_STAGE_BLOCKS = 6
# What a trial takes besides warm-up and window, before any was run: on two cores an agent's start takes most of it.
FIRST_GUESS_START_S = 60.0


def narrow_enough(summary: Summary, half_width: float) -> bool:
    """Whether every level's ratio of the primary metric has an interval of at most ± `half_width` (0.02: 2 points)."""
    rows = summary.estimates_of(summary.headline.primary)
    return all(
        row is not None
        and row.n >= FIRST_STAGE_BLOCKS
        and row.ratio_low is not None
        and row.ratio_high is not None
        and row.ratio_high - row.ratio_low <= 2 * half_width
        for row in (rows.get(level) for level in summary.levels if level != summary.baseline)
    )


def budget(experiment: Experiment, clock: Clock, started_s: float) -> "Budget":
    """Return the budget of an experiment's run that began at `started_s` of the clock."""
    first_guess_s = experiment.protocol.expected_warm_up_s + experiment.expected_window_s() + FIRST_GUESS_START_S
    return Budget(experiment.protocol.budget_min, first_guess_s, clock, started_s)


@dataclass
class Budget:
    """The time that a run has since `started_s`, and how many seconds each level's attempts took so far.

    `minutes`: the protocol's budget, None for none. `first_guess_s`: what an attempt takes before any was made.
    """

    minutes: float | None
    first_guess_s: float
    clock: Clock
    started_s: float
    attempts_s: defaultdict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def allows(self, level: str) -> bool:
        """Whether an attempt at `level` that begins now will probably end in time.

        It takes as long as the level's longest attempt, else as the longest of any, else a guess.
        """
        every = [seconds for times in self.attempts_s.values() for seconds in times]
        return max(self.attempts_s.get(level) or every, default=self.first_guess_s) <= self.left_s()

    def left_s(self) -> float:
        """How long the run may take yet; infinity where it has no budget."""
        return math.inf if self.minutes is None else max(0.0, 60 * self.minutes - self.spent_s())

    def spent_s(self) -> float:
        """How long the run has taken so far."""
        return self.clock.now_s() - self.started_s
