"""What happens to a set of systems before its measured turns: warm-up, calibration, settling; and sending turns."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from lab.load import Slices, TurnsGenerator
from lab.record import SECOND_NS, TrialPart, read_requests
from lab.run.cost import calibration_ns
from lab.run.ordered import received
from lab.run.settling import Settling, settle
from lab.run.start import Context, Start
from lab.run.turns import ORDERED_AHEAD_S, Timeline, in_squares, orders, whole_squares

LONGEST_S = 20 * 60.0
# Of each system, to know what its requests cost; or two slices, where these have more. In a shorter time, what slows
# the machine for a moment would decide.
COST_REQUESTS = 30


@dataclass(frozen=True)
class Warm:
    """A set that is ready to be measured: what its slices need to know, and the records of all that was sent.

    `files`: by load, a record of each system. `settling`: how it settled, None if it did not have to.
    """

    found: Mapping[str, float]
    files: Sequence[Sequence[Path]]
    settling: Settling | None

    def parts(self, system: int) -> list[TrialPart]:
        """What `trial.json` says of it."""
        return [self.settling.part(system)] if self.settling else []


def generator_of(context: Context) -> TurnsGenerator:
    """Return the generator of a load with slices, which can send them."""
    return cast(TurnsGenerator, context.generator)


def warm(starts: Sequence[Start], found: Mapping[str, float], seed: int, say: Callable[[str], None]) -> Warm:
    """Warms a set up and, where the protocol says so, waits until it has settled.

    `found`: what an earlier set found; empty until one was valid.
    """
    context, clock = starts[0].context, starts[0].place.clock
    protocol, schedule = context.experiment.protocol, cast(Slices, context.experiment.load.schedule)
    until_s = clock.now_s() + LONGEST_S
    files = _warmed_up(starts, schedule, protocol.warm_up_requests or 0)
    if not found:
        say(f"{len(starts)} systems are warm; measuring what a request of each costs")
        found, sent = _calibrated(starts, schedule)
        files.append(sent)
    if not protocol.until_settled:
        return Warm(found, files, None)
    settling, blocks = settle(starts, lambda requests: _turns(starts, schedule, found, requests, seed), until_s, say)
    return Warm(found, [*files, *blocks], settling)


def timeline(schedule: Slices, found: Mapping[str, float], rounds: Sequence[Sequence[int]], first_ns: int) -> Timeline:
    """Return the slices of these rounds, of which the first begins at `first_ns`."""
    between_ns = SECOND_NS / found["requests_per_s"]
    slice_ns, gap_ns = round(schedule.requests * between_ns), round(schedule.gap_s * SECOND_NS)
    apart_ns = round(between_ns / len(rounds[0])) if schedule.interleaved else slice_ns + gap_ns
    return Timeline(rounds, first_ns, slice_ns, gap_ns, apart_ns)


def sent_in_turns(starts: Sequence[Start], turns: Timeline, end_ns: int, found: Mapping[str, float]) -> list[Path]:
    """Sends the slices, which end before `end_ns`; returns a record of each system."""
    lasts_s = (end_ns - starts[0].place.driver.time_ns()) / SECOND_NS
    generator = generator_of(starts[0].context)
    return received(
        generator.turns(start.plan, start.stage, turns.starts_ns(place), lasts_s, found["requests_per_s"])
        for place, start in enumerate(starts)
    )


def _warmed_up(starts: Sequence[Start], schedule: Slices, requests: int) -> list[list[Path]]:
    if schedule.warm_up_in_turns:
        return [_one_by_one(starts, schedule.requests) for _ in range(math.ceil(requests / schedule.requests))]
    return [_at_once(starts, requests)]


def _at_once(starts: Sequence[Start], requests: int) -> list[Path]:
    """Sends so many requests to each system at the same time."""
    generator = generator_of(starts[0].context)
    return received(generator.closed(start.plan, start.stage, requests) for start in starts)


def _turns(
    starts: Sequence[Start], schedule: Slices, found: Mapping[str, float], requests: int, seed: int
) -> list[Path]:
    """Sends so many requests to each system in turns."""
    rounds = list(orders(len(starts), math.ceil(requests / schedule.requests), seed))
    turns = timeline(schedule, found, rounds, starts[0].place.driver.time_ns() + round(ORDERED_AHEAD_S * SECOND_NS))
    return sent_in_turns(starts, turns, turns.last_ns, found)


def _one_by_one(starts: Sequence[Start], requests: int) -> list[Path]:
    """Sends so many requests to each system alone."""
    generator = generator_of(starts[0].context)
    return [generator.closed(start.plan, start.stage, requests)() for start in starts]


def _calibrated(starts: Sequence[Start], schedule: Slices) -> tuple[Mapping[str, float], list[Path]]:
    """What the slices need to know, from some requests to each system; and the records of these.

    Each system is alone, as in its slices. If these are interleaved, all are at work: they slow one another.
    """
    # Samples without load, so that a cost holds nothing of the warm-up.
    starts[0].place.clock.sleep(3 / starts[0].context.experiment.observer.rate_hz)
    sent = (_at_once if schedule.interleaved else _one_by_one)(starts, max(COST_REQUESTS, 2 * schedule.requests))
    per_s = schedule.requests_per_s
    if isinstance(per_s, str):
        costs_ms = [_cost_ms(start, path) for start, path in zip(starts, sent, strict=True)]
        at_once_ms = sum(costs_ms) if schedule.interleaved else max(costs_ms)
        per_s = schedule.busy_fraction * len(starts[0].place.cpus.services) * 1000 / at_once_ms
    return {"requests_per_s": per_s, "rounds": _rounds(schedule, per_s, len(starts))}, sent


def _rounds(schedule: Slices, per_s: float, systems: int) -> int:
    """How many rounds a set has."""
    if schedule.rounds:
        return in_squares(systems, schedule.rounds)
    one = timeline(schedule, {"requests_per_s": per_s}, [range(systems)], first_ns=0)
    return whole_squares(systems, one.last_ns / SECOND_NS, schedule.measure_s)


def _cost_ms(start: Start, sent: Path) -> float:
    """The CPU of all containers of a system, its instruments included, in ms per request that was sent.

    Raises `UserError` if the observer did not see all of it.
    """
    requests = read_requests(sent)
    # Nothing else is sent to the system: with a sample before and one after it, all of the work is counted.
    sample_ns = round(SECOND_NS / start.context.experiment.observer.rate_hz)
    start_ns, end_ns = requests.first_start_ns() - sample_ns, requests.last_end_ns() + sample_ns
    # A tick samples one container after the other, and only the last one's time is waited for: hence a tick more.
    start.await_observed(end_ns + sample_ns)
    return calibration_ns(start.out, start_ns, end_ns) / 1e6 / len(requests)
