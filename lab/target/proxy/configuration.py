"""Envoy's configuration for a level, put together from the files of envoy/proxy/. Pure but for `load`."""

import copy
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from lab.spec import parse_yaml, read_text
from lab.target.proxy.settings import ProxyLevelSettings

Part = Mapping[str, Any]
EXTENSION = "type.googleapis.com/envoy.extensions"
HTTP2 = {
    "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": f"{EXTENSION}.upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {"http2_protocol_options": {}},
    }
}
# What is worth another attempt. Envoy takes conditions of gRPC and of HTTP in one list.
RETRY_ON = "cancelled,deadline-exceeded,resource-exhausted,unavailable,connect-failure,refused-stream,reset"
SAMPLERS = f"{EXTENSION}.tracers.opentelemetry.samplers.v3"


@dataclass(frozen=True)
class Source:
    """The content of envoy/proxy/: the proxy without tracing, the receiver's cluster, and each tracer by name."""

    bootstrap: Part
    receiver: Part
    tracers: Mapping[str, Part]


def load(folder: Path) -> Source:
    """Read the folder envoy/proxy/."""
    bootstrap, receiver, tracers = (
        parse_yaml(read_text(folder / f"{name}.yaml")) for name in ("bootstrap", "receiver", "tracers")
    )
    assert isinstance(bootstrap, dict) and isinstance(receiver, dict) and isinstance(tracers, dict)
    return Source(bootstrap, receiver, tracers)


def text(source: Source, level: ProxyLevelSettings) -> str:
    """Return the level's configuration as Envoy reads it, in JSON."""
    return json.dumps(configuration(source, level), indent=1) + "\n"


def configuration(source: Source, level: ProxyLevelSettings) -> dict[str, Any]:
    """Return the level's configuration."""
    whole: dict[str, Any] = copy.deepcopy(dict(source.bootstrap))
    if not level.traced:
        return whole
    tracer = source.tracers[level.tracer]
    whole["layered_runtime"]["layers"][0]["static_layer"] = _runtime(tracer, level)
    (listener,) = whole["static_resources"]["listeners"]
    manager = listener["filter_chains"][0]["filters"][0]["typed_config"]
    manager["tracing"] = _tracing(tracer, level)
    whole["static_resources"]["clusters"].append(_cluster(source.receiver, tracer, level))
    return whole


def prefix(source: Source, level: ProxyLevelSettings) -> str:
    """Return what the names of the tracer's counters begin with."""
    return "tracing.model." if level.modelled else f"tracing.{source.tracers[level.tracer]['stats']}."


def _runtime(tracer: Part, level: ProxyLevelSettings) -> dict[str, int]:
    """Return the runtime values: Zipkin's timeout is one of them, OpenTelemetry's is not."""
    values = {"min_flush_spans": level.min_flush_spans, "flush_interval_ms": level.flush_interval_ms}
    if tracer["stats"] == "zipkin":
        values["request_timeout"] = level.export_timeout_ms
    return {f"tracing.{tracer['stats']}.{name}": value for name, value in values.items() if value is not None}


def _tracing(tracer: Part, level: ProxyLevelSettings) -> dict[str, Any]:
    provider = copy.deepcopy(dict(tracer["provider"]))
    if tracer["stats"] == "opentelemetry":
        _set_opentelemetry(provider["typed_config"], level)
    sampling = 100 if level.random_sampling_percent is None else level.random_sampling_percent
    return {
        "provider": provider,
        "random_sampling": {"value": sampling},
        # A request makes one span.
        "spawn_upstream_span": False,
    }


def _set_opentelemetry(config: dict[str, Any], level: ProxyLevelSettings) -> None:
    service: dict[str, Any] = config.get("grpc_service") or config["http_service"]
    if level.export_timeout_ms is not None and "http_uri" in service:
        service["http_uri"]["timeout"] = f"{level.export_timeout_ms / 1000}s"
    if level.export_retries is not None:
        service["retry_policy"] = {"num_retries": level.export_retries, "retry_on": RETRY_ON}
    if level.max_cache_size is not None:
        config["max_cache_size"] = level.max_cache_size
    if level.sampler_percent is not None:
        config["sampler"] = _sampler(level.sampler_percent)


def _sampler(percent: float) -> dict[str, Any]:
    """Return the tracer's own sampler. The ratio is a fraction of a million."""
    if percent == 100:
        return _extension("always_on", "AlwaysOnSamplerConfig", {})
    ratio = {"numerator": round(percent * 10_000), "denominator": "MILLION"}
    return _extension("trace_id_ratio_based", "TraceIdRatioBasedSamplerConfig", {"sampling_percentage": ratio})


def _extension(name: str, message: str, values: Part) -> dict[str, Any]:
    return {
        "name": f"envoy.tracers.opentelemetry.samplers.{name}",
        "typed_config": {"@type": f"{SAMPLERS}.{message}", **values},
    }


def _cluster(receiver: Part, tracer: Part, level: ProxyLevelSettings) -> dict[str, Any]:
    cluster: dict[str, Any] = copy.deepcopy(dict(receiver))
    endpoint = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]
    endpoint["address"]["socket_address"] = {"address": level.receiver, "port_value": tracer["port"]}
    if tracer["http2"]:
        cluster["typed_extension_protocol_options"] = HTTP2
    if level.receiver_max_requests is not None:
        cluster["circuit_breakers"] = {"thresholds": [{"max_requests": level.receiver_max_requests}]}
    return cluster
