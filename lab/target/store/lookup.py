"""Which traces are looked up by their IDs after a load, and until when."""

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from lab.engine import Clock, wait_until
from lab.record.traces import COMPLETE

# Of a trial that had more traces accepted, so many are drawn. A share of them is then known to 1 %.
MOST_TRACES = 20_000
SEED = 1
# In one request to a store (`Backend.traces`).
MOST_IDS = 100
# A trace that a store has accepted may not be stored yet; one that it has evicted never comes.
BOUND_S = 10.0
EVERY_S = 1.0

Query = Callable[[Sequence[str]], Mapping[str, int]]
"""Returns how many spans a store has of each trace; raises `OSError` without an answer."""


def wanted(traces: pl.DataFrame) -> Mapping[str, int]:
    """Return the spans of each trace that was accepted, by its ID: of all traces, or of a sample. Pure."""
    accepted = traces.filter(COMPLETE).select("trace_id", "spans_sent")
    chosen = accepted if len(accepted) <= MOST_TRACES else accepted.sample(MOST_TRACES, seed=SEED)
    return dict(chosen.iter_rows())


def looked_up(query: Query, spans: Mapping[str, int], clock: Clock) -> Mapping[str, int]:
    """Return how many spans were found of each trace. Each is looked up until it has all of `spans`, or a bound.

    A trace of which no look-up was answered is left out: nobody knows whether the store has it.
    """
    found: dict[str, int] = {}

    def complete() -> bool:
        missing, end_s = _missing(spans, found), clock.now_s() + BOUND_S
        for first in range(0, len(missing), MOST_IDS):
            asked = missing[first : first + MOST_IDS]
            try:
                found.update({**dict.fromkeys(asked, 0), **query(asked)})
            except OSError:  # It may have ended, which other records say, or be busy.
                # A store that hangs takes seconds for each request.
                if clock.now_s() >= end_s:
                    return False
        return not _missing(spans, found)

    if not complete():
        wait_until(complete, BOUND_S, EVERY_S, clock)
    return found


def _missing(spans: Mapping[str, int], found: Mapping[str, int]) -> Sequence[str]:
    return [one for one, count in spans.items() if found.get(one, 0) < count]
