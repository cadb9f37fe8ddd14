"""All systems of a set run at once and take turns: load goes to one of them at a time, in short slices.

The others are idle meanwhile, so a system's CPU per request is that of a system alone; and what slows the machine for
longer than a round slows all systems alike. The set is the unit of statistics: a system's value is its CPU over all
rounds divided by its requests.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, cast

from lab.engine import SPINNER
from lab.load.generator import SECOND_NS, TurnsGenerator
from lab.load.schedule import Slices
from lab.record import SlicesPart, TrialPart, read_requests
from lab.run.at_once import run_at_once, start_at, used_ns
from lab.run.measure import Load, Measured, window
from lab.run.ordered import joined, received
from lab.run.progress import minutes
from lab.run.settling import Settling, settle
from lab.run.start import Context, Start
from lab.run.turns import DRAIN_S, LEAD_S, Timeline, in_squares, orders, whole_squares
from lab.spec import Level

# Of each system, alone, to know what its requests cost.
COST_REQUESTS = 30


def run_alternating(
    context: Context,
    levels: Sequence[Level[Any]],
    found: Mapping[str, float],
    seed: int,
    out: Path,
    say: Callable[[str], None],
) -> list[Measured]:
    """Runs a trial of each of `levels` in one set; raw records go below `out`.

    `found`: the rate and the number of rounds of the run's earlier sets; empty in the first, which finds them.
    `say` reports progress. Raises `StartFailed` if a container does not do its part, `NotRemoved`, and the
    driver's errors.
    """
    starts = [start_at(context, level, place, {}, seed, out) for place, level in enumerate(levels)]
    return run_at_once(starts, lambda: _load(starts, found, seed, say))


def _load(starts: Sequence[Start], found: Mapping[str, float], seed: int, say: Callable[[str], None]) -> list[Load]:
    """Warms all systems up, then sends the slices; returns what each system's load left."""
    first = starts[0]
    context, clock = first.context, first.place.clock
    generator, schedule = _generator(context), cast(Slices, context.experiment.load.schedule)
    with ExitStack() as stack:
        measurings = [stack.enter_context(start.deployment.measuring(start.level, start.seed, 0.0)) for start in starts]
        for start in starts:
            start.place.driver.start([generator.service])
        before, settling = _warm(starts, say)
        if not found:
            say(f"{len(starts)} systems are warm; measuring what a request of each costs")
            found, sent = _calibrated(starts, schedule)
            before.append(sent)
        for start in starts:
            start.found = found
        clock.sleep(DRAIN_S)
        timeline = _timeline(found, schedule, len(starts), seed, first.place.driver.time_ns())
        lasts_s = (timeline.window.end_ns - first.place.driver.time_ns()) / SECOND_NS
        say(f"{len(timeline.rounds)} rounds at {found['requests_per_s']:.3g} requests/s, {minutes(lasts_s)}")
        sent = received(
            generator.turns(start.plan, start.stage, timeline.starts_ns(place), lasts_s, found["requests_per_s"])
            for place, start in enumerate(starts)
        )
        for start in starts:
            start.await_observed(timeline.window.end_ns)
            generator.end(start.stage)
    cores = _cores(starts, timeline)
    return [
        _load_of(
            start,
            [files[place] for files in (*before, sent)],
            timeline,
            place,
            cores,
            [*measurings[place].parts(), *([settling.part(place)] if settling else [])],
        )
        for place, start in enumerate(starts)
    ]


def _generator(context: Context) -> TurnsGenerator:
    # Only a load with slices comes here, and its generator can send them.
    return cast(TurnsGenerator, context.generator)


def _warm(starts: Sequence[Start], say: Callable[[str], None]) -> tuple[list[list[Path]], Settling | None]:
    """Sends the warm-up to all systems; returns its records, and how they settled if they had to."""
    context = starts[0].context
    generator, protocol = _generator(context), context.experiment.protocol
    schedule, requests = cast(Slices, context.experiment.load.schedule), protocol.warm_up_requests or 0

    def send(requests: int) -> list[Path]:
        return received(generator.closed(start.plan, start.stage, requests) for start in starts)

    if schedule.warm_up_in_turns:
        turns = math.ceil(requests / schedule.requests)
        sent = [_one_by_one(starts, schedule.requests) for _ in range(turns)]
    else:
        sent = [send(requests)]
    if not protocol.until_settled:
        return sent, None
    settling, blocks = settle(starts, send, starts[0].place.clock, say)
    return [*sent, *blocks], settling


def _one_by_one(starts: Sequence[Start], requests: int) -> list[Path]:
    """Sends so many requests to each system alone."""
    generator = _generator(starts[0].context)
    return [generator.closed(start.plan, start.stage, requests)() for start in starts]


def _calibrated(starts: Sequence[Start], schedule: Slices) -> tuple[Mapping[str, float], list[Path]]:
    """What the slices need to know, from some requests to each system alone; and the records of these."""
    # Samples without load, so that a cost holds nothing of the warm-up.
    starts[0].place.clock.sleep(3 / starts[0].context.experiment.observer.rate_hz)
    sent = _one_by_one(starts, COST_REQUESTS)
    per_s = schedule.requests_per_s
    if isinstance(per_s, str):
        dearest_ms = max(_cost_ms(start, path) for start, path in zip(starts, sent, strict=True))
        per_s = schedule.busy_fraction * len(starts[0].place.cpus.services) * 1000 / dearest_ms
    return {"requests_per_s": per_s, "rounds": _rounds(schedule, per_s, len(starts))}, sent


def _rounds(schedule: Slices, per_s: float, systems: int) -> int:
    """How many rounds a set has."""
    if schedule.rounds:
        return in_squares(systems, schedule.rounds)
    turn_s = schedule.requests / per_s + schedule.gap_s
    return whole_squares(systems, turn_s * systems, schedule.measure_s)


def _cost_ms(start: Start, sent: Path) -> float:
    """The CPU of all containers of a system, its instruments included, per request that was sent."""
    requests = read_requests(sent)
    # Nothing else is sent to the system: with a sample before and one after it, all of the work is counted.
    sample_ns = round(SECOND_NS / start.context.experiment.observer.rate_hz)
    start_ns, end_ns = requests.first_start_ns() - sample_ns, requests.last_end_ns() + sample_ns
    start.await_observed(end_ns)
    return used_ns(start.out, start_ns, end_ns, without=[SPINNER]) / 1e6 / len(requests)


def _timeline(found: Mapping[str, float], schedule: Slices, systems: int, seed: int, now_ns: int) -> Timeline:
    """The slices of a set that begins now, with some idle time before the first."""
    return Timeline(
        rounds=list(orders(systems, int(found["rounds"]), seed)),
        first_ns=now_ns + round((LEAD_S + DRAIN_S) * SECOND_NS),
        slice_ns=round(schedule.requests / found["requests_per_s"] * SECOND_NS),
        gap_ns=round(schedule.gap_s * SECOND_NS),
    )


def _load_of(
    start: Start,
    files: Sequence[Path],
    timeline: Timeline,
    place: int,
    cores: float,
    parts: Sequence[TrialPart],
) -> Load:
    """One system's trial."""
    loaded = joined(start, files, timeline.window)
    slices = SlicesPart(slices=timeline.turns(place), idle=[timeline.idle], alternating_cores=cores)
    return Load(loaded, [window(loaded), slices, *parts])


def _cores(starts: Sequence[Start], timeline: Timeline) -> float:
    """The cores that all systems used while there was load, without the spinner: that is idle time."""
    start_ns, end_ns = timeline.first_ns, timeline.last_ns
    return sum(used_ns(start.out, start_ns, end_ns, without=[SPINNER]) for start in starts) / (end_ns - start_ns)
