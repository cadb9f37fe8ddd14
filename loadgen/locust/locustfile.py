"""The thesis's load: every user visits all routes once, in random order, before repeating one, and thinks in between.

Writes one row per finished request to /out/requests.csv (docs/formats.md). Configuration comes by environment: ROUTES
(space-separated), THINK_TIME_S (lowest and highest, seconds), SATURATE_S (how long users do not think at all, 0 if left
out), SEED; users and run time by Locust's own variables.
"""

import os
import random
import time
from pathlib import Path

import gevent
from geventhttpclient import HTTPClient
from geventhttpclient.response import HTTPParseError
from locust import User, events, task

ROUTES = os.environ["ROUTES"].split()
THINK_LOW_S, THINK_HIGH_S = map(float, os.environ["THINK_TIME_S"].split())
SATURATE_S = float(os.environ.get("SATURATE_S", "0"))
SEED = int(os.environ["SEED"])

# perf_counter is monotonic; the offset puts it on the wall clock once, so that a clock step cannot bend a latency.
WALL_OFFSET_NS = time.time_ns() - time.perf_counter_ns()
COLUMNS = ("user", "target", "intended_ns", "start_ns", "end_ns", "status", "bytes")


def now_ns() -> int:
    """Unix time in nanoseconds that never runs backwards."""
    return time.perf_counter_ns() + WALL_OFFSET_NS


# Open as long as the process is; flushed when Locust quits.
records = Path(os.environ.get("REQUESTS_FILE", "/out/requests.csv")).open("w", buffering=1 << 16)  # noqa: SIM115
records.write(f"# tollbooth.requests v1\n{','.join(COLUMNS)}\n")


@events.quitting.add_listener
def flush(**_: object) -> None:
    """Writes what is buffered: Locust leaves by ways that do not close files."""
    records.flush()


class Visitor(User):
    """One user of the closed loop. The think time is kept here, not by `wait_time`, as here its end is known.

    It asks by the client that Locust's own users are made with, without what these add to count and name requests:
    requests are counted here, and the CPU would be missing beside the services.
    """

    born = 0

    def on_start(self) -> None:
        """Numbers the user and gives it a generator of its own, so that a seed gives the same visits."""
        Visitor.born += 1
        self.http = HTTPClient.from_url(self.host, connection_timeout=10.0, network_timeout=60.0)
        self.number = Visitor.born
        self.random = random.Random(f"{SEED}/{self.number}")
        self.to_visit: list[str] = []
        self.saturate_until_ns = now_ns() + int(SATURATE_S * 1e9)
        self.intended_ns = now_ns() + int(self.random.uniform(0, 0.2) * 1e9)
        self.in_step = True

    @task
    def visit(self) -> None:
        """Waits until the intended start, asks the next route, and records it."""
        gevent.sleep(max(0.0, (self.intended_ns - now_ns()) / 1e9))
        if not self.to_visit:
            self.to_visit = self.random.sample(ROUTES, len(ROUTES))
        route = self.to_visit.pop()
        start_ns = now_ns()
        status, size = self.ask("/" + route)
        end_ns = now_ns()
        row = (self.number, route, self.intended_ns, start_ns, end_ns, status, size)
        records.write(",".join(map(str, row)) + "\n")
        self.intended_ns = end_ns + int(self.think_s(end_ns) * 1e9)

    def ask(self, path: str) -> tuple[int, int]:
        """Returns the answer's status, 0 where there is none, and its size in bytes."""
        try:
            answer = self.http.get(path)
            return answer.status_code, len(answer.read())
        except (OSError, HTTPParseError):
            return 0, 0

    def think_s(self, after_ns: int) -> float:
        """How long this user thinks after an answer, in seconds."""
        if after_ns < self.saturate_until_ns:
            return 0.0
        if self.in_step:
            # Users who begin together would ask in step for ever, as the think time varies by a tenth only.
            self.in_step = False
            return self.random.uniform(0, THINK_HIGH_S)
        return self.random.uniform(THINK_LOW_S, THINK_HIGH_S)
