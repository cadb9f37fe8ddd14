"""One start of a proxy with its test server and what takes its spans: the `Deployment` of `lab/contract`."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote

from typing_extensions import override

from lab.backend import Http, Sink, receives_traces, settled, span_counters
from lab.contract import Deployment, Endpoint, Measuring, NothingAdded
from lab.engine import OBSERVER, Place, Stack, Wait, await_ready, beside, create, ports, start_failed, wait_until
from lab.engine.image_recipes import TABLE
from lab.fault.run import ContainerTime, injecting
from lab.fault.sink import Receiver, behave, counted
from lab.record import Results, TrialPart, write_results
from lab.target.guarded import as_measured, guarded, numbers, runtime_path
from lab.target.proxy.changing import RECORD, Changing
from lab.target.proxy.configuration import Source, prefix, text
from lab.target.proxy.counted import EXPORTS, attribute_values, export_values, proxy_values
from lab.target.proxy.declaration import COLLECTOR, PROTOCOL, SERVER, SINK, receivers
from lab.target.proxy.settings import CURRENT, DEFAULT_FLUSH_INTERVAL_MS, PROXY, ProxyLevel, ProxyLevelSettings

PROXY_PORT = 8080
ROUTES = ("ten-bytes",)
FILE = "envoy.json"
PIPELINE = "collector/pipelines/discard.yaml"
# https://www.w3.org/TR/trace-context/#trace-flags
TRACE_FLAGS = {False: "00", True: "01"}
ADMIN, SERVER_ADMIN = "PROXY_ADMIN_PORT", "TESTSERVER_PORT"
READY_BOUND_S = 30.0
FLUSHED_SPARE_S = 5.0
FLUSHED_EVERY_S = 0.5
OK = 200
# Where the exporter model sends spans, of any receiver.
OTLP_HTTP_PORT = 4318


def stack(level: ProxyLevel, place: Place) -> Stack:
    """Return what to create for one start. The proxy has the CPUs of what is measured. Pure."""
    settings = level.settings
    receiver: dict[str, object] = {} if settings.receiver_cpus is None else {"cpus": settings.receiver_cpus}
    if settings.receiver == COLLECTOR:
        receiver["volumes"] = [f"{place.root / PIPELINE}:/etc/otelcol/config.yaml:ro"]
    return Stack(
        services=services(settings),
        overlay={"services": {settings.receiver: receiver, **_proxy(settings)}},
        environment={"PROXY_WORKERS": str(settings.workers), "SERVER_DELAY": f"{settings.server_delay_ms}ms"},
    )


def _proxy(settings: ProxyLevelSettings) -> Mapping[str, object]:
    """Return the overlay of a proxy that is not the current Envoy. Compose fills an earlier one's version in."""
    if settings.modelled:
        return {settings.container: {"environment": model_environment(settings)}}
    if settings.release == CURRENT:
        return {}
    return {PROXY: {"image": f"tollbooth/{settings.image}:${{{TABLE[settings.image].version}}}"}}


def model_environment(settings: ProxyLevelSettings) -> dict[str, str]:
    """Return the configuration of the exporter model. What is left out is Envoy's default there, too."""
    given = {"MIN_FLUSH_SPANS": settings.min_flush_spans, "FLUSH_INTERVAL_MS": settings.flush_interval_ms}
    return {
        "EXPORTER": settings.tracer.removeprefix("model-"),
        "RECEIVER": f"{settings.receiver}:{OTLP_HTTP_PORT}",
        **{name: str(value) for name, value in given.items() if value is not None},
    }


def services(settings: ProxyLevelSettings) -> tuple[str, ...]:
    """Return the Compose services of a level in the order in which they start."""
    return (*receivers(settings), SERVER, settings.container)


@dataclass(frozen=True)
class ProxyDeployment(Deployment):
    """See `lab.contract.Deployment`."""

    source: Source
    level: ProxyLevel
    place: Place
    out: Path

    @property
    def settings(self) -> ProxyLevelSettings:
        """What the level sets."""
        return self.level.settings

    @property
    def http(self) -> Http:
        """The published ports of all containers."""
        return Http(self._port)

    @override
    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        files = {} if self.settings.modelled else {FILE: text(self.source, self.settings)}
        made = (guarded if self.place.keeps else as_measured)(files, self.place.root)
        create(self.place, stack(self.level, self.place), self.out, variables, instruments, made)

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`. Envoy starts in tenths of a second, so no start-up time is measured.

        It looks names up when it starts, so the others have to be there before.
        """
        *behind, proxy = services(self.settings)
        self.place.driver.start((*instruments, *behind))
        await_ready(self.place, behind, self._behind_ready, READY_BOUND_S)
        self.place.driver.start((proxy,))
        await_ready(self.place, [proxy], lambda: self.http.answers(ADMIN, "/ready"), READY_BOUND_S)
        return {}

    @override
    def endpoint(self) -> Endpoint:
        return Endpoint(self.settings.container, PROXY_PORT, PROTOCOL, ROUTES)

    def request(self, level: ProxyLevel) -> Mapping[str, object]:
        """See `Deployment.request`. The requests of the warm-up carry nothing, and have the load's rate."""
        sampled, per_s = level.settings.traceparent_sampled, level.settings.requests_per_s
        flags = {} if sampled is None else {"trace_flags": TRACE_FLAGS[sampled]}
        return flags if per_s is None else {**flags, "requests_per_s": per_s}

    @contextmanager
    @override
    def measuring(self, level: ProxyLevel, seed: int, lead_s: float) -> Iterator[Measuring]:
        changing = self._changing(lead_s) if level.settings.runtime_change else nullcontext()
        with changing, self._sick(seed, lead_s):
            yield NothingAdded()

    def drain(self) -> TrialPart:
        """See `Deployment.drain`: write what everyone counted to `results-proxy.json`, once nothing is on its way."""
        if self.settings.faults:
            # A Collector that was killed has only just been started again.
            await_ready(self.place, receivers(self.settings), self._behind_ready, READY_BOUND_S)
        values: Mapping[str, float] = {}
        # Of a container that has ended nothing is counted; the checks reject the trial and say so.
        with suppress(OSError):
            values = self._counted()
        self.place.driver.stop([self.settings.container, OBSERVER])
        write_results(self.out, PROXY, Results(values=values))
        return TrialPart()

    def _counted(self) -> Mapping[str, float]:
        """Return what everyone counted, once nothing is on its way; raises `OSError` where a container has ended."""
        if self.settings.traced:
            self._await_flushed()
        delivered = settled(self._sink.accepted_spans, self.place.clock)
        values = {
            **proxy_values(self._counters(), self._prefix),
            "requests_at_server": float(json.loads(self.http.get(SERVER_ADMIN, "/counters"))["requests"]),
        }
        if self.settings.traced:
            values |= self._received(float(delivered or 0)) | attribute_values(
                self._sink.newest_trace(self.settings.container)
            )
        return values

    @override
    def roles(self) -> Mapping[str, str]:
        return {self.settings.container: PROXY, **dict.fromkeys((SERVER, *receivers(self.settings)), "backend")}

    @override
    def pages(self) -> Sequence[str]:
        return [
            f"curl {self.http.url('PROXY_PORT', '/' + ROUTES[0])}",
            f"administration page: {self.http.url(ADMIN, '/stats' if self.settings.modelled else '/')}",
            f"curl {self.http.url('SINK_PORT', '/counters')}",
        ]

    def _changing(self, lead_s: float) -> AbstractContextManager[None]:
        """Return what changes the runtime while the block waits for the load."""
        clock, time = self.place.clock, ContainerTime(self.place.driver, self.place.clock)
        changing = Changing(self._set_runtime, self._exports, clock, time.now_ns, self.out / RECORD)
        change_s = clock.now_s() + lead_s + self.settings.runtime_change_after_s

        def play(wait: Wait) -> None:
            try:
                changing.play(change_s, wait)
            except OSError as error:
                raise start_failed(self.place.driver, PROXY, f"did not change its runtime: {error}") from None

        return beside(play, "runtime")

    def _sick(self, seed: int, lead_s: float) -> AbstractContextManager[None]:
        """Return what injects the level's faults while the block waits for the load."""
        place = self.place
        subject = Receiver(
            place.driver, place.clock, self.out, behave=partial(behave, self.http), counted=partial(counted, self.http)
        )
        return injecting(self.settings.faults, subject, place.journal, self.out / "faults.jsonl", seed, lead_s)

    def _set_runtime(self) -> None:
        """Set the values that change, for all further spans. Raises `OSError` if Envoy does not take them."""
        status, answer = self.http.send("POST", ADMIN, runtime_path(self.settings.runtime_change))
        if status != OK:
            raise OSError(f"answered with {status}: {answer.decode().strip()}")

    def _exports(self) -> Mapping[str, int]:
        answer = self.http.get(ADMIN, f"/stats?format=json&type=Counters&filter={quote(EXPORTS)}")
        return export_values(numbers(answer), prefix(self.source, self.settings))

    @property
    def _sink(self) -> Sink:
        return Sink(self._port)

    @property
    def _port(self) -> Callable[[str], int]:
        """Return the number of a port variable."""
        if self.place.alone:
            return ports.port
        return ports.chosen(services(self.settings), self.place.driver.published_port)

    @property
    def _prefix(self) -> str | None:
        return prefix(self.source, self.settings) if self.settings.traced else None

    def _counters(self) -> dict[str, int]:
        return numbers(self.http.get(ADMIN, "/stats?format=json&type=Counters"))

    def _behind_ready(self) -> bool:
        collector = self.settings.receiver == SINK or receives_traces(self.http, "COLLECTOR_PORT")
        return collector and self._sink.ready() and self.http.answers(SERVER_ADMIN, "/healthz")

    def _await_flushed(self) -> None:
        """Wait until the timer of every thread has fired once more: then no thread holds a span back."""
        name, threads = f"{self._prefix}timer_flushed", self.settings.timers
        before = self._counters().get(name, 0)
        interval_s = (self.settings.flush_interval_ms or DEFAULT_FLUSH_INTERVAL_MS) / 1000
        wait_until(
            lambda: self._counters().get(name, 0) >= before + threads,
            interval_s + FLUSHED_SPARE_S,
            FLUSHED_EVERY_S,
            self.place.clock,
        )

    def _received(self, delivered: float) -> dict[str, float]:
        """Return what the receiver of Envoy's spans counted, and the sink behind it."""
        sink = self._sink.counters()
        if self.settings.receiver == SINK:
            return {
                "spans_accepted": sink["accepted_spans"],
                "spans_refused": sink["refused_spans"],
                "export_bytes": sink["bytes"],
            }
        counters = span_counters(self.http.get("COLLECTOR_METRICS_PORT", "/metrics").decode())
        return {
            # One that was killed counts from zero again: what it had passed on is all that is known.
            "spans_accepted": delivered if self.settings.faults else counters["accepted_spans"],
            "spans_refused": counters["refused_spans"],
            "spans_dropped_by_collector": counters["dropped_spans"],
            "spans_delivered": delivered,
        }
