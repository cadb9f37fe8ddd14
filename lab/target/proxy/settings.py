"""What an experiment may set of a proxy, and of each of its levels."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from lab.spec import Level, LevelSettings, TargetSettings
from lab.target.proxy.sick import Faults

Tracer = Literal[
    "none",
    "opentelemetry-grpc",
    "opentelemetry-http",
    "zipkin-json",
    "zipkin-protobuf",
    "model-async",
    "model-waiting",
    "model-thread",
]
PROXY, ENVOY, EXPORTER_MODEL = "proxy", "envoy", "exporter-model"
NO_TRACER: Tracer = "none"
Release = Literal["current", "1.36", "1.37", "1.38", "1.39"]
CURRENT: Release = "current"
OPENTELEMETRY = frozenset({"opentelemetry-grpc", "opentelemetry-http"})
ZIPKIN = frozenset({"zipkin-json", "zipkin-protobuf"})
# Exporters that Envoy does not have, in a proxy of the lab's own (services/exporter-model).
MODEL = frozenset({"model-async", "model-waiting", "model-thread"})
# Settings that only some tracers have.
NEEDS = {
    "release": OPENTELEMETRY | ZIPKIN | {NO_TRACER},
    "workers": OPENTELEMETRY | ZIPKIN | {NO_TRACER},
    "random_sampling_percent": OPENTELEMETRY | ZIPKIN,
    "min_flush_spans": OPENTELEMETRY | ZIPKIN | MODEL,
    "flush_interval_ms": OPENTELEMETRY | ZIPKIN | MODEL,
    # Envoy 1.40 exports over gRPC without a timeout, whatever its configuration says.
    "export_timeout_ms": ZIPKIN | {"opentelemetry-http"},
    "receiver_max_requests": OPENTELEMETRY | ZIPKIN,
    "runtime_change": OPENTELEMETRY | ZIPKIN,
    "max_cache_size": OPENTELEMETRY,
    "sampler_percent": OPENTELEMETRY,
    # Zipkin's tracer reads B3 only.
    "traceparent_sampled": OPENTELEMETRY,
    # Envoy 1.40 retries exports over gRPC only.
    "export_retries": frozenset({"opentelemetry-grpc"}),
}
DEFAULT_FLUSH_INTERVAL_MS = 5000
# What may change while a tracer runs. Envoy takes any other key, too, and does nothing with it.
RUNTIME_KEYS = {
    OPENTELEMETRY: ("tracing.opentelemetry.min_flush_spans", "tracing.opentelemetry.flush_interval_ms"),
    ZIPKIN: ("tracing.zipkin.min_flush_spans", "tracing.zipkin.flush_interval_ms", "tracing.zipkin.request_timeout"),
}


class ProxySettings(TargetSettings):
    """An Envoy between the load and a test server."""

    kind: Literal["proxy"]


class ProxyLevelSettings(LevelSettings):
    """What a level of a proxy may set. What is left out is Envoy's default."""

    tracer: Tracer = Field(
        default=NO_TRACER, description="how Envoy traces requests; model-*: an exporter of the exporter model"
    )
    release: Release = Field(default=CURRENT, description="of Envoy: ENVOY_VERSION, or an earlier one")
    workers: int = Field(default=1, ge=1, le=64, description="Envoy's worker threads")
    server_delay_ms: int = Field(default=10, ge=0, le=60_000, description="how long the test server waits; 0: not")
    receiver: Literal["collector", "sink"] = Field(default="collector", description="what takes Envoy's spans")
    receiver_cpus: float | None = Field(default=None, ge=0.01, le=64, description="CPUs that the receiver may use")
    random_sampling_percent: float | None = Field(default=None, ge=0, le=100, description="requests that are traced")
    sampler_percent: float | None = Field(
        default=None, ge=0, le=100, description="traces that the tracer's own sampler keeps; 100: it is always_on"
    )
    traceparent_sampled: bool | None = Field(
        default=None, description="flag of the client's traceparent; left out: the client sends none"
    )
    min_flush_spans: int | None = Field(
        default=None, ge=1, le=1_000_000, description="spans that wait before an export; default 5"
    )
    flush_interval_ms: int | None = Field(default=None, ge=10, le=60_000, description="between exports; default 5000")
    max_cache_size: int | None = Field(default=None, ge=1, le=1_000_000, description="spans that may wait for export")
    export_timeout_ms: int | None = Field(default=None, ge=1, le=60_000, description="after which an export has failed")
    export_retries: int | None = Field(default=None, ge=1, le=10, description="how often an export is sent again")
    receiver_max_requests: int | None = Field(
        default=None, ge=1, le=1_000_000, description="exports under way that Envoy's circuit breaker allows"
    )
    runtime_change: Mapping[str, Annotated[int, Field(ge=1, le=1_000_000)]] = Field(
        default_factory=dict,
        description="values of Envoy's runtime that change in the window, such as tracing.zipkin.min_flush_spans",
    )
    runtime_change_after_s: float = Field(default=5, ge=2, le=3600, description="from the window's start to the change")
    requests_per_s: float | None = Field(
        default=None, gt=0, le=100_000, description="rate of an open loop, if not the load's"
    )
    faults: Faults = Field(default_factory=tuple, description="of the receiver, injected while the load is sent")

    @property
    def needs_own_start(self) -> bool:
        """See `LevelSettings.needs_own_start`: Envoy's counters are read over the life of its process."""
        return True

    @property
    def modelled(self) -> bool:
        """Whether the exporter model is in the place of Envoy."""
        return self.tracer in MODEL

    @property
    def container(self) -> str:
        """The Compose service that takes the requests."""
        return EXPORTER_MODEL if self.modelled else PROXY

    @property
    def image(self) -> str:
        """The name of its image."""
        if self.modelled:
            return EXPORTER_MODEL
        return ENVOY if self.release == CURRENT else f"{ENVOY}-{self.release}"

    @property
    def timers(self) -> int:
        """How many of its threads flush: Envoy's main thread has a tracer and a timer too."""
        return 1 if self.modelled else self.workers + 1

    @property
    def traced(self) -> bool:
        """Whether Envoy has a tracer."""
        return self.tracer != NO_TRACER


ProxyLevel = Level[ProxyLevelSettings]
