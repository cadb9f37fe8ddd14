"""A search for a rate by short trials that are sent one after the other to one system, which recovers in between."""

import random
from collections.abc import Callable

from lab.errors import UserError
from lab.load.objective import recovered
from lab.record.search import Search, ShortTrial

# A probe lasts so long. An overloaded system gets as many of them as it needs, up to this number.
PROBE_S = 1.0
MOST_PROBES = 60

Send = Callable[[float, float], ShortTrial]
"""Sends a trial: its length in seconds and its traces per second."""


def search_rate(send: Send, lowest: float, highest: float, seed: int) -> Search:
    """Search between two rates, in traces per second. What a failed trial leaves is not a part of the next one.

    The rates that are tried are those of a grid. It is drawn with the seed: all searches of a run would else have the
    same error, which their interval does not contain.

    A search that finds nothing says why it stopped: the lowest rate failed, trials contradicted each other, or the
    system did not recover.
    """
    # MLRsearch looks through the whole stack for each of its fields, which would delay every command.
    from lab.load.rate_search import WIDTH, search  # noqa: PLC0415

    trials: list[ShortTrial] = []
    drawn = 1 - WIDTH * random.Random(seed).random()

    def measure(duration_s: float, traces_per_s: float) -> float:
        trials.append(send(duration_s, traces_per_s))
        if trials[-1].failed_by:
            _recover(send, lowest)
        return trials[-1].loss

    try:
        found = search(measure, drawn * lowest, drawn * highest)
    except UserError as stopped:
        return Search(low=None, high=None, stopped=stopped.message, trials=trials)
    return Search(low=found.low, high=found.high, stopped=None, trials=trials)


def _recover(send: Send, lowest: float) -> None:
    """Sends probes at the lowest rate until one shows nothing of the overload. Raises `UserError` after the last."""
    for _ in range(MOST_PROBES):
        if recovered(send(PROBE_S, lowest)):
            return
    raise UserError(f"the system had not recovered from an overload after {MOST_PROBES} probes at {lowest:g} traces/s")
