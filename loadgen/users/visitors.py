"""The users of `visits.py` in one loop over one epoll: their requests are Locust's, at half the cost.

A request wakes this process twice, when it is due and when its answer comes; what a framework does beside that, each
time on cold caches, is most of what a request costs a generator that sends a few requests a second.

Configuration comes by environment: what `visits.py` reads, and TARGET (host:port, looked up once), USERS, BOUND_S (when
the load ends at the latest, counted from its start).
"""

import os
import select
import signal
import socket
import sys
from collections.abc import Mapping

from httptools import HttpParserError, HttpResponseParser
from visits import LAST_ANSWERS_S, SECOND_NS, Load, Visits, now_ns

CONNECT_TIMEOUT_NS = 10 * SECOND_NS
ANSWER_TIMEOUT_NS = 60 * SECOND_NS
# Only where nothing else happens while an answer is awaited.
LOOK_FOR_TIMEOUTS_EVERY_S = 1.0
# Larger than the lab's answers: one call reads one.
READ_BYTES = 65_536


class Connection:
    """A connection to the gateway, and the answer that is coming on it. Nothing here waits."""

    def __init__(self, address: tuple[str, int]) -> None:
        self.socket = socket.socket()
        self.socket.setblocking(False)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.socket.connect_ex(address)  # how it ended is read when the socket is ready
        self.open = False
        self.used = False
        self.parser = HttpResponseParser(self)
        self.begun = self.complete = self.keeps = False
        self.status = self.size = 0

    def opened(self) -> bool:
        """Returns whether the connection, now that its socket is ready, was taken."""
        self.open = self.socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR) == 0
        return self.open

    def send(self, request: bytes) -> None:
        """Sends a request; raises `OSError`."""
        self.begun = self.complete = False
        self.status = self.size = 0
        self.socket.sendall(request)

    def receive(self) -> bool:
        """Takes what has come; returns False where the other end has closed, or sends what is no answer."""
        try:
            received = self.socket.recv(READ_BYTES)
            self.parser.feed_data(received)
        except (OSError, HttpParserError):
            return False
        return bool(received)

    def on_message_begin(self) -> None:
        """Called by the parser."""
        self.begun = True

    def on_body(self, body: bytes) -> None:
        """Called by the parser."""
        self.size += len(body)

    def on_message_complete(self) -> None:
        """Called by the parser, which knows both only now."""
        self.complete = True
        self.status = self.parser.get_status_code()
        self.keeps = self.parser.should_keep_alive()


class User:
    """One user of the closed loop, its connection, and the request that is under way."""

    def __init__(self, loop: "Loop", visits: Visits) -> None:
        self.loop = loop
        self.visits = visits
        self.connection: Connection | None = None
        self.route = ""
        self.waiting = False
        self.start_ns = 0

    def visit(self) -> None:
        """Requests the next route."""
        self.route = self.visits.next_route()
        self.waiting = True
        self.start_ns = now_ns()
        if self.connection is None:
            self.connect()
        else:
            self.send(self.connection)

    def connect(self) -> None:
        """Begins a connection; the request goes out when it is there."""
        self.connection = Connection(self.loop.address)
        self.loop.watch(self, self.connection.socket)

    def send(self, connection: Connection) -> None:
        """Sends the request; where that fails, the answer that does not come says so."""
        try:
            connection.send(f"GET /{self.route} HTTP/1.1\r\nHost: {self.loop.target}\r\n\r\n".encode())
        except OSError:
            self.ended(connection)

    def ready(self) -> None:
        """Something happened on the connection."""
        connection = self.connection
        assert connection is not None  # only what is watched is ready
        if not connection.open:
            if connection.opened():
                self.loop.await_answers(connection.socket)
                self.send(connection)
            else:
                self.ended(connection)
        elif not connection.receive() and not connection.complete:
            self.ended(connection)
        elif connection.complete and self.waiting:
            connection.used = True
            if not connection.keeps:
                self.leave()
            self.answered(connection.status, connection.size)
        elif not self.waiting:
            self.leave()

    def ended(self, connection: Connection) -> None:
        """The connection is gone. One that was kept and ends before its answer began is no failure: a new one is."""
        self.leave()
        if self.waiting and connection.used and not connection.begun:
            self.connect()
        elif self.waiting:
            self.answered(0, 0)

    def leave(self) -> None:
        """Closes the connection, and with that nobody watches it."""
        if self.connection is not None:
            self.loop.forget(self.connection.socket)
            self.connection = None

    def answered(self, status: int, size: int) -> None:
        """The request has ended; with the warm-up's last the load's end is known."""
        self.waiting = False
        if self.visits.answered(self.route, self.start_ns, status, size):
            self.loop.end_after_warm_up()

    def give_up(self, now: int) -> None:
        """Ends a request that takes too long."""
        if self.waiting and self.connection is not None:
            limit_ns = ANSWER_TIMEOUT_NS if self.connection.open else CONNECT_TIMEOUT_NS
            if now > self.start_ns + limit_ns:
                self.leave()
                self.answered(0, 0)


class Loop:
    """All users, and the one place where anything waits."""

    def __init__(self, load: Load, environment: Mapping[str, str]) -> None:
        self.load = load
        self.target = environment["TARGET"]
        host, port = self.target.rsplit(":", 1)
        self.address = (socket.gethostbyname(host), int(port))
        self.end_ns = now_ns() + int(float(environment["BOUND_S"]) * SECOND_NS)
        self.poll = select.epoll()
        self.watched: dict[int, User] = {}
        self.users = [User(self, Visits(load, number + 1)) for number in range(int(environment["USERS"]))]
        if load.warm_up_left == 0:
            self.end_after_warm_up()

    def run(self) -> None:
        """Returns when the load has ended, and its last requests too, or after `LAST_ANSWERS_S`."""
        while (now := now_ns()) < self.end_ns:
            for user in self.users:
                if not user.waiting and user.visits.intended_ns <= now:
                    user.visit()
            self.take_answers(min([self.end_ns, *(user.visits.intended_ns for user in self.users if not user.waiting)]))
        last_ns = self.end_ns + LAST_ANSWERS_S * SECOND_NS
        while self.under_way() and now_ns() < last_ns:
            self.take_answers(last_ns)

    def take_answers(self, until_ns: int) -> None:
        """Waits until something comes, or the time; then ends what takes too long."""
        idle_s = max(0.0, (until_ns - now_ns()) / SECOND_NS)
        if self.under_way():
            idle_s = min(idle_s, LOOK_FOR_TIMEOUTS_EVERY_S)
        for descriptor, _ in self.poll.poll(idle_s):
            if descriptor in self.watched:
                self.watched[descriptor].ready()
        now = now_ns()
        for user in self.users:
            user.give_up(now)

    def under_way(self) -> bool:
        """Returns whether an answer is awaited."""
        return any(user.waiting for user in self.users)

    def watch(self, user: User, connecting: socket.socket) -> None:
        """Wakes the user when the connection was taken, or was not."""
        self.watched[connecting.fileno()] = user
        self.poll.register(connecting, select.EPOLLOUT)

    def await_answers(self, connected: socket.socket) -> None:
        """Wakes the user from now on when something comes."""
        self.poll.modify(connected, select.EPOLLIN)

    def forget(self, connected: socket.socket) -> None:
        """Closes it."""
        del self.watched[connected.fileno()]
        self.poll.unregister(connected)
        connected.close()

    def end_after_warm_up(self) -> None:
        """The warm-up has ended, so the load's end is known."""
        self.end_ns = min(self.end_ns, now_ns() + int(self.load.after_warm_up_s * SECOND_NS))


def main() -> None:
    """Runs the load that the environment describes; SIGTERM ends it."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    try:
        loop = Loop(Load(os.environ), os.environ)
    except (KeyError, ValueError, OSError) as error:
        sys.exit(f"visitors: {type(error).__name__}: {error}")
    loop.run()


if __name__ == "__main__":
    main()
