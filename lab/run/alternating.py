"""All systems of a set run at once and take turns: load goes to one of them at a time, in short slices.

The others are idle meanwhile, so a system's CPU per request is that of a system alone; and what slows the machine for
longer than a round slows all systems alike. In interleaved slices, what slows it for longer than a request does so. The
set is the unit of statistics: a system's value is its CPU over all rounds divided by its requests.
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from lab.engine import SPINNER
from lab.load import Slices
from lab.record import SECOND_NS, SlicesPart, TrialPart
from lab.run.at_once import run_at_once, seen_ns, start_at
from lab.run.measure import Load, Measured
from lab.run.ordered import joined, measuring
from lab.run.progress import minutes
from lab.run.start import Context, Start
from lab.run.turns import DRAIN_S, LEAD_S, Timeline, orders
from lab.run.warming import generator_of, sent_in_turns, timeline, warm
from lab.spec import Level


def run_alternating(
    context: Context,
    levels: Sequence[Level[Any]],
    found: Mapping[str, float],
    seed: int,
    out: Path,
    say: Callable[[str], None],
) -> list[Measured]:
    """Runs a trial of each of `levels` in one set; raw records go below `out`.

    `found`: the rate and the number of rounds of the run's valid sets; empty before the first, which finds them.
    `say` reports progress. Raises `StartFailed` if a container does not do its part, `NotRemoved`, and the
    driver's errors.
    """
    starts = [start_at(context, level, place, {}, seed, out) for place, level in enumerate(levels)]
    return run_at_once(starts, lambda: _load(starts, found, seed, say))


def _load(starts: Sequence[Start], found: Mapping[str, float], seed: int, say: Callable[[str], None]) -> list[Load]:
    """Warms all systems up, then sends the slices; returns what each system's load left."""
    first = starts[0]
    driver, schedule = first.place.driver, cast(Slices, first.context.experiment.load.schedule)
    generator = generator_of(first.context)
    with measuring(starts, generator.service) as measurings:
        ready = warm(starts, found, seed, say)
        for start in starts:
            start.found = ready.found
        first.place.clock.sleep(DRAIN_S)
        rounds = list(orders(len(starts), int(ready.found["rounds"]), seed))
        now_ns = driver.time_ns()
        turns = timeline(schedule, ready.found, rounds, now_ns + round((LEAD_S + DRAIN_S) * SECOND_NS))
        lasts = minutes((turns.window.end_ns - now_ns) / SECOND_NS)
        say(f"{len(rounds)} rounds at {ready.found['requests_per_s']:.3g} requests/s, {lasts}")
        sent = sent_in_turns(starts, turns, turns.window.end_ns, ready.found)
        for start in starts:
            start.await_observed(turns.window.end_ns)
            generator.end(start.stage)
    cores = _cores(starts, turns)
    return [
        _load_of(
            start,
            [files[place] for files in (*ready.files, sent)],
            turns,
            place,
            cores,
            [*measurings[place].parts(), *ready.parts(place)],
        )
        for place, start in enumerate(starts)
    ]


def _load_of(
    start: Start,
    files: Sequence[Path],
    timeline: Timeline,
    place: int,
    cores: float,
    parts: Sequence[TrialPart],
) -> Load:
    """One system's trial."""
    slices = SlicesPart(slices=timeline.turns(place), idle=[timeline.idle], alternating_cores=cores)
    return Load.of(joined(start, files, timeline.window), [slices, *parts])


def _cores(starts: Sequence[Start], timeline: Timeline) -> float:
    """The cores that all systems used per time with load, without the spinner: that is idle time.

    What is used in the gaps between slices is work of the slices.
    """
    used = sum(seen_ns(start.out, timeline.first_ns, timeline.last_ns, without=[SPINNER]) for start in starts)
    return used / timeline.loaded_ns
