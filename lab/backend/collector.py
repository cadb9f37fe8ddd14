"""An OpenTelemetry Collector between the services and Jaeger."""

from lab.backend.jaeger import Jaeger, span_counters


class Collector(Jaeger):
    """The `Backend` for a Collector that forwards everything: accepted spans are those that Jaeger accepted."""

    services = ("collector", "jaeger")
    images = ("collector", "jaeger")

    def ready(self) -> bool:
        """See `Backend.ready`. The Collector starts its receivers last: any answer of theirs is enough."""
        return super().ready() and self.http.answers("COLLECTOR_PORT", "/v1/traces", below=500)

    def counters(self) -> dict[str, float]:
        """See `Backend.counters`: the Collector's names begin with `collector_`."""
        own = span_counters(self.http.get("COLLECTOR_METRICS_PORT", "/metrics").decode())
        return super().counters() | {f"collector_{name}": value for name, value in own.items()}
