"""A kept-alive HTTP/1.1 connection that asks and counts, and does nothing else.

What it costs is missing beside the services. Locust's own client (geventhttpclient) parses the answers; its pool, its
headers and its redirects would cost twice as much again.
"""

from urllib.parse import urlsplit

import gevent.socket
from gevent.monkey import get_original
from geventhttpclient.response import HTTPParseError, HTTPSocketResponse

CONNECT_S = 10.0
ANSWER_S = 60.0
# gevent's own would let every other user run in between.
select = get_original("select", "select")


class Connection:
    """To the server of `url`, opened when it is first needed, and again after it was closed. For one user."""

    def __init__(self, url: str) -> None:
        server = urlsplit(url)
        self.address = (server.hostname, server.port or 80)
        self.host = server.netloc
        self.socket: gevent.socket.socket | None = None

    def get(self, path: str) -> tuple[int, int]:
        """The answer's status, 0 where there is none, and the size of its body in bytes."""
        try:
            used = self._open()
            used.sendall(f"GET {path} HTTP/1.1\r\nHost: {self.host}\r\n\r\n".encode())
            answer = HTTPSocketResponse(used)
            size = len(answer.read())
        except (OSError, HTTPParseError):
            self._close()
            return 0, 0
        if answer.should_close():
            self._close()
        return answer.status_code, size

    def _open(self) -> gevent.socket.socket:
        """The open socket. One that has something to say before it was asked is one that the server closed."""
        if self.socket is not None and select([self.socket.fileno()], [], [], 0)[0]:
            self._close()
        if self.socket is None:
            self.socket = gevent.socket.create_connection(self.address, timeout=CONNECT_S)
            self.socket.settimeout(ANSWER_S)
        return self.socket

    def _close(self) -> None:
        if self.socket is not None:
            self.socket.close()
            self.socket = None
