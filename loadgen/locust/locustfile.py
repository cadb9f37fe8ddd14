"""The thesis's load: every user visits all routes once, in random order, before repeating one, and thinks in between.

Writes one row per finished request to /out/requests.csv (docs/formats.md). Configuration comes by environment: ROUTES
(space-separated), THINK_TIME_S (lowest and highest, seconds), WARM_UP_REQUESTS (until that many were answered users do
not think; 0: they always do), AFTER_WARM_UP_S (when the load ends, counted from there), SEED; users and the longest run
time by Locust's own variables.
"""

import os
import random
import time
from pathlib import Path

import gevent
from geventhttpclient import HTTPClient
from geventhttpclient.response import HTTPParseError
from locust import User, events, task
from locust.env import Environment

ROUTES = os.environ["ROUTES"].split()
THINK_LOW_S, THINK_HIGH_S = map(float, os.environ["THINK_TIME_S"].split())
WARM_UP_REQUESTS = int(os.environ["WARM_UP_REQUESTS"])
AFTER_WARM_UP_S = float(os.environ["AFTER_WARM_UP_S"])
SEED = int(os.environ["SEED"])

# perf_counter is monotonic; the offset puts it on the wall clock once, so that a clock step cannot bend a latency.
WALL_OFFSET_NS = time.time_ns() - time.perf_counter_ns()
COLUMNS = ("user", "target", "intended_ns", "start_ns", "end_ns", "status", "bytes")


def now_ns() -> int:
    """Unix time in nanoseconds that never runs backwards."""
    return time.perf_counter_ns() + WALL_OFFSET_NS


# Open as long as the process is. Line by line: the lab reads a long load while it goes on, and a few lines a second
# cost nothing that could be seen.
records = Path(os.environ.get("REQUESTS_FILE", "/out/requests.csv")).open("w", buffering=1)  # noqa: SIM115
records.write(f"# tollbooth.requests v1\n{','.join(COLUMNS)}\n")


class WarmUp:
    """Counts the requests that are left of it; with the last one the load's end is known."""

    def __init__(self, requests: int) -> None:
        self.left = requests

    def answered(self, environment: Environment) -> None:
        """Takes note of an answer."""
        self.left -= 1
        if self.left == 0:
            end_later(environment)


def end_later(environment: Environment) -> None:
    """Lets the load end when its window has."""
    gevent.spawn_later(AFTER_WARM_UP_S, environment.runner.quit)


warm_up = WarmUp(WARM_UP_REQUESTS)


@events.test_start.add_listener
def begin(environment: Environment, **_: object) -> None:
    """Without a warm-up of its own, the load's end is known from its start."""
    if WARM_UP_REQUESTS == 0:
        end_later(environment)


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
        warm_up.answered(self.environment)
        self.intended_ns = end_ns + int(self.think_s() * 1e9)

    def ask(self, path: str) -> tuple[int, int]:
        """Returns the answer's status, 0 where there is none, and its size in bytes."""
        try:
            answer = self.http.get(path)
            return answer.status_code, len(answer.read())
        except (OSError, HTTPParseError):
            return 0, 0

    def think_s(self) -> float:
        """How long this user thinks after an answer, in seconds."""
        if warm_up.left > 0:
            return 0.0
        if self.in_step:
            # Users who begin together would ask in step for ever, as the think time varies by a tenth only.
            self.in_step = False
            return self.random.uniform(0, THINK_HIGH_S)
        return self.random.uniform(THINK_LOW_S, THINK_HIGH_S)
