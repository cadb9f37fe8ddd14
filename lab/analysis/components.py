"""Where the scatter of an alternating run's ratios comes from: rounds, and sets of fresh processes. Pure."""

import math
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from lab.record import SliceCost


@dataclass(frozen=True)
class Components:
    """Standard deviations of the logarithm of a level's ratio, in a run of `sets` sets of `rounds` rounds.

    `round_sd`: of one round within its set. `mean_sd`: of the means of the sets. `ratio`: the mean ratio.
    """

    level: str
    ratio: float
    round_sd: float
    mean_sd: float
    sets: int
    rounds: int

    @property
    def set_sd(self) -> float:
        """Of the true ratio of a set; 0 where the means scatter no more than those of independent rounds would."""
        return math.sqrt(max(0.0, self.mean_sd**2 - self.round_sd**2 / self.rounds))

    def half_width(self, sets: int, rounds: int, confidence: float = 0.95) -> float:
        """Return the expected half of the ratio's interval (0.01: one point); infinity for one set.

        At the run's own rounds it follows from `mean_sd` alone, so rounds need not be independent. With more rounds,
        the part of the means' variance that rounds explain shrinks as their number grows.
        """
        if sets < 2:
            return math.inf
        of_rounds = min(self.round_sd**2 / self.rounds, self.mean_sd**2) * self.rounds / rounds
        error = math.sqrt((self.set_sd**2 + of_rounds) / sets)
        return self.ratio * float(scipy.special.stdtrit(sets - 1, (1 + confidence) / 2)) * error

    def best_rounds(self, set_s: float, round_s: float) -> float:
        """Return how many rounds of a set give most precision for the time; infinity if `set_sd` is 0.

        A set takes `set_s` seconds besides its rounds, each of which takes `round_s`. The optimum of two-stage
        sampling: Cochran, Sampling Techniques, 1977, section 10.6.
        """
        return math.inf if self.set_sd == 0 else self.round_sd / self.set_sd * math.sqrt(set_s / round_s)


def components(costs: Sequence[SliceCost], references: Collection[str]) -> Iterator[Components]:
    """Yield the components of each level but the `references`, whose mean cost it is compared with round by round.

    Method of moments for balanced sets: Searle, Casella and McCulloch, Variance Components, 1992, section 4.3. Levels
    with fewer than two sets, or sets with fewer than two rounds, are left out.
    """
    by_round: defaultdict[tuple[int, int], dict[str, float]] = defaultdict(dict)
    for one in costs:
        by_round[one.set, one.round][one.level] = one.cpu_ms
    for level in sorted({one.level for one in costs} - set(references)):
        sets: defaultdict[int, list[float]] = defaultdict(list)
        for (number, _), found in sorted(by_round.items()):
            known = [found[name] for name in references if name in found]
            if level in found and known:
                sets[number].append(math.log(found[level] / float(np.mean(known))))
        if len(sets) > 1 and min(map(len, sets.values())) > 1:
            yield _components(level, list(sets.values()))


def _components(level: str, sets: Sequence[Sequence[float]]) -> Components:
    rounds = min(map(len, sets))
    within = float(np.mean([np.var(logs, ddof=1) for logs in sets]))
    means = [float(np.mean(logs)) for logs in sets]
    ratio = math.exp(float(np.mean(means)))
    return Components(level, ratio, math.sqrt(within), float(np.std(means, ddof=1)), len(sets), rounds)
