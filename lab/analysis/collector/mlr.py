"""The highest rate that meets an objective, searched with the library MLRsearch.

Source: MLRsearch (FD.io CSIT, PyPI, Apache-2.0) and the draft draft-ietf-bmwg-mlrsearch, which defines relevant bounds
and conditional throughput. Short trials come first, long ones only near the bounds, and one bad trial does not decide.
"""

from collections.abc import Callable
from dataclasses import dataclass

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

Measure = Callable[[float, float], float]
"""Load a system for some seconds at a rate; return the ratio that was lost, 1 for a trial that fails otherwise."""

# The library wants whole numbers of packets; ratios are exact to a millionth.
PARTS = 1_000_000


@dataclass(frozen=True)
class Goal:
    """When a rate counts as carried: of trials of `sum_s` in total, more than half have at most `loss_ratio`.

    `width`: how close the bounds of the rate come to each other, by the upper one. The defaults take 2 to 4 minutes.
    """

    loss_ratio: float = 0.0
    width: float = 0.03
    shortest_s: float = 5.0
    longest_s: float = 10.0
    sum_s: float = 30.0
    most_s: float = 600.0


@dataclass(frozen=True)
class Found:
    """What a search found. `lower` None: not even the lowest rate is carried; `upper` None: the highest is.

    `throughput`: the rate that passes at the lower bound, its losses subtracted.
    """

    throughput: float | None
    lower: float | None
    upper: float | None
    trials: int
    trials_s: float


class OverBudgetError(Exception):
    """A search's trials would last longer than its goal allows."""


class _Measurer(AbstractMeasurer):  # type: ignore[misc]  # The library has no types.
    def __init__(self, measure: Measure, most_s: float) -> None:
        self._measure, self._most_s = measure, most_s
        self.trials, self.trials_s = 0, 0.0

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        if self.trials_s + intended_duration > self._most_s:
            raise OverBudgetError(f"no result after {self.trials} trials of {self.trials_s:.0f} s in total")
        self.trials += 1
        self.trials_s += intended_duration
        lost = self._measure(intended_duration, intended_load)
        return MeasurementResult(
            intended_duration=intended_duration,
            intended_load=intended_load,
            offered_count=PARTS,
            loss_count=round(lost * PARTS),
        )


def search(measure: Measure, goal: Goal, min_rate: float, max_rate: float) -> Found:
    """Search between two rates. Raises `OverBudgetError`, and what `measure` raises."""
    wanted = SearchGoal(
        loss_ratio=goal.loss_ratio,
        exceed_ratio=0.5,
        relative_width=goal.width,
        initial_trial_duration=goal.shortest_s,
        final_trial_duration=goal.longest_s,
        duration_sum=goal.sum_s,
        preceding_targets=2,
        expansion_coefficient=2,
        fail_fast=False,
    )
    # The library's own limit is one of real time, which overheads between trials use up too: it is out of reach.
    config = Config(goals=[wanted], min_load=min_rate, max_load=max_rate, search_duration_max=1e9, warmup_duration=None)
    measurer = _Measurer(measure, goal.most_s)
    result = MultipleLossRatioSearch(config=config).search(measurer=measurer, debug=lambda _: None)[wanted]
    rates = (result.conditional_throughput, result.relevant_lower_bound, result.relevant_upper_bound)
    return Found(*(None if rate is None else float(rate) for rate in rates), measurer.trials, measurer.trials_s)
