"""All levels of a block at once: each is a system of its own, and all get load in the same window.

What slows the machine then slows every level alike, at every moment, and cancels in their ratios: duet benchmarking
(Bulej et al., Duet Benchmarking: Improving Measurement Accuracy in the Cloud, 2020) with all levels as partners.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from lab.engine import wait_until
from lab.errors import UserError
from lab.load import SETTLE_S, WARM_UP_REQUEST_BOUND_S, Loaded
from lab.record import SECOND_NS, answered, newest_end_ns, read_requests
from lab.run.at_once import run_at_once, start_at
from lab.run.measure import Load, Measured
from lab.run.ordered import measuring
from lab.run.progress import minutes
from lab.run.start import Context, Start
from lab.spec import Level

LOOK_EVERY_S = 1.0
# A request to the engine costs CPU; nothing is measured meanwhile.
QUERY_ENGINE_EVERY_S = 10.0
# From the window's end until every system has answered a request that ended after it.
TAIL_BOUND_S = 60.0


def run_side_by_side(
    context: Context,
    levels: Sequence[Level[Any]],
    found: Mapping[str, float],
    seed: int,
    out: Path,
    say: Callable[[str], None],
) -> list[Measured]:
    """Runs a trial of each of `levels` at the same time, each with its share of the users; raw records go below `out`.

    `say` reports progress, since that takes minutes. Raises `StartFailed` if a container does not do its part,
    `NotRemoved`, and the driver's errors.
    """
    shares = _shares(int(found["users"]), [level.settings.users_fraction for level in levels])
    starts = [_start(context, level, place, shares[place], seed, out) for place, level in enumerate(levels)]
    return run_at_once(starts, lambda: _load(starts, say))


def _shares(users: int, fractions: Sequence[float]) -> list[int]:
    """Each level's users: an equal share of all, times its fraction.

    Shares are small, so the smallest is rounded, to one at least, and the others are their multiples of it: half of
    another level's load stays half of it. Raises `UserError` where two fractions come out as the same load.
    """
    smallest = min(fractions)
    fewest = max(1, round(users * smallest / len(fractions)))
    by_fraction = {fraction: round(fewest * fraction / smallest) for fraction in fractions}
    if len(set(by_fraction.values())) < len(by_fraction):
        listed = " and ".join(f"{fraction:g}" for fraction in sorted(by_fraction))
        raise UserError(
            f"of {users} users shared by {len(fractions)} systems, "
            f"the users_fractions {listed} are not different loads",
            "set more users (--set users=...), or measure one after the other: --set side_by_side=false",
        )
    return [by_fraction[fraction] for fraction in fractions]


def _start(context: Context, level: Level[Any], place: int, users: int, seed: int, out: Path) -> Start:
    protocol = context.experiment.protocol
    assert protocol.warm_up_requests is not None and protocol.window_s is not None  # side by side has both
    lasts_s = _warm_up_bound_s(context) + SETTLE_S + protocol.window_s + TAIL_BOUND_S
    # The load is ended from outside, at the latest after this time.
    bounded = protocol.model_copy(update={"warm_up_s": None, "window_s": lasts_s})
    return start_at(context, level, place, {"users": users}, seed, out, bounded)


def _warm_up_bound_s(context: Context) -> float:
    """How long the slowest system's warm-up may take: all share the CPUs."""
    return WARM_UP_REQUEST_BOUND_S * (context.experiment.protocol.warm_up_requests or 0) * len(context.places)


def _load(starts: Sequence[Start], say: Callable[[str], None]) -> list[Load]:
    """Sends load to every system until each is warm and all were measured in one window."""
    say(f"{len(starts)} systems are running side by side, warming up")
    context = starts[0].context
    protocol, clock, service = context.experiment.protocol, starts[0].place.clock, _generator(context)
    wanted, window_s = protocol.warm_up_requests or 0, protocol.window_s or 0.0
    with measuring(starts, service) as measurings:
        _await(starts, lambda start: answered(_requests(start)) >= wanted, _warm_up_bound_s(context), "was not warm")
        warm_ns = max(int(read_requests(_requests(start)).end_ns[wanted - 1]) for start in starts)
        start_ns = warm_ns + round(SETTLE_S * SECOND_NS)
        end_ns = start_ns + round(window_s * SECOND_NS)
        say(f"all are warm, and measured for {minutes(window_s)}")
        clock.sleep(window_s)
        _await(starts, lambda start: newest_end_ns(_requests(start)) > end_ns, TAIL_BOUND_S, "answered nothing more")
    for start in starts:
        start.await_observed(end_ns)
    for start in starts:
        start.place.driver.stop([service])
    return [
        Load.of(
            Loaded(_requests(start), read_requests(_requests(start)).first_start_ns(), start_ns, end_ns), one.parts()
        )
        for start, one in zip(starts, measurings, strict=True)
    ]


def _generator(context: Context) -> str:
    assert context.generator is not None  # side by side needs one that sends until it is stopped
    return context.generator.service


def _requests(start: Start) -> Path:
    return start.out / "requests.csv"


def _await(starts: Sequence[Start], met: Callable[[Start], bool], bound_s: float, missed: str) -> None:
    """Waits until every start meets the condition; raises `StartFailed` for the first that does not, or cannot."""
    generator, clock = _generator(starts[0].context), starts[0].place.clock
    end_s = clock.now_s() + bound_s
    while not wait_until(lambda: all(map(met, starts)), QUERY_ENGINE_EVERY_S, LOOK_EVERY_S, clock):
        late = [start for start in starts if not met(start)]
        for start in starts:
            if not start.place.driver.containers()[generator].running:
                raise start.failed(generator, f"of level {start.level.name} ended before it was stopped")
        if late and clock.now_s() > end_s:
            raise late[0].failed(generator, f"of level {late[0].level.name} {missed} within {bound_s:.0f} s")
