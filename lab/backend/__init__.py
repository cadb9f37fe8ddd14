"""Telemetry backends: is one ready, what did it accept, and traces of it.

One module and one row in `BACKENDS` per backend. `Backend` itself is that of a level without telemetry.
"""

from lab.backend.backend import Backend, Trace, settled
from lab.backend.collector import Collector
from lab.backend.collectors import Collectors, receives_traces
from lab.backend.http import Http
from lab.backend.jaeger import Jaeger, JaegerBadger, span_counters
from lab.backend.prometheus import Prometheus
from lab.backend.sink import Sink
from lab.backend.zipkin import Zipkin

__all__ = ["BACKENDS", "Backend", "Http", "Sink", "Trace", "receives_traces", "settled", "span_counters"]

BACKENDS: dict[str, type[Backend]] = {
    "none": Backend,
    "jaeger": Jaeger,
    "jaeger-badger": JaegerBadger,
    "zipkin": Zipkin,
    "collector": Collector,
    "collectors": Collectors,
    "sink": Sink,
    "prometheus": Prometheus,
}
