"""The page's HTTP server on 127.0.0.1: reads a request, has it checked and answered, and writes the answer."""

import sys
import traceback
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from lab.command.serving import HOST
from lab.page.answers import Answer, Wrong
from lab.page.policy import PageRequest, body_bytes, check, headers_of

Find = Callable[[PageRequest, bytes], Answer]
"""Answers a request that was checked; may raise `Wrong`."""

IDLE_S = 30


class Server(ThreadingHTTPServer):
    """Serves what `find` answers to who has the token. Raises `OSError` if the port is in use."""

    daemon_threads = True
    # A browser requests all modules at once. A connection too many waits for seconds.
    request_queue_size = 64

    def __init__(self, port: int, token: str, find: Find) -> None:
        super().__init__((HOST, port), Handler)
        self.token = token
        self.find = find

    def handle_error(self, *_: object) -> None:
        """Says nothing of a browser that went away; what goes wrong here is an answer."""


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    timeout = IDLE_S

    def do_GET(self) -> None:
        """Answers."""
        self._send(self._answer())

    do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = do_PATCH = do_GET  # noqa: N815

    def _answer(self) -> Answer:
        try:
            request = self._request()
            check(request, self.server.server_port, self.server.token)
            return self.server.find(request, self.rfile.read(body_bytes(request)))
        except Wrong as wrong:
            # What it has of a body is not read, so it must not be taken for the next request.
            self.close_connection = True
            return wrong.answer()
        except Exception:
            traceback.print_exc(file=sys.stderr)
            self.close_connection = True
            return Wrong(500, "an internal error: see .lab/page.log").answer()

    def _request(self) -> PageRequest:
        parts = urlsplit(self.path)
        headers = {name.lower(): ",".join(self.headers.get_all(name, [])) for name in self.headers}
        return PageRequest(self.command, parts.path, dict(parse_qsl(parts.query)), headers)

    def _send(self, answer: Answer) -> None:
        self.send_response(answer.status)
        for name, value in headers_of(answer.headers).items():
            self.send_header(name, value)
        self.send_header("Content-Type", answer.type)
        self.send_header("Content-Length", str(len(answer.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(answer.body)

    def version_string(self) -> str:
        """Names no program."""
        return "tollbooth"

    def log_message(self, *_: object) -> None:
        """Says nothing: a browser sends a request every second."""
