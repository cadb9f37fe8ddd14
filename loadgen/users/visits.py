"""The users of the thesis, whichever program runs them: all routes once, in random order, before repeating one.

Writes one row per finished request to /out/requests.csv (docs/reference/formats.md). Configuration comes by
environment: ROUTES (space-separated), THINK_TIME_S (lowest and highest, seconds), WARM_UP_REQUESTS (until that many
were answered users do not think; 0: they always do), AFTER_WARM_UP_S (when the load ends, counted from there), SEED,
REQUESTS_FILE (where that is another).
"""

import random
import time
from collections.abc import Mapping
from pathlib import Path

COLUMNS = ("user", "target", "intended_ns", "start_ns", "end_ns", "status", "bytes")
SECOND_NS = 1_000_000_000
# How long an answer is awaited after the load's end, so that the requests are those whose spans arrive.
LAST_ANSWERS_S = 5

# perf_counter is monotonic; the offset puts it on the wall clock once, so that a clock step cannot bend a latency.
WALL_OFFSET_NS = time.time_ns() - time.perf_counter_ns()


def now_ns() -> int:
    """Unix time in nanoseconds that never runs backwards."""
    return time.perf_counter_ns() + WALL_OFFSET_NS


class Load:
    """What all users share: what the environment says, the rows, and how many requests are left of the warm-up."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        """Raises `KeyError`, `ValueError` or `OSError` where the environment is not as above."""
        self.routes = environment["ROUTES"].split()
        self.think_low_s, self.think_high_s = map(float, environment["THINK_TIME_S"].split())
        self.warm_up_left = int(environment["WARM_UP_REQUESTS"])
        self.after_warm_up_s = float(environment["AFTER_WARM_UP_S"])
        self.seed = int(environment["SEED"])
        # Open as long as the process is. Line by line: the lab reads a long load while it goes on, and a few lines a
        # second cost nothing that could be seen.
        self.rows = Path(environment.get("REQUESTS_FILE", "/out/requests.csv")).open("w", buffering=1)  # noqa: SIM115
        self.rows.write(f"# tollbooth.requests v1\n{','.join(COLUMNS)}\n")

    def write(self, *row: object) -> bool:
        """Writes a finished request down; returns whether it was the warm-up's last."""
        self.rows.write(",".join(map(str, row)) + "\n")
        self.warm_up_left -= 1
        return self.warm_up_left == 0


class Visits:
    """What one user requests and when, with draws of its own, so that a seed gives the same visits."""

    def __init__(self, load: Load, number: int) -> None:
        self.load = load
        self.number = number
        self.random = random.Random(f"{load.seed}/{number}")
        self.to_visit: list[str] = []
        self.in_step = True
        self.intended_ns = now_ns() + int(self.random.uniform(0, 0.2) * SECOND_NS)

    def next_route(self) -> str:
        """The route to request next."""
        if not self.to_visit:
            self.to_visit = self.random.sample(self.load.routes, len(self.load.routes))
        return self.to_visit.pop()

    def answered(self, route: str, start_ns: int, status: int, size_bytes: int) -> bool:
        """Writes the request down, ended now, and thinks; returns whether it was the warm-up's last."""
        end_ns = now_ns()
        last = self.load.write(self.number, route, self.intended_ns, start_ns, end_ns, status, size_bytes)
        self.intended_ns = end_ns + int(self._think_s() * SECOND_NS)
        return last

    def _think_s(self) -> float:
        if self.load.warm_up_left > 0:
            return 0.0
        if self.in_step:
            # Users who begin together would send in step for long, where the think time varies by little.
            self.in_step = False
            return self.random.uniform(0, self.load.think_high_s)
        return self.random.uniform(self.load.think_low_s, self.load.think_high_s)
