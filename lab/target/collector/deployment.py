"""One start of a Collector with the sink behind it: the `Deployment` of `lab/contract`."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.backend import Http, Sink, settled, span_counters
from lab.contract import Endpoint, Measuring
from lab.engine import OBSERVER, Place, Stack, ports, start_failed, wait_until
from lab.record import Results, TrialPart, write_results
from lab.target.collector.declaration import COLLECTOR, PROTOCOL, SINK
from lab.target.collector.settings import CollectorLevel

SERVICES = (SINK, COLLECTOR)
OTLP_PORT = 4317
READY_BOUND_S = 30.0
READY_EVERY_S = 0.1


class NothingAdded:
    """See `lab.contract.Measuring`: nothing is in force, and nothing is added to `trial.json`."""

    def parts(self) -> Sequence[TrialPart]:
        """See `Measuring.parts`."""
        return ()


def stack(level: CollectorLevel, place: Place, out: Path, variables: Mapping[str, str], extra: Sequence[str]) -> Stack:
    """Return what to create for one start. The Collector has the CPUs of what is measured. Pure."""
    settings = level.settings
    pipeline = place.root / "collector" / "pipelines" / f"{settings.pipeline_name}.yaml"
    collector = {
        "cpuset": "${SERVICE_CPUS:-}",
        "mem_limit": f"{settings.memory_mib}m",
        "volumes": [f"{pipeline}:/etc/otelcol/config.yaml:ro"],
        # Compose would take a dollar sign for a variable of its own.
        "environment": {name: value.replace("$", "$$") for name, value in settings.environment.items()},
    }
    return Stack(
        services=(*SERVICES, *extra),
        overlay={"services": {COLLECTOR: collector}},
        environment={"TRIAL_DIR": str(out), **place.cpus.variables(), **variables},
    )


@dataclass(frozen=True)
class CollectorDeployment:
    """See `lab.contract.Deployment`."""

    level: CollectorLevel
    place: Place
    out: Path

    @property
    def http(self) -> Http:
        """The published ports of the Collector and the sink."""
        return Http(ports.port)

    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        """See `Deployment.deploy`."""
        self.out.mkdir(parents=True)
        # Containers run as a user of their own.
        self.out.chmod(0o777)
        self.place.driver.create(stack(self.level, self.place, self.out, variables, instruments))

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`. A Collector starts in tenths of a second, so no start-up time is measured."""
        self.place.driver.start((*instruments, *SERVICES))
        if not wait_until(self._ready, READY_BOUND_S, READY_EVERY_S, self.place.clock):
            raise start_failed(self.place.driver, COLLECTOR, f"was not ready after {READY_BOUND_S:.0f} s")
        return {}

    def endpoint(self) -> Endpoint:
        """See `Deployment.endpoint`."""
        return Endpoint(COLLECTOR, OTLP_PORT, PROTOCOL)

    def request(self, level: CollectorLevel) -> Mapping[str, object]:
        """See `Deployment.request`."""
        return {}

    def settled(self, level: CollectorLevel) -> None:
        """See `Deployment.settled`: every level has a start of its own."""

    @contextmanager
    def measuring(self, level: CollectorLevel, seed: int, lead_s: float) -> Iterator[Measuring]:
        """See `Deployment.measuring`."""
        yield NothingAdded()

    def drain(self) -> TrialPart:
        """See `Deployment.drain`: write what the Collector and the sink counted to `results-collector.json`."""
        delivered = settled(self._sink.accepted_spans, self.place.clock)
        counters = span_counters(self.http.get("COLLECTOR_METRICS_PORT", "/metrics").decode())
        self.place.driver.stop([COLLECTOR, OBSERVER])
        values = {
            "spans_accepted": counters["accepted_spans"],
            "spans_refused": counters["refused_spans"],
            "spans_dropped": counters["dropped_spans"],
            "spans_delivered": float(delivered or 0),
        }
        write_results(self.out, "collector", Results(values=values))
        return TrialPart()

    def roles(self) -> Mapping[str, str]:
        """See `Deployment.roles`."""
        return {COLLECTOR: "collector", SINK: "backend"}

    def pages(self) -> Sequence[str]:
        """See `Deployment.pages`."""
        return [
            f"OTLP over HTTP: {self.http.url('COLLECTOR_PORT', '/v1/traces')}",
            f"curl {self.http.url('COLLECTOR_METRICS_PORT', '/metrics')}",
            f"curl {self.http.url('SINK_PORT', '/counters')}",
        ]

    @property
    def _sink(self) -> Sink:
        return Sink(ports.port)

    def _ready(self) -> bool:
        for name, container in self.place.driver.containers().items():
            if name in SERVICES and not container.running:
                raise start_failed(self.place.driver, name, f"ended with exit code {container.exit_code}")
        # The Collector starts its receivers last, so any answer of theirs will do.
        return self._sink.ready() and self.http.answers("COLLECTOR_PORT", "/v1/traces", below=500)
