"""One start of the containers, from create to remove, and its trials. Whatever happens, nothing is left running."""

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from lab.engine.clock import wait_until
from lab.errors import UserError
from lab.fault.fault import Subject
from lab.fault.journal import Journal
from lab.fault.run import injector
from lab.fault.schedule import drawn
from lab.load import Loaded, LoadGenerator, LoadPlan
from lab.run.plan import Trial
from lab.run.stand import Bench, Stand
from lab.spec.experiment import Level
from lab.target.mesh.system import System
from lab.target.mesh.topology import Topology

# Ten times as long as the longest ejection of the patterns (envoy/patterns/outliers.yaml).
EJECTED_BOUND_S = 100.0
EJECTED_EVERY_S = 0.1


@dataclass(frozen=True)
class Measured:
    """One trial: the folder that its start wrote to, its `requests.csv`, the measured part of its `trial.json`."""

    folder: Path
    requests: Path
    record: dict[str, object]


class StartInterrupted(KeyboardInterrupt):
    """Ctrl-C after the first of a start's trials, or after its last: what was `measured` until then."""

    def __init__(self, measured: Sequence[Measured]) -> None:
        super().__init__()
        self.measured = measured


class NotRemoved(UserError):
    """The engine did not remove a start that was `measured`; `why` says how it failed."""

    def __init__(self, why: UserError, measured: Sequence[Measured]) -> None:
        super().__init__(why.message, why.hint)
        self.exit_code = why.exit_code
        self.measured = measured


@contextmanager
def standing(stands: Sequence[Stand], measured: Callable[[], Sequence[Measured]]) -> Iterator[None]:
    """Takes the stands away after the block, however that ends.

    Where the block ended well and removing did not, what was `measured` goes with the error: `NotRemoved` where the
    engine failed, `StartInterrupted` where Ctrl-C came meanwhile.
    """
    whole = False
    try:
        with ExitStack() as stack:
            for stand in stands:
                stack.callback(stand.remove)
            yield
            whole = True
    except UserError as why:
        if not whole:
            raise
        raise NotRemoved(why, measured()) from why
    except KeyboardInterrupt as cut:
        if not whole:
            raise
        raise StartInterrupted(measured()) from cut


def run_start(bench: Bench, levels: Sequence[Level], users: int, seed: int, out: Path) -> list[Measured]:
    """Runs a trial of each of `levels`, which share a start, leaving raw records in `out`.

    Raises `StartFailed` where a container does not do its part, `StartInterrupted`, `NotRemoved`, and the driver's
    errors.
    """
    system, generator = bench.systems[levels[0].topology], bench.generator
    plan = LoadPlan(bench.experiment.load, bench.experiment.protocol, system.topology, users, seed)
    stand = Stand(bench, system, levels[0], plan, out, bench.instruments)
    loads: list[tuple[Loaded, dict[str, object]]] = []

    def measured() -> list[Measured]:
        return [Measured(out, loaded.requests, {**record, **stand.record()}) for loaded, record in loads]

    with standing([stand], measured):
        stand.create()
        stand.start()
        with stand.phase("load"):
            generator.begin(plan, stand.stage)
            loads, interrupted = _measure_each(stand, generator, levels)
            if not interrupted:
                generator.end(stand.stage)
        stand.collect()
    if interrupted:
        raise StartInterrupted(measured())
    return measured()


def _measure_each(
    stand: Stand, generator: LoadGenerator, levels: Sequence[Level]
) -> tuple[list[tuple[Loaded, dict[str, object]]], bool]:
    """Measures level after level; returns what that left, and whether Ctrl-C came before the last."""
    loads: list[tuple[Loaded, dict[str, object]]] = []
    try:
        for level in levels:
            loads.append(_measure(stand, generator, level))
    except KeyboardInterrupt:
        if not loads:
            raise
        return loads, True
    return loads, False


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


def _measure(stand: Stand, generator: LoadGenerator, level: Level) -> tuple[Loaded, dict[str, object]]:
    """Puts a trial's load on the system; returns what that left, and what `trial.json` says of it alone."""
    _await_sidecars(stand, level)
    before = _counted(stand.system, level)
    with _runtime(stand.system, level), _faults(stand, generator, level):
        loaded = generator.measure(stand.plan, stand.stage, level)
    stand.await_observed(loaded.window_end_ns)
    return loaded, {
        **window(loaded, stand.system.topology, level),
        "sidecars": {
            name: {"version": version, "counters": _increase(before[name][1], counters)}
            for name, (version, counters) in _counted(stand.system, level).items()
        },
    }


def window(loaded: Loaded, topology: Topology, level: Level) -> dict[str, object]:
    """What `trial.json` says of a trial's load and window."""
    return {
        "load_start_ns": loaded.load_start_ns,
        "window_start_ns": loaded.window_start_ns,
        "window_end_ns": loaded.window_end_ns,
        "expected_error_fraction": mean_error_fraction(topology, level.error_probability),
    }


def _await_sidecars(stand: Stand, level: Level) -> None:
    """Waits until no sidecar holds a peer ejected: an ejection may outlive the trial before, in the same start."""
    system = stand.system
    for name, admin in system.admins(system.sidecars(level)).items():
        if not wait_until(admin.ready, EJECTED_BOUND_S, EJECTED_EVERY_S, system.clock):
            raise system.failed(
                name, f"had a peer ejected for more than {EJECTED_BOUND_S:.0f} s after the trial before"
            )


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


def _faults(stand: Stand, generator: LoadGenerator, level: Level) -> AbstractContextManager[None]:
    """The level's faults, played beside the load that the block makes."""
    if not level.faults:
        return nullcontext()
    system = stand.system
    subject = Subject(system.driver, system.clock, stand.out / "ready", tuple(system.sidecars(level)))
    injecting = injector(subject, Journal(system.journal), stand.out / "faults.jsonl")
    window_start_s = system.clock.now_s() + generator.lead_s(stand.plan)
    return injecting.beside(drawn(level.faults, stand.plan.seed), window_start_s)


def mean_error_fraction(topology: Topology, asked: float | None) -> float:
    """Share of the requests that the drawn errors make fail where nobody retries; `asked` is what requests ask for."""
    return statistics.mean(topology.expected_error_fraction(route, asked) for route in topology.routes())
