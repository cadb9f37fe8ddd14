"""An OpenTelemetry Collector between the services and Jaeger."""

from collections.abc import Mapping

from typing_extensions import override

from lab.backend.collectors import receives_traces
from lab.backend.jaeger import Jaeger, span_counters


class Collector(Jaeger):
    """The `Backend` for a Collector that forwards everything: accepted spans are those that Jaeger accepted."""

    services = ("collector", "jaeger")
    images = ("collector", "jaeger")
    # It is no store itself.
    storage: Mapping[str, str] = {}

    @override
    def ready(self) -> bool:
        return super().ready() and receives_traces(self.http, "COLLECTOR_PORT")

    def counters(self) -> dict[str, float]:
        """See `Backend.counters`: the Collector's names begin with `collector_`."""
        own = span_counters(self.http.get("COLLECTOR_METRICS_PORT", "/metrics").decode())
        return super().counters() | {f"collector_{name}": value for name, value in own.items()}
