"""When each fault of a trial begins and ends. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from lab.fault.fault import DeclaredFault


@dataclass(frozen=True)
class Step:
    """One action, `at_s` seconds after the window's start, on the fault of that number."""

    at_s: float
    number: int
    action: Literal["inject", "lift"]


def drawn(faults: Sequence[DeclaredFault], seed: int) -> tuple[DeclaredFault, ...]:
    """Return the faults with their starts drawn from the trial's seed.

    Each fault takes one draw, needed or not: a start does not depend on the other faults' fields. The draws are from
    `random.Random(seed).random()`, the one sequence that Python promises to keep between versions.
    """
    generator = random.Random(seed)
    return tuple(_drawn(fault, generator.random()) for fault in faults)


def steps(faults: Sequence[DeclaredFault]) -> list[Step]:
    """Return the actions in order of time; at the same time, lifts come first. The faults' starts are drawn."""
    found = [
        step
        for number, fault in enumerate(faults)
        for step in (
            Step(fault.earliest_s, number, "inject"),
            Step(fault.earliest_s + fault.length_s, number, "lift"),
        )
    ]
    return sorted(found, key=lambda step: (step.at_s, step.action == "inject", step.number))


def _drawn(fault: DeclaredFault, share: float) -> DeclaredFault:
    start_s = fault.earliest_s + share * (fault.latest_s - fault.earliest_s)
    return fault.model_copy(update={"start_s": round(start_s, 3)})
