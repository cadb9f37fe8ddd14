"""One start of the containers, from create to remove, and its trials. Whatever happens, nothing is left running."""

import json
import os
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from lab import records, reference
from lab.backends import Backend
from lab.clock import Clock, wait_until
from lab.deployment import OBSERVER, SPINNER
from lab.driver import Container
from lab.generators import GENERATORS, Loaded, LoadGenerator, LoadPlan, Stage
from lab.injection.fault import Subject
from lab.injection.journal import Journal
from lab.injection.run import injector
from lab.injection.schedule import drawn
from lab.plan import Trial
from lab.reference import Reference
from lab.spantree import difference
from lab.spec import Experiment, Level
from lab.system import System
from lab.topology import Topology
from lab.variants import Traces

DELIVERY_BOUND_S = 10.0
# A counter's increase over a window needs a sample after its end. Where none comes, a check refuses the trial.
OBSERVED_BOUND_S = 10.0
OBSERVED_EVERY_S = 0.2
# Ten times as long as the longest ejection of the patterns (envoy/patterns/outliers.yaml).
EJECTED_BOUND_S = 100.0
EJECTED_EVERY_S = 0.1
# More than the observer writes of all containers in one tick.
TAIL_BYTES = 1 << 16
# A Collector holds what it got for 0.2 s before it passes it on, and that takes up to half a second more.
DELIVERY_QUIET_S = 1.0


@dataclass(frozen=True)
class Bench:
    """What every trial of an experiment shares. `systems`: by the name of the topology that they have."""

    experiment: Experiment
    systems: Mapping[str, System]
    reference: Reference | None = None

    @property
    def system(self) -> System:
        """The system of the experiment's own topology; engine, clock and CPUs are the same for all."""
        return self.systems[self.experiment.topology]

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
    """How long each phase of a start took, in seconds."""

    clock: Clock
    taken_s: dict[str, float] = field(default_factory=dict)

    @contextmanager
    def phase(self, name: str) -> Iterator[None]:
        """Times the block under `name`."""
        start_s = self.clock.now_s()
        yield
        self.taken_s[name] = round(self.clock.now_s() - start_s, 3)


@dataclass(frozen=True)
class Measured:
    """One trial of a start: its `requests.csv`, and the measured part of its `trial.json`."""

    requests: Path
    record: dict[str, object]


class StartInterrupted(KeyboardInterrupt):
    """Ctrl-C after the first of a start's trials: what was `measured` until then."""

    def __init__(self, measured: Sequence[Measured]) -> None:
        super().__init__()
        self.measured = measured


def run_start(bench: Bench, levels: Sequence[Level], users: int, seed: int, out: Path) -> list[Measured]:
    """Runs a trial of each of `levels`, which share a start, leaving raw records in `out`.

    Raises `StartFailed` where a container does not do its part, `StartInterrupted`, and the driver's errors.
    """
    first = levels[0]
    system, generator = bench.systems[first.topology], bench.generator
    backend, phases = system.backend(first), Phases(system.clock)
    plan = LoadPlan(bench.experiment.load, bench.experiment.protocol, system.topology, users, seed)
    stage = Stage(system.driver, system.clock, out, system.failed)
    try:
        with phases.phase("create"):
            variables = {**generator.environment(plan), "OBSERVER_INTERVAL": _interval(bench.experiment, first)}
            system.create(first, out, variables, (*bench.instruments, generator.service))
            names = {container.id: name for name, container in _containers(bench, system).items()}
            records.write_targets(out / "targets.json", names, system.driver.networks())
        with phases.phase("start"):
            startup_s = system.start(first, out, bench.instruments)
        with phases.phase("load"):
            generator.begin(plan, stage)
            loads, interrupted = _measure_each(plan, stage, system, generator, levels)
            if not interrupted:
                generator.end(stage)
        with phases.phase("collect"):
            containers = _containers(bench, system)
            if bench.reference:
                start_ns, end_ns = loads[0][0].load_start_ns, loads[-1][0].window_end_ns
                bench.reference.save_requests(out / reference.FILE, start_ns, end_ns)
            delivered = _collect(system, system.telemetry(first).traces, backend, out)
    finally:
        with phases.phase("remove"):
            system.driver.remove()
    common: dict[str, object] = {
        **delivered,
        "users": users,
        "service_cpus": list(system.cpus.services),
        "generator_cpus": list(system.cpus.generator),
        "containers": _described(bench, system, first, backend, containers),
        "startup_s": startup_s,
        "phases_s": phases.taken_s,
    }
    measured = [Measured(loaded.requests, {**record, **common}) for loaded, record in loads]
    if interrupted:
        raise StartInterrupted(measured)
    return measured


def _measure_each(
    plan: LoadPlan, stage: Stage, system: System, generator: LoadGenerator, levels: Sequence[Level]
) -> tuple[list[tuple[Loaded, dict[str, object]]], bool]:
    """Measures level after level; returns what that left, and whether Ctrl-C came before the last."""
    loads: list[tuple[Loaded, dict[str, object]]] = []
    try:
        for level in levels:
            loads.append(_measure(plan, stage, system, generator, level))
    except KeyboardInterrupt:
        if not loads:
            raise
        return loads, True
    return loads, False


def _containers(bench: Bench, system: System) -> dict[str, Container]:
    """The system's containers, and the services of the reference that stands beside it."""
    return system.driver.containers() | (bench.reference.containers() if bench.reference else {})


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


def _interval(experiment: Experiment, level: Level) -> str:
    """How often the observer looks."""
    rate_hz = level.observer_rate_hz or experiment.observer.rate_hz
    return f"{1000 / rate_hz:.0f}ms"


def _measure(
    plan: LoadPlan, stage: Stage, system: System, generator: LoadGenerator, level: Level
) -> tuple[Loaded, dict[str, object]]:
    """Puts a trial's load on the system; returns what that left, and what `trial.json` says of it alone."""
    _await_sidecars(stage, system, level)
    before = _counted(system, level)
    with _runtime(system, level), _faults(plan, stage, system, generator, level):
        loaded = generator.measure(plan, stage, level)
    wait_until(
        lambda: observed_until_ns(stage.out) > loaded.window_end_ns, OBSERVED_BOUND_S, OBSERVED_EVERY_S, stage.clock
    )
    return loaded, {
        "load_start_ns": loaded.load_start_ns,
        "window_start_ns": loaded.window_start_ns,
        "window_end_ns": loaded.window_end_ns,
        "expected_error_fraction": mean_error_fraction(system.topology, level.error_probability),
        "sidecars": {
            name: {"version": version, "counters": _increase(before[name][1], counters)}
            for name, (version, counters) in _counted(system, level).items()
        },
    }


def _await_sidecars(stage: Stage, system: System, level: Level) -> None:
    """Waits until no sidecar holds a peer ejected: an ejection may outlive the trial before, in the same start."""
    for name, admin in system.admins(system.sidecars(level)).items():
        if not wait_until(admin.ready, EJECTED_BOUND_S, EJECTED_EVERY_S, system.clock):
            raise stage.failed(name, f"had a peer ejected for more than {EJECTED_BOUND_S:.0f} s after the trial before")


def observed_until_ns(out: Path) -> int:
    """When the observer last looked at a container; 0 before its first sample, or where its record is not whole."""
    with (out / "counters.jsonl").open("rb") as file:
        file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
        lines = file.read().split(b"\n")[1:-1]
    samples = (json.loads(line) for line in reversed(lines))
    return next((int(sample["t_ns"]) for sample in samples if sample["kind"] == "container"), 0)


@contextmanager
def _runtime(system: System, level: Level) -> Iterator[None]:
    """Lets the level's runtime values hold in every sidecar during the block; the next trial begins without them."""
    admins = system.admins(system.sidecars(level)).values() if level.envoy_runtime else ()
    for admin in admins:
        admin.set_runtime(level.envoy_runtime)
    yield
    for admin in admins:
        admin.set_runtime(dict.fromkeys(level.envoy_runtime, ""))


def _counted(system: System, level: Level) -> dict[str, tuple[str, dict[str, int]]]:
    """Each sidecar's version and counters. Asked for anew each time: a fault may have made it start again."""
    admins = system.admins(system.sidecars(level))
    return {name: (admin.version(), admin.counters()) for name, admin in admins.items()}


def _increase(before: Mapping[str, int], after: Mapping[str, int]) -> dict[str, int]:
    """By how much counters grew; one that was not there, or began anew, had counted nothing."""
    return {name: value - (before.get(name, 0) if value >= before.get(name, 0) else 0) for name, value in after.items()}


def _faults(
    plan: LoadPlan, stage: Stage, system: System, generator: LoadGenerator, level: Level
) -> AbstractContextManager[None]:
    """The level's faults, played beside the load that the block makes."""
    if not level.faults:
        return nullcontext()
    subject = Subject(system.driver, system.clock, stage.out / "ready", tuple(system.sidecars(level)))
    injecting = injector(subject, Journal(system.journal), stage.out / "faults.jsonl")
    window_start_s = system.clock.now_s() + generator.lead_s(plan)
    return injecting.beside(drawn(level.faults, plan.seed), window_start_s)


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


def mean_error_fraction(topology: Topology, asked: float | None) -> float:
    """Share of the requests that the drawn errors make fail where nobody retries; `asked` is what requests ask for."""
    return statistics.mean(topology.expected_error_fraction(route, asked) for route in topology.routes())


def trace_difference(topology: Topology, traces: Traces, spans: list[dict[str, object]]) -> str | None:
    """None if the trace is what the topology predicts for one of its routes, else what differs from the first."""
    if not spans:
        # With sampling there may be no trace yet among the few requests of a short trial.
        return "the backend has no trace" if traces == "all" else None
    if traces == "none":
        return "no request was to be traced"
    differences = [difference(topology.expected_tree(route), spans) for route in topology.routes()]
    return None if None in differences else differences[0]


def _described(
    bench: Bench, system: System, level: Level, backend: Backend, containers: Mapping[str, Container]
) -> dict[str, object]:
    roles = dict.fromkeys(system.topology.nodes, "service") | dict.fromkeys(backend.services, "backend")
    roles |= dict.fromkeys(system.sidecars(level).values(), "sidecar")
    roles |= {bench.generator.service: "generator", OBSERVER: "observer", SPINNER: "spinner"}
    roles |= dict.fromkeys(bench.reference.containers() if bench.reference else (), reference.ROLE)
    return {
        name: {
            "role": roles[name],
            "image": item.image,
            "restarts": item.restarts,
            "oom_killed": item.oom_killed,
            "exit_code": item.exit_code,
            "running": item.running,
        }
        for name, item in containers.items()
    }
