"""`search.json`: a search for the highest rate that meets an objective, with each of its short trials."""

import math
from collections.abc import Sequence
from pathlib import Path

from lab.record.files import Record, read_json, validated, write_json_atomic

FORMAT, VERSION = "tollbooth.search", 1
# Rates are the same if they differ by rounding only.
SAME = 1e-6


class ShortTrial(Record):
    """A load at one rate. Shares and delays are of the traces that were sent.

    `due`: traces that were planned, empty ones included. `failed`: traces. `delay_p99_ms`: from when they were due;
    None if none came back. `queued`: the share that a growing queue kept. `in_queue`: requests in the exporters' queues
    at the end; None if none is shown. `loss`: 0 if the objective was met. `failed_by`: why it was not.
    """

    start_ns: int
    duration_s: float
    traces_per_s: float
    due: int
    traces: int
    spans: int
    failed: int
    delay_p99_ms: float | None
    queued: float
    in_queue: float | None
    loss: float
    failed_by: str | None


class Search(Record):
    """A search. `low` met the objective, `high` did not; None: not even the highest rate failed.

    `stopped`: why the search found nothing; `low` and `high` are None then.
    """

    low: float | None
    high: float | None
    stopped: str | None
    trials: Sequence[ShortTrial]

    @property
    def rate(self) -> float | None:
        """The geometric middle of the bounds, in traces per second; without an upper bound, at least this."""
        return self.low if self.low is None or self.high is None else math.sqrt(self.low * self.high)

    def at(self, traces_per_s: float) -> list[ShortTrial]:
        """Return the trials at a rate."""
        return [one for one in self.trials if math.isclose(one.traces_per_s, traces_per_s, rel_tol=SAME)]


def write_search(folder: Path, search: Search) -> None:
    """Write the search to a trial's folder."""
    write_json_atomic(folder / "search.json", {"format": FORMAT, "version": VERSION, **search.model_dump(mode="json")})


def read_search(path: Path) -> Search:
    """Read `search.json`."""
    return validated(Search, read_json(path, FORMAT, VERSION), path)
