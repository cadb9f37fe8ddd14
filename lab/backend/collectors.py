"""Several OpenTelemetry Collectors that take spans in each other's place, in front of the lab's sink."""

from typing_extensions import override

from lab.backend.http import Http
from lab.backend.sink import Sink

PORTS = {name: f"{name.replace('-', '_').upper()}_PORT" for name in ("collector-a", "collector-b", "collector-c")}


def receives_traces(http: Http, port_variable: str) -> bool:
    """Whether a Collector is ready. It starts its receivers last, so any answer of theirs will do."""
    return http.answers(port_variable, "/v1/traces", below=500)


class Collectors(Sink):
    """The `Backend` for them. Each answers once the sink has, so what one acknowledged is what the sink accepted."""

    services = (*PORTS, "sink")
    images = ("collector", "sink")
    endpoints = tuple(PORTS)

    @override
    def ready(self) -> bool:
        return super().ready() and all(receives_traces(self.http, port) for port in PORTS.values())
