"""All levels of a block at once: each stands as a system of its own, and all are asked in the same window.

What slows the machine then slows every level alike, at every moment, and cancels in their ratios: duet benchmarking
(Bulej et al., Duet Benchmarking: Improving Measurement Accuracy in the Cloud, 2020) with all levels as partners.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from lab.engine.clock import wait_until
from lab.errors import UserError
from lab.load import Loaded, LoadPlan
from lab.load.generator import SECOND_NS
from lab.load.users import SETTLE_S, WARM_UP_REQUEST_BOUND_S, answered, last_end_ns, lasting
from lab.record import records
from lab.record.series import NotDerivableError
from lab.run.progress import minutes
from lab.run.stand import Bench, Stand
from lab.run.trial import Measured, standing, window
from lab.spec.experiment import Level
from lab.target.mesh.deployment import OBSERVER

SPEED = "speed.jsonl"
LOOK_EVERY_S = 1.0
# To ask the engine costs CPU; nothing is measured meanwhile.
ASK_ENGINE_EVERY_S = 10.0
# From the window's end until every system has answered a request that ended after it.
TAIL_BOUND_S = 60.0


def run_side_by_side(
    bench: Bench, levels: Sequence[Level], users: int, seed: int, out: Path, say: Callable[[str], None]
) -> list[Measured]:
    """Runs a trial of each of `levels` at the same time, each with its share of `users`; raw records go below `out`.

    `say` is told how far it has come, as that takes minutes. Raises `StartFailed` where a container does not do its
    part, `NotRemoved`, and the driver's errors.
    """
    shares = _shares(users, [level.users_fraction for level in levels])
    stands = [_stand(bench, level, place, shares[place], seed, out) for place, level in enumerate(levels)]
    loads: list[Loaded] = []
    with standing(stands, lambda: _measured(stands, loads)):
        for stand in stands:
            stand.create()
        # One after the other: each has the CPUs to itself while it starts, and its start-up time is its own.
        for stand in stands:
            stand.start()
        say(f"{len(stands)} systems stand side by side, warming up")
        loads = _load(stands, say)
        for stand in stands:
            stand.collect()
    return _measured(stands, loads)


def _shares(users: int, fractions: Sequence[float]) -> list[int]:
    """Each level's users: an equal share of all, times its fraction.

    Shares are small, so the smallest is rounded, to one at least, and the others are their multiples of it: half of
    another level's load stays half of it. Raises `UserError` where two fractions come out as the same load.
    """
    smallest = min(fractions)
    fewest = max(1, round(users * smallest / len(fractions)))
    by_fraction = {fraction: round(fewest * fraction / smallest) for fraction in fractions}
    if len(set(by_fraction.values())) < len(by_fraction):
        told = " and ".join(f"{fraction:g}" for fraction in sorted(by_fraction))
        raise UserError(
            f"of {users} users shared by {len(fractions)} systems, the users_fractions {told} are not different loads",
            "ask more users (--set load.users=...), or measure one after the other: --set side_by_side=false",
        )
    return [by_fraction[fraction] for fraction in fractions]


def _stand(bench: Bench, level: Level, place: int, users: int, seed: int, out: Path) -> Stand:
    system = replace(bench.systems[level.topology], driver=bench.drivers[place], alone=False)
    protocol = bench.experiment.protocol
    assert protocol.warm_up_requests is not None and protocol.window_s is not None  # side by side has both
    lasts_s = _warm_up_bound_s(bench) + SETTLE_S + protocol.window_s + TAIL_BOUND_S
    load = lasting(protocol, protocol.warm_up_requests, lasts_s)
    plan = LoadPlan(bench.experiment.load, load, system.topology, users, seed)
    instruments = (OBSERVER,) if place else bench.instruments
    return Stand(bench, system, level, plan, out / str(place), instruments)


def _warm_up_bound_s(bench: Bench) -> float:
    """How long the slowest system's warm-up may take: all share the CPUs."""
    return WARM_UP_REQUEST_BOUND_S * (bench.experiment.protocol.warm_up_requests or 0) * len(bench.drivers)


def _load(stands: Sequence[Stand], say: Callable[[str], None]) -> list[Loaded]:
    """Asks every system until each is warm and all were measured in one window."""
    generator, protocol = stands[0].bench.generator, stands[0].bench.experiment.protocol
    wanted, window_s = protocol.warm_up_requests or 0, protocol.window_s or 0.0
    for stand in stands:
        stand.system.driver.start([generator.service])
    _await(
        stands, lambda stand: answered(_requests(stand)) >= wanted, _warm_up_bound_s(stands[0].bench), "was not warm"
    )
    warm_ns = max(int(records.read_requests(_requests(stand)).end_ns[wanted - 1]) for stand in stands)
    start_ns = warm_ns + round(SETTLE_S * SECOND_NS)
    end_ns = start_ns + round(window_s * SECOND_NS)
    say(f"all are warm, and measured for {minutes(window_s)}")
    stands[0].system.clock.sleep(window_s)
    _await(stands, lambda stand: last_end_ns(_requests(stand)) > end_ns, TAIL_BOUND_S, "answered nothing more")
    for stand in stands:
        stand.await_observed(end_ns)
    for stand in stands:
        stand.system.driver.stop([generator.service])
    return [
        Loaded(_requests(stand), records.read_requests(_requests(stand)).first_start_ns(), start_ns, end_ns)
        for stand in stands
    ]


def _requests(stand: Stand) -> Path:
    return stand.out / "requests.csv"


def _await(stands: Sequence[Stand], met: Callable[[Stand], bool], bound_s: float, missed: str) -> None:
    """Waits until every stand meets the condition; raises `StartFailed` for the first that does not, or cannot."""
    generator, clock = stands[0].bench.generator.service, stands[0].system.clock
    end_s = clock.now_s() + bound_s
    while not wait_until(lambda: all(map(met, stands)), ASK_ENGINE_EVERY_S, LOOK_EVERY_S, clock):
        late = [stand for stand in stands if not met(stand)]
        for stand in stands:
            if not stand.system.driver.containers()[generator].running:
                raise stand.system.failed(generator, f"of level {stand.level.name} ended before it was asked to")
        if late and clock.now_s() > end_s:
            raise late[0].system.failed(generator, f"of level {late[0].level.name} {missed} within {bound_s:.0f} s")


def _measured(stands: Sequence[Stand], loads: Sequence[Loaded]) -> list[Measured]:
    """What each left. The cores of all systems, less a trial's own, are what the others used beside it."""
    # One spinner is beside all: what it saw is the same for every level, so that nothing could be taken out by it.
    (stands[0].out / SPEED).unlink(missing_ok=True)
    cores = [_cores(stand.out, loaded) for stand, loaded in zip(stands, loads, strict=True)]
    return [
        Measured(
            stand.out,
            loaded.requests,
            {
                **window(loaded, stand.system.topology, stand.level),
                **stand.record(),
                "cores_side_by_side": sum(cores) - own,
            },
        )
        for stand, loaded, own in zip(stands, loads, cores, strict=True)
    ]


def _cores(out: Path, loaded: Loaded) -> float:
    """The cores that a system's containers used in the window; none that the observer did not see to its end.

    Such a trial is refused by itself, whatever its neighbours' sums say.
    """
    used_ns = 0.0
    for fields in records.read_counters(out / "counters.jsonl").containers.values():
        with suppress(NotDerivableError):
            used_ns += fields["cpu_usage_ns"].increase(loaded.window_start_ns, loaded.window_end_ns)
    return used_ns / (loaded.window_end_ns - loaded.window_start_ns)
