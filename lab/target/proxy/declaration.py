"""What a proxy declares: its models, what it needs, its headline, and what can be wrong with its levels. Pure."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from typing_extensions import override

from lab.contract import Declaration, Needs
from lab.fault import rules
from lab.record import Column, Headline
from lab.spec import Example, Experiment, Problem, suggestion
from lab.target.proxy.saturated import COLUMNS
from lab.target.proxy.settings import NEEDS, RUNTIME_KEYS, ZIPKIN, ProxyLevel, ProxyLevelSettings, ProxySettings

SERVER, COLLECTOR, SINK = "testserver", "collector", "sink"
PROTOCOL: Literal["http"] = "http"
# Exports are counted each second: so long after a change are enough of them to know a rate.
AFTER_CHANGE_S = 4.0
# The containers' limits together.
SYSTEM_BYTES = 1088 << 20

HEADLINE = Headline(
    primary="cpu_per_request_us",
    what="CPU of the proxy",
    columns=(
        Column(metric="latency_mean_ms", heading="mean\nms"),
        Column(metric="latency_p99_ms", heading="p99\nms"),
        Column(metric="memory_proxy_mean_mib", heading="MiB"),
        Column(metric="requests_per_s", heading="req./s"),
        Column(metric="spans_accepted_fraction", heading="accepted\n%", per=0.01),
        Column(metric="spans_per_export", heading="spans/\nexport"),
    ),
    main=(
        "cpu_per_request_us",
        "memory_proxy_mean_mib",
        "latency_mean_ms",
        "latency_p50_ms",
        "latency_p99_ms",
        "latency_p999_ms",
        "requests_per_s",
        "spans_accepted_fraction",
        "bytes_per_span",
        "receiver_throttled_fraction",
    ),
)


@dataclass(frozen=True)
class ProxyDeclaration(Declaration):
    """See `lab.contract.Declaration`."""

    kind = "proxy"
    settings = ProxySettings
    level = ProxyLevelSettings
    example = Example({}, {"tracer": "opentelemetry-grpc"})

    @override
    def headline(self, metrics: Collection[str]) -> Headline:
        closed = "connections_busy" in metrics
        return HEADLINE.model_copy(update={"columns": COLUMNS}) if closed else HEADLINE

    @override
    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        if experiment.load.protocol not in (None, PROTOCOL):
            text = f"{experiment.load.generator} sends {experiment.load.protocol}, a proxy takes {PROTOCOL}"
            yield Problem(("load", "generator"), text)
        if experiment.at_once:
            text = "Envoy's counters are read around one trial; run levels one after the other"
            yield Problem(("protocol", "side_by_side"), text)
        for level in experiment.levels():
            yield from _level_problems(level)
            yield from _fault_problems(level, experiment.protocol.window_s)
            if level.settings.requests_per_s is not None and not experiment.load.can("rate-by-level"):
                text = f"{experiment.load.generator} sends all levels one load; level '{level.name}' wants its own rate"
                yield Problem(("load", "generator"), text)
            if level.settings.traceparent_sampled is not None and not experiment.load.can("begins-traces"):
                text = f"{experiment.load.generator} sends no traceparent, which level '{level.name}' wants"
                yield Problem(("load", "generator"), text)
            yield from _change_problems(level, experiment.protocol.window_s or 0.0)

    @override
    def needs(self, experiment: Experiment) -> Needs:
        behind = sorted({name for level in experiment.levels() for name in receivers(level.settings)})
        proxies = dict.fromkeys(level.settings.container for level in experiment.levels())
        images = dict.fromkeys(level.settings.image for level in experiment.levels())
        return Needs((*proxies, SERVER, *behind), (*images, SERVER, *behind), SYSTEM_BYTES)

    def start_group(self, level: ProxyLevel) -> str:
        """See `Declaration.start_group`: Envoy starts equally fast with every tracer."""
        return level.settings.container


def receivers(level: ProxyLevelSettings) -> tuple[str, ...]:
    """Return the Compose services behind the proxy that take its spans, the last one first."""
    return (SINK,) if level.receiver == SINK else (SINK, COLLECTOR)


def _level_problems(level: ProxyLevel) -> Iterator[Problem]:
    settings = level.settings
    for name in sorted(settings.model_fields_set & NEEDS.keys()):
        if getattr(settings, name) is not None and settings.tracer not in NEEDS[name]:
            text = f"level '{level.name}': {name} has no effect on the tracer {settings.tracer}"
            yield Problem(("factors",), f"{text}; it needs one of {', '.join(sorted(NEEDS[name]))}")
    if settings.tracer in ZIPKIN and settings.receiver == COLLECTOR:
        yield Problem(("factors",), f"level '{level.name}': the Collector takes no Zipkin; expected receiver: {SINK}")


def _fault_problems(level: ProxyLevel, window_s: float | None) -> Iterator[Problem]:
    faults, receiver = level.settings.faults, level.settings.receiver
    yield from rules.contradictions(faults, window_s, ("factors",))
    for fault in faults:
        if fault.target != receiver or not level.settings.traced:
            text = f"level '{level.name}': {fault.what} changes nothing"
            yield Problem(("factors",), f"{text}; expected a tracer, and receiver: {fault.target}")


def _change_problems(level: ProxyLevel, window_s: float) -> Iterator[Problem]:
    """Yield keys that Envoy would take without a word, and changes that come too late to be seen."""
    settings, after_s = level.settings, level.settings.runtime_change_after_s
    known = [key for tracers, keys in RUNTIME_KEYS.items() if settings.tracer in tracers for key in keys]
    for key in sorted(settings.runtime_change.keys() - set(known)):
        text = f"level '{level.name}': runtime_change: no key '{key}' of {settings.tracer}"
        yield Problem(("factors",), f"{text}; {suggestion(key, known)}")
    if settings.runtime_change and after_s > window_s - AFTER_CHANGE_S:
        text = f"level '{level.name}': runtime_change_after_s: got {after_s:g} of a window of {window_s:g} s"
        yield Problem(("factors",), f"{text}; expected {AFTER_CHANGE_S:g} s or more after the change")
