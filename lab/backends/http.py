"""Asking a backend over the ports that Compose publishes on 127.0.0.1."""

import urllib.request

from lab.ports import port

TIMEOUT_S = 10.0


def get(port_variable: str, path: str) -> bytes:
    """The body of `GET <path>` at the port behind `port_variable`.

    Raises `OSError` for no answer, or a status of 400 and up.
    """
    # A proxy of the user's must not see what is asked of this machine.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://127.0.0.1:{port(port_variable)}{path}", timeout=TIMEOUT_S) as answer:
        body: bytes = answer.read()
    return body
