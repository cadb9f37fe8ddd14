"""The search for the highest rate that meets an objective: MLRsearch (draft-ietf-bmwg-mlrsearch-05, PyPI `MLRsearch`).

MLRsearch starts with short trials, and ends with long ones near the rate. A rate counts as held if at least half of the
seconds of its trials were good, so a single unlucky trial does not decide.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from MLRsearch import AbstractMeasurer, Config, MeasurementResult, MultipleLossRatioSearch, SearchGoal

from lab.errors import UserError

# How far the bounds are apart at most, as a share of the upper one: their middle is then within ±5 %, with room for
# trials that are noisy.
WIDTH = 0.05
FIRST_TRIAL_S, LAST_TRIAL_S = 2.0, 10.0
# Seconds of trials at the rates that become the bounds.
SECONDS_PER_BOUND = 30.0
MOST_TRIALS_S = 600.0
# MLRsearch wants counts. A loss ratio is one of this many.
_PARTS = 1_000_000

Measure = Callable[[float, float], float]
"""A trial: duration in seconds and rate, to the loss ratio (0 to 1)."""


@dataclass(frozen=True)
class Found:
    """What a search found. `low` met the objective, `high` did not; None: not even the search's highest rate failed."""

    low: float
    high: float | None


def search(measure: Measure, lowest: float, highest: float) -> Found:
    """Find the highest rate between `lowest` and `highest` whose trials do not fail.

    Raises `UserError` if the lowest rate fails, or if the trials take longer than `MOST_TRIALS_S`.
    """
    goal = SearchGoal(
        loss_ratio=0.0,
        exceed_ratio=0.5,
        relative_width=WIDTH,
        initial_trial_duration=FIRST_TRIAL_S,
        final_trial_duration=LAST_TRIAL_S,
        duration_sum=SECONDS_PER_BOUND,
        preceding_targets=2,
        expansion_coefficient=2,
        fail_fast=False,
    )
    # The time limit is kept by the trials themselves: MLRsearch's own counts also the time between them.
    config = Config(goals=[goal], min_load=lowest, max_load=highest, search_duration_max=math.inf)
    found = MultipleLossRatioSearch(config=config).search(measurer=_Trials(measure))[goal]
    low, high = found.relevant_lower_bound, found.relevant_upper_bound
    if low is None:
        raise UserError(
            f"the search found no rate: its lowest, {lowest:g}/s, already fails", "search from a lower rate on"
        )
    return Found(float(low), None if high is None else float(high))


@dataclass
class _Trials(AbstractMeasurer):  # type: ignore[misc]  # The library has no types.
    """The trials, and how long they took so far."""

    measure_once: Measure
    spent_s: float = field(default=0.0, init=False)

    def measure(self, intended_duration: float, intended_load: float) -> MeasurementResult:
        if self.spent_s + intended_duration > MOST_TRIALS_S:
            raise UserError(
                f"the search did not end within {MOST_TRIALS_S:g} s of trials: some fail and some do not at one rate",
                "something else may use the machine: see `lab doctor`",
            )
        lost = math.ceil(self.measure_once(intended_duration, intended_load) * _PARTS)
        self.spent_s += intended_duration
        return MeasurementResult(intended_duration, intended_load, offered_count=_PARTS, loss_count=lost)
