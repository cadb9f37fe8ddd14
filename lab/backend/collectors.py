"""Several OpenTelemetry Collectors that take spans in each other's place, in front of the lab's sink."""

from lab.backend.sink import Sink

PORTS = {name: f"{name.replace('-', '_').upper()}_PORT" for name in ("collector-a", "collector-b", "collector-c")}


class Collectors(Sink):
    """The `Backend` for them. Each answers once the sink has, so what one acknowledged is what the sink accepted."""

    services = (*PORTS, "sink")
    images = ("collector", "sink")
    endpoints = tuple(PORTS)

    def ready(self) -> bool:
        """See `Backend.ready`. A Collector starts its receivers last: any answer of theirs is enough."""
        return super().ready() and all(self.http.answers(port, "/v1/traces", below=500) for port in PORTS.values())
