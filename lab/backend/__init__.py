"""Where telemetry goes, seen from the lab: is it ready, what did it accept, what does one trace look like.

One module per backend, one row in `BACKENDS`. `absent` is the first implementation: a level without telemetry has it.
"""

from lab.backend.absent import Absent
from lab.backend.backend import Backend
from lab.backend.collector import Collector
from lab.backend.jaeger import Jaeger, JaegerBadger
from lab.backend.prometheus import Prometheus
from lab.backend.sink import Sink
from lab.backend.zipkin import Zipkin

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
