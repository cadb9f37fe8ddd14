"""HTTP requests to a backend at the ports that Compose publishes on 127.0.0.1."""

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Http:
    """Sends requests to one system's backend; `port` returns the number of a port variable of `compose.yaml`."""

    port: Callable[[str], int]

    def send(self, method: str, port_variable: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Status and body of the answer at the port of `port_variable`; raises `OSError` without an answer."""
        request = urllib.request.Request(
            self.url(port_variable, path), body, {"Content-Type": "application/json"}, method=method
        )
        # These requests must not go through the user's proxy.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=TIMEOUT_S) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()
        except http.client.HTTPException as error:  # the backend ended in the middle of its answer
            raise ConnectionError(f"{method} {path} was answered in part: {error!r}") from error

    def url(self, port_variable: str, path: str) -> str:
        """The address of `path` at that port."""
        return f"http://127.0.0.1:{self.port(port_variable)}{path}"

    def get(self, port_variable: str, path: str) -> bytes:
        """The body of `GET <path>`. Raises `OSError` without an answer, or for a status of 400 or more."""
        status, answer = self.send("GET", port_variable, path)
        if status >= 400:
            raise OSError(f"GET {path} at the port of {port_variable} was answered with HTTP status {status}")
        return answer

    def answers(self, port_variable: str, path: str, below: int = 400) -> bool:
        """Whether `GET <path>` is answered with a status below the one given."""
        try:
            return self.send("GET", port_variable, path)[0] < below
        except OSError:
            return False
