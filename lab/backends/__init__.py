"""Where telemetry goes, seen from the lab: is it ready, what did it accept, what does one trace look like.

One module per backend, one row in `BACKENDS`. `absent` is the first implementation: a level without telemetry has it.
"""

from lab.backends.absent import Absent
from lab.backends.backend import Backend
from lab.backends.collector import Collector
from lab.backends.jaeger import Jaeger, JaegerBadger
from lab.backends.prometheus import Prometheus
from lab.backends.sink import Sink
from lab.backends.zipkin import Zipkin

__all__ = ["BACKENDS", "Backend"]

BACKENDS: dict[str, type[Backend]] = {
    "none": Absent,
    "jaeger": Jaeger,
    "jaeger-badger": JaegerBadger,
    "zipkin": Zipkin,
    "collector": Collector,
    "sink": Sink,
    "prometheus": Prometheus,
}
