"""Asking a backend over the ports that Compose publishes on 127.0.0.1."""

import urllib.error
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass

TIMEOUT_S = 10.0


@dataclass(frozen=True)
class Http:
    """Asks one system's backend; `port` says which number stands behind a variable of `compose.yaml`."""

    port: Callable[[str], int]

    def ask(self, method: str, port_variable: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        """Status and body of the answer at the port behind `port_variable`; raises `OSError` for no answer."""
        request = urllib.request.Request(
            self.url(port_variable, path), body, {"Content-Type": "application/json"}, method=method
        )
        # A proxy of the user's must not see what is asked of this machine.
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        try:
            with opener.open(request, timeout=TIMEOUT_S) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as refusal:
            return refusal.code, refusal.read()

    def url(self, port_variable: str, path: str) -> str:
        """The address of `path` at that port."""
        return f"http://127.0.0.1:{self.port(port_variable)}{path}"

    def get(self, port_variable: str, path: str) -> bytes:
        """The body of `GET <path>`. Raises `OSError` for no answer, or a status of 400 and up."""
        status, answer = self.ask("GET", port_variable, path)
        if status >= 400:
            raise OSError(f"GET {path} at the port of {port_variable} was answered with HTTP status {status}")
        return answer

    def answers(self, port_variable: str, path: str, below: int = 400) -> bool:
        """Whether `GET <path>` is answered with a status below the one given."""
        try:
            return self.ask("GET", port_variable, path)[0] < below
        except OSError:
            return False
