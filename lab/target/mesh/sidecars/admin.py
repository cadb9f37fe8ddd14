"""Asking one Envoy over its administration page."""

import http.client
import json
from collections.abc import Mapping
from urllib.parse import quote, urlencode

from lab.target.mesh.sidecars.counters import kept, numbers

TIMEOUT_S = 10.0


class Admin:
    """The Envoy whose administration page is at `port` on 127.0.0.1.

    Methods raise `OSError` without an answer, or for an error status.
    """

    def __init__(self, port: int) -> None:
        self.port = port

    def ready(self) -> bool:
        """Whether it accepts requests, and knows the address of every peer."""
        try:
            hosts = numbers(self._ask("GET", "/stats?format=json&type=Gauges&filter=membership_healthy$"))
            return self._ask("GET", "/ready").startswith("LIVE") and all(hosts.values())
        except OSError:
            return False

    def counters(self) -> dict[str, int]:
        """What it counted since it started, by Envoy's names; a counter that is not there has counted nothing."""
        return kept(numbers(self._ask("GET", "/stats?format=json&type=Counters")))

    def version(self) -> str:
        """Its version, such as `1.40.0`."""
        version: str = json.loads(self._ask("GET", "/server_info"))["version"].split("/")[1]
        return version

    def runtime(self) -> dict[str, str]:
        """The runtime values that hold now."""
        entries = json.loads(self._ask("GET", "/runtime"))["entries"]
        return {key: entry["final_value"] for key, entry in entries.items()}

    def set_runtime(self, values: Mapping[str, int | str]) -> None:
        """Sets runtime values for all further requests; "" removes one."""
        # Envoy leaves a "+" as it is: a blank has to be "%20".
        self._ask("POST", f"/runtime_modify?{urlencode(values, quote_via=quote)}")

    def _ask(self, method: str, path: str) -> str:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=TIMEOUT_S)
        try:
            connection.request(method, path)
            answer = connection.getresponse()
            text = answer.read().decode()
        except http.client.HTTPException as error:
            raise OSError(f"{method} {path} at Envoy's port {self.port}: {error!r}") from None
        finally:
            connection.close()
        if answer.status != http.client.OK:
            raise OSError(f"{method} {path} at Envoy's port {self.port}: answered with {answer.status}: {text.strip()}")
        return text
