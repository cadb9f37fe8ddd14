"""One trial's life: create, start, load, collect, remove. Whatever happens, nothing is left running."""

import statistics
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from lab import records
from lab.backends import Backend
from lab.clock import Clock, wait_until
from lab.deployment import OBSERVER, SPINNER
from lab.driver import Container
from lab.generators import GENERATORS, LoadGenerator, LoadPlan
from lab.plan import Trial
from lab.spantree import difference
from lab.spec import Experiment, Level, Protocol
from lab.system import SECOND_NS, System
from lab.topology import Topology
from lab.variants import Traces

LOAD_MARGIN_S = 60.0
# The window is counted from the first request, up to 0.2 s after the generator's start, and the generator has to be
# there, and sampled once, which may take a second, after the window's end.
LOAD_TAIL_S = 2
# From the last request of a warm-up without thinking to the window: queues empty, and users get out of step.
SETTLE_S = 2.0
# No request of a warm-up takes longer than this on average, a JVM's first ones included.
WARM_UP_REQUEST_BOUND_S = 1.0
DELIVERY_BOUND_S = 10.0
# A Collector holds what it got for 0.2 s before it passes it on, and that takes up to half a second more.
DELIVERY_QUIET_S = 1.0


@dataclass(frozen=True)
class Bench:
    """What every trial of an experiment shares."""

    experiment: Experiment
    system: System

    @property
    def generator(self) -> LoadGenerator:
        """What drives the load."""
        return GENERATORS[self.experiment.load.generator]

    @property
    def instruments(self) -> tuple[str, ...]:
        """What is started before the system: it sees the system's start, and shares the CPUs with it."""
        return (OBSERVER, SPINNER) if self.experiment.protocol.keep_cpus_awake else (OBSERVER,)


@dataclass
class Phases:
    """How long each phase of a trial took, in seconds."""

    clock: Clock
    taken_s: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times the block under `name`."""
        start_s = self.clock.now_s()
        yield
        self.taken_s[name] = round(self.clock.now_s() - start_s, 3)


def run_trial(bench: Bench, level: Level, users: int, seed: int, out: Path) -> dict[str, object]:
    """Runs one trial, leaving raw records in `out`, and returns the measured part of `trial.json`.

    Raises `StartFailed` where a container does not do its part, and the driver's errors.
    """
    system, backend, generator = bench.system, bench.system.backend(level), bench.generator
    phases = Phases(system.clock)
    try:
        with phases.phase("create"):
            system.create(level, out, _variables(bench, level, users, seed), (*bench.instruments, generator.service))
            names = {container.id: name for name, container in system.driver.containers().items()}
            records.write_targets(out / "targets.json", names, system.driver.networks())
        with phases.phase("start"):
            startup_s = system.start(backend, out, bench.instruments)
        with phases.phase("load"):
            _load(bench)
        with phases.phase("collect"):
            containers = system.driver.containers()
            delivered = _collect(system, system.telemetry(level).traces, backend, out)
    finally:
        with phases.phase("remove"):
            system.driver.remove()
    return {
        **_window(bench.experiment, out),
        **delivered,
        "users": users,
        "service_cpus": list(system.cpus.services),
        "generator_cpus": list(system.cpus.generator),
        "containers": {name: _described(bench, backend, item) for name, item in containers.items()},
        "startup_s": startup_s,
        "phases_s": phases.taken_s,
    }


def head(trial: Trial, level: Level, attempt: int) -> dict[str, object]:
    """The part of `trial.json` that is known before a trial is run; the verdict is still open."""
    return {
        "format": "tollbooth.trial",
        "version": 1,
        "number": trial.number,
        "attempt": attempt,
        "block": trial.block,
        "position": trial.position,
        "level": trial.level,
        "settings": level.settings(),
        "valid": False,
        "reasons": [],
    }


def _variables(bench: Bench, level: Level, users: int, seed: int) -> dict[str, str]:
    protocol, load = bench.experiment.protocol, bench.experiment.load
    plan = LoadPlan(
        users=users,
        think_time_s=load.think_time_s,
        routes=bench.system.topology.routes(),
        seed=seed,
        warm_up_requests=protocol.warm_up_requests or 0,
        after_warm_up_s=_before_window_s(protocol) + protocol.window_s + LOAD_TAIL_S,
        bound_s=_bound_s(protocol),
    )
    rate_hz = level.observer_rate_hz or bench.experiment.observer.rate_hz
    return bench.generator.environment(plan) | {"OBSERVER_INTERVAL": f"{1000 / rate_hz:.0f}ms"}


def _before_window_s(protocol: Protocol) -> float:
    """How long before the window the load is as in it: from its start, or from the last request of the warm-up."""
    return SETTLE_S if protocol.warm_up_s is None else protocol.warm_up_s


def _bound_s(protocol: Protocol) -> float:
    """How long a load may last, after which the generator ends it."""
    warm_up_s = WARM_UP_REQUEST_BOUND_S * (protocol.warm_up_requests or 0)
    return warm_up_s + _before_window_s(protocol) + protocol.window_s + 2 * LOAD_TAIL_S


def _load(bench: Bench) -> None:
    system, protocol, service = bench.system, bench.experiment.protocol, bench.generator.service
    bound_s = _bound_s(protocol) + LOAD_MARGIN_S
    system.driver.start([service])
    try:
        exit_code = system.driver.wait(service, bound_s)
    except TimeoutError:
        raise system.failed(service, f"had not ended after {bound_s:.0f} s") from None
    if exit_code:
        raise system.failed(service, f"ended with exit code {exit_code}")


def _collect(system: System, traces: Traces, backend: Backend, out: Path) -> dict[str, object]:
    # A service's telemetry SDK delivers what it still holds when it is asked to end; the backend is read after that.
    system.driver.stop(list(system.topology.nodes))
    delivered = _delivered(system, traces, backend, out) if backend.services else {}
    system.driver.stop([OBSERVER])
    system.driver.save_logs(out / "logs")
    return delivered


def _delivered(system: System, traces: Traces, backend: Backend, out: Path) -> dict[str, object]:
    accepted = _settled(backend.accepted_spans, system.clock)
    return {
        "expected_spans_per_request": mean_spans_per_request(system.topology) if traces == "all" else None,
        "backend": {"accepted_spans": accepted, "counters": backend.counters()},
        **(_traced(system, traces, backend, out) if backend.keeps_traces else {}),
    }


def _traced(system: System, traces: Traces, backend: Backend, out: Path) -> dict[str, object]:
    """What one trace says, which is kept in `out`."""
    trace = backend.newest_trace()
    if trace is not None:
        records.write_json_atomic(out / "trace.json", trace)
    spans = trace["spans"] if trace else []
    assert isinstance(spans, list)
    return {"spans_in_trace": len(spans), "trace_difference": trace_difference(system.topology, traces, spans)}


def _settled(read: Callable[[], int | None], clock: Clock) -> int | None:
    """The counter's value once two readings agree, or after a bound: batches may still be on their way in."""
    last = read()

    def same_again() -> bool:
        nonlocal last
        before, last = last, read()
        return before == last

    wait_until(same_again, DELIVERY_BOUND_S, DELIVERY_QUIET_S, clock)
    return last


def mean_spans_per_request(topology: Topology) -> float:
    """Spans that a request makes on average: users visit all routes equally often."""
    return statistics.mean(topology.expected_spans(route) for route in topology.routes())


def trace_difference(topology: Topology, traces: Traces, spans: list[dict[str, object]]) -> str | None:
    """None if the trace is what the topology predicts for one of its routes, else what differs from the first."""
    if not spans:
        # With sampling there may be no trace yet among the few requests of a short trial.
        return "the backend has no trace" if traces == "all" else None
    if traces == "none":
        return "no request was to be traced"
    differences = [difference(topology.expected_tree(route), spans) for route in topology.routes()]
    return None if None in differences else differences[0]


def _window(experiment: Experiment, out: Path) -> dict[str, int]:
    requests, protocol = records.read_requests(out / "requests.csv"), experiment.protocol
    start_ns = int(requests.start_ns.min()) if len(requests) else 0
    warm_ns = start_ns
    if protocol.warm_up_requests is not None and len(requests):
        # In order of ending. A load that ended before its warm-up did has a window without requests, and is refused.
        warm_ns = int(requests.end_ns[: protocol.warm_up_requests][-1])
    window_start_ns = warm_ns + round(_before_window_s(protocol) * SECOND_NS)
    return {
        "load_start_ns": start_ns,
        "window_start_ns": window_start_ns,
        "window_end_ns": window_start_ns + round(protocol.window_s * SECOND_NS),
    }


def _described(bench: Bench, backend: Backend, item: Container) -> dict[str, object]:
    roles = dict.fromkeys(bench.system.topology.nodes, "service") | dict.fromkeys(backend.services, "backend")
    roles |= {bench.generator.service: "generator", OBSERVER: "observer", SPINNER: "spinner"}
    return {
        "role": roles[item.name],
        "image": item.image,
        "restarts": item.restarts,
        "oom_killed": item.oom_killed,
        "exit_code": item.exit_code,
        "running": item.running,
    }
