"""The users of `visits.py` by Locust, which has users, host and the longest run time by variables of its own."""

import os

import gevent
from geventhttpclient import HTTPClient
from geventhttpclient.response import HTTPParseError
from locust import User, events, task
from locust.env import Environment
from visits import LAST_ANSWERS_S, SECOND_NS, Load, Visits, now_ns

load = Load(os.environ)


def end_later(environment: Environment) -> None:
    """Lets the load end when its window has."""
    gevent.spawn_later(load.after_warm_up_s, environment.runner.quit)


@events.test_start.add_listener
def begin(environment: Environment, **_: object) -> None:
    """Lets the last requests end. Without a warm-up of its own, the load's end is known from its start."""
    environment.stop_timeout = LAST_ANSWERS_S
    if load.warm_up_left == 0:
        end_later(environment)


class Visitor(User):
    """One user of the closed loop. Locust waits for a request that is under way at the load's end, not for a thought.

    It sends with the client that Locust's own users are made with, without what these add to count and name requests:
    requests are counted here, and the CPU would be missing beside the services. Only Locust's page needs its counts.
    """

    born = 0

    def on_start(self) -> None:
        """Numbers the user. It waits here as it does before each request."""
        Visitor.born += 1
        self.http = HTTPClient.from_url(self.host, connection_timeout=10.0, network_timeout=60.0)
        self.visits = Visits(load, Visitor.born)
        self.wait()

    def wait_time(self) -> float:
        """How many seconds it is until the next request."""
        return max(0.0, (self.visits.intended_ns - now_ns()) / SECOND_NS)

    @task
    def visit(self) -> None:
        """Requests the next route, and records it."""
        route = self.visits.next_route()
        start_ns = now_ns()
        status, size_bytes = self.get("/" + route)
        # Before it is shown: the record has the time when the answer was there.
        if self.visits.answered(route, start_ns, status, size_bytes):
            end_later(self.environment)
        if self.environment.web_ui is not None:
            self.show("/" + route, start_ns, status, size_bytes)

    def show(self, path: str, start_ns: int, status: int, size_bytes: int) -> None:
        """Counts the request on Locust's page, which only a system to explore has."""
        self.environment.events.request.fire(
            request_type="GET",
            name=path,
            response_time=(now_ns() - start_ns) / 1e6,
            response_length=size_bytes,
            exception=None if status == 200 else RuntimeError(f"status {status}"),
            context={},
        )

    def get(self, path: str) -> tuple[int, int]:
        """Returns the answer's status, 0 where there is none, and its size in bytes."""
        try:
            answer = self.http.get(path)
            return answer.status_code, len(answer.read())
        except (OSError, HTTPParseError):
            return 0, 0
