"""Which trials there are, in which order, and how many of them a precision needs."""

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from lab.analysis.stats import blocks_for
from lab.spec import Experiment, Level


@dataclass(frozen=True)
class Trial:
    """One run of the level called `level`: `number` counts from 1, `block` and `position` (in it) from 0."""

    number: int
    block: int
    position: int
    level: str
    seed: int


@dataclass(frozen=True)
class Plan:
    """The trials in the order in which they run. `levels` are the experiment's and the placebo."""

    levels: tuple[Level[Any], ...]
    trials: tuple[Trial, ...]

    def level(self, trial: Trial) -> Level[Any]:
        """Return the level of a trial."""
        return next(level for level in self.levels if level.name == trial.level)

    def starts(self) -> Iterator[tuple[Trial, ...]]:
        """Yield the trials of each start of the containers, in order."""
        for _, trials in itertools.groupby(self.trials, lambda trial: (trial.block, self.level(trial).start)):
            yield tuple(trials)

    def ends_block(self, trial: Trial) -> bool:
        """Return whether a trial is its block's last."""
        return trial.position == len(self.levels) - 1


def make_plan(experiment: Experiment) -> Plan:
    """Return randomised blocks, each with every level and the placebo once: drift then hits all levels alike.

    The design is the randomised complete block design (Fisher, The Design of Experiments, 1935). The order of
    a block is that of random keys from `random.Random(seed).random()`, the one sequence that Python promises
    to keep between versions (Mersenne Twister, 53 bits). More repetitions leave the first blocks as they are.
    The trials of a block share one seed, so that its levels see the same draws. Levels that share a start of the
    containers are whole plots of a split-plot design: starts are in random order, and levels within each. Side by side
    a system's place in the order of starts matters: there orders are those of a Latin square.
    """
    levels = experiment.all_levels()
    generator = random.Random(experiment.protocol.seed)
    counts = np.zeros((len(levels), len(levels)), dtype=np.int64)
    trials: list[Trial] = []
    for block in range(experiment.protocol.repetitions):
        seed = int(generator.random() * 2**32)
        if experiment.at_once:
            ordered = [levels[index] for index in _latin_order(counts, generator)]
        else:
            keyed = [(generator.random(), level) for level in levels]
            ordered = [level for _, level in sorted(keyed, key=lambda pair: pair[0])]
        if experiment.protocol.without_restart:
            places = {start: generator.random() for start in dict.fromkeys(level.start for level in levels)}
            ordered.sort(key=lambda level: places[level.start])
        for position, level in enumerate(ordered):
            trials.append(Trial(len(trials) + 1, block, position, level.name, seed))
    return Plan(levels, tuple(trials))


def _latin_order(counts: NDArray[np.int64], generator: random.Random) -> list[int]:
    """Draw the order of a block: of those that best even out the places that levels had before, one at random.

    `counts` says in how many blocks a level (row) had a place (column); the block is added to it. In as many blocks
    as there are levels, each has each place once, as in a Latin square (Fisher, The Design of Experiments,
    1935): what a place costs is then the same for all. An order is an assignment of places that costs least; a random
    part, in sum less than 1, decides among equals.
    """
    size = len(counts)
    drawn = [[generator.random() / size for _ in range(size)] for _ in range(size)]
    levels, places = scipy.optimize.linear_sum_assignment(counts + np.array(drawn))
    counts[levels, places] += 1
    return [int(level) for level in np.argsort(places)]


def trial_folder_name(trial: Trial, attempt: int) -> str:
    """Return the name of a trial's folder: `003-otel-agent`, and `003-otel-agent-try2` for attempt 2.

    The levels of several factors are joined with "/", which a folder cannot have: it becomes "+".
    """
    name = f"{trial.number:03d}-{trial.level.replace('/', '+')}"
    return name if attempt == 1 else f"{name}-try{attempt}"


def blocks_for_precision(sd_of_log_ratio: float, half_width: float, confidence: float = 0.95) -> int:
    """Return how many blocks bring a ratio's interval to within `half_width` of it (0.03: 3 %).

    `sd_of_log_ratio` is the standard deviation, between blocks, of the logarithm of a level's ratio to the
    baseline.
    """
    return blocks_for(sd_of_log_ratio, math.log1p(half_width), confidence)


def estimate_duration_s(plan: Plan, experiment: Experiment, per_level_start_s: Mapping[str, float]) -> float:
    """Return how long the experiment's plan takes if no trial has to be repeated.

    `per_level_start_s`: by level's name, what a start of the containers takes besides warm-up and windows (create,
    start, collect, remove).
    """
    warm_up_s, window_s = experiment.protocol.expected_warm_up_s, experiment.expected_window_s()
    if experiment.at_once:
        starts_s = sum(per_level_start_s[level.name] + warm_up_s for level in plan.levels)
        return experiment.protocol.repetitions * (starts_s + window_s)
    return sum(per_level_start_s[start[0].level] + warm_up_s + window_s * len(start) for start in plan.starts())
