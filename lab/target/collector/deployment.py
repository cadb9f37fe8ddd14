"""One start of a Collector with the sink behind it: the `Deployment` of `lab/contract`."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from typing_extensions import override

from lab.backend import Http, Sink, receives_traces, settled
from lab.contract import Deployment, Endpoint
from lab.engine import OBSERVER, Place, Stack, await_ready, create, literal, ports, read_scraped, wait_until
from lab.record import Results, TrialPart, write_results
from lab.target import scraping
from lab.target.collector.declaration import COLLECTOR, GENERATOR, SINK
from lab.target.collector.settings import CollectorLevel, Release
from lab.target.scraping import SCRAPER
from lab.target.traffic import PROTOCOL

OTLP_PORTS = {"grpc": 4317, "http": 4318}
READY_BOUND_S = 30.0
IMAGES: Mapping[Release, str] = {
    "current": "tollbooth/collector:${COLLECTOR_VERSION}",
    "earlier": "tollbooth/collector-earlier:${COLLECTOR_EARLIER_VERSION}",
}
# Exporters wait 5 s for an answer, and send a request again 7.5 s later at most. The first retry is waited for.
EMPTIED_BOUND_S, EMPTIED_EVERY_S = 20.0, 1.0
# How long the sink must receive nothing. The queue of an earlier Collector does not show what is sent again.
QUIET_S: Mapping[Release, float] = {"current": 1.0, "earlier": 13.0}
# The garbage collector's target as a share of the container's memory: below the memory limiter's limit.
GO_MEMORY_FRACTION = 0.625


def collectors(level: CollectorLevel) -> dict[str, str]:
    """Return the Collectors of a level with their pipelines: the first stage's, if there is one, and the last. Pure."""
    edges = {f"edge-{number}": level.settings.edge_pipeline for number in range(1, level.settings.edges + 1)}
    return {**edges, COLLECTOR: level.settings.pipeline_name}


def receivers(level: CollectorLevel) -> tuple[str, ...]:
    """Return the services that spans go to, besides the generator. Pure."""
    return () if level.settings.returns else (SINK,)


def stack(level: CollectorLevel, place: Place) -> Stack:
    """Return what to create for one start. The Collectors have the CPUs of what is measured. Pure."""
    names = collectors(level)
    described = {name: _collector(level, place, name, pipeline) for name, pipeline in names.items()}
    return Stack(
        services=(*receivers(level), *names, SCRAPER),
        overlay={"services": {**_limited_sink(level), **described}},
        environment=scraping.variables(names),
    )


def _limited_sink(level: CollectorLevel) -> Mapping[str, object]:
    """Return the overlay of a sink that has a rate."""
    rate = level.settings.sink_spans_per_s
    return {SINK: {"command": ["--behaviour", "limited", "--spans-per-s", f"{rate:g}"]}} if rate else {}


def _collector(level: CollectorLevel, place: Place, name: str, pipeline: str) -> Mapping[str, object]:
    """Return the overlay of one Collector."""
    settings = level.settings
    receiver = GENERATOR if settings.returns else SINK
    variables = {
        # As many threads as CPUs: recorded, and the same in each version of Go.
        "GOMAXPROCS": str(math.ceil(settings.cpus or len(place.cpus.services))),
        "GOMEMLIMIT": f"{GO_MEMORY_FRACTION * settings.memory_mib:.0f}MiB",
        "RETURN_ENDPOINT": f"{receiver}:{OTLP_PORTS['grpc']}",
        "RETURN_URL": f"http://{receiver}:{OTLP_PORTS['http']}",
        "SAMPLING_PERCENT": f"{settings.sampling_percent:g}",
        **settings.environment,
    }
    return {
        **({"extends": {"file": str(place.root / "compose.yaml"), "service": "edge"}} if name != COLLECTOR else {}),
        "image": IMAGES[settings.release],
        "cpuset": "${SERVICE_CPUS:-}",
        "mem_limit": f"{settings.memory_mib}m",
        **({"cpus": settings.cpus} if settings.cpus else {}),
        "volumes": [f"{place.root / 'collector' / 'pipelines' / pipeline}.yaml:/etc/otelcol/config.yaml:ro"],
        "environment": literal(variables),
    }


@dataclass(frozen=True)
class CollectorDeployment(Deployment):
    """See `lab.contract.Deployment`."""

    level: CollectorLevel
    place: Place
    out: Path

    @property
    def http(self) -> Http:
        """The published ports of the Collector and the sink."""
        return Http(ports.port)

    @override
    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        create(self.place, stack(self.level, self.place), self.out, variables, instruments)

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`. A Collector starts in tenths of a second, so no start-up time is measured."""
        self.place.driver.start((*instruments, *self._services, SCRAPER))
        await_ready(self.place, self._services, self._ready, READY_BOUND_S)
        return {}

    @override
    def endpoint(self) -> Endpoint:
        first = [name for name in collectors(self.level) if name != COLLECTOR] or [COLLECTOR]
        return Endpoint(",".join(first), OTLP_PORTS[self.level.settings.transport], PROTOCOL)

    @override
    def request(self, level: CollectorLevel) -> Mapping[str, object]:
        return {
            **level.settings.request(),
            **level.settings.model_dump(include={"keeps", "sampling_percent"}),
            "returns": bool(level.settings.returns),
        }

    def drain(self) -> TrialPart:
        """See `Deployment.drain`: write what the sink counted to `results-sink.json`."""
        if not self.level.settings.returns:
            wait_until(self._emptied, EMPTIED_BOUND_S, EMPTIED_EVERY_S, self.place.clock)
            delivered = settled(Sink().accepted_spans, self.place.clock, QUIET_S[self.level.settings.release])
            write_results(self.out, "sink", Results(values={"spans_delivered": float(delivered or 0)}))
        scraping.await_scrape(self.place, self.out)
        self.place.driver.stop([*collectors(self.level), SCRAPER, OBSERVER])
        return TrialPart()

    @override
    def roles(self) -> Mapping[str, str]:
        return {
            **dict.fromkeys(collectors(self.level), "collector"),
            **dict.fromkeys(receivers(self.level), "backend"),
            SCRAPER: "scraper",
        }

    @override
    def pages(self) -> Sequence[str]:
        return [
            f"OTLP over HTTP: {self.http.url('COLLECTOR_PORT', '/v1/traces')}",
            f"curl {self.http.url('COLLECTOR_METRICS_PORT', '/metrics')}",
            f"curl {self.http.url('SINK_PORT', '/counters')}",
        ]

    @property
    def _services(self) -> tuple[str, ...]:
        return (*receivers(self.level), *collectors(self.level))

    def _ready(self) -> bool:
        return (self.level.settings.returns or Sink().ready()) and receives_traces(self.http, "COLLECTOR_PORT")

    def _emptied(self) -> bool:
        """Return whether no exporter's queue holds a request. In the current release it holds those under way, too."""
        return not any(
            fields["queue_size"].values[-1]
            for fields in read_scraped(self.out / scraping.RECORD, self.place.driver, self.place.clock).values()
            if "queue_size" in fields
        )
