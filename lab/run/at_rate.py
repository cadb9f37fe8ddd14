"""Side by side in an open loop: all systems get requests at one rate in the same window, however fast they answer."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from lab.load import LoadPlan, OpenLoop, TurnsGenerator
from lab.record import SECOND_NS, Window
from lab.run.at_once import run_at_once, start_at
from lab.run.measure import Load, Measured
from lab.run.ordered import joined, measuring, received
from lab.run.progress import minutes
from lab.run.start import Context, Start
from lab.run.turns import DRAIN_S, ORDERED_AHEAD_S
from lab.spec import Level

# After the window, so that requests of its end do not meet systems that fall idle.
TAIL_S = 1.0
SEEDS = 2**32


def run_at_rate(
    context: Context, levels: Sequence[Level[Any]], seed: int, out: Path, say: Callable[[str], None]
) -> list[Measured]:
    """Runs a trial of each of `levels` at the same time, each at the schedule's rate; raw records go below `out`.

    `say` reports progress. Raises `StartFailed` if a container does not do its part, `NotRemoved`, and the driver's
    errors.
    """
    starts = [start_at(context, level, place, {}, seed, out) for place, level in enumerate(levels)]
    return run_at_once(starts, lambda: _load(starts, say))


def _load(starts: Sequence[Start], say: Callable[[str], None]) -> list[Load]:
    """Warms all systems up, then sends the requests; returns what each system's load left."""
    context, protocol = starts[0].context, starts[0].protocol
    # Only a load in an open loop comes here.
    generator, schedule = cast(TurnsGenerator, context.generator), cast(OpenLoop, context.experiment.load.schedule)
    with measuring(starts, generator.service) as measurings:
        say(f"{len(starts)} systems are running side by side, warming up")
        requests = protocol.warm_up_requests or 0
        before = received(generator.closed(start.plan, start.stage, requests) for start in starts)
        measured = _window(starts[0].place.driver.time_ns(), protocol.window_s or 0.0)
        say(f"all are warm, and measured for {minutes(protocol.window_s or 0.0)}")
        between_ns = SECOND_NS / schedule.requests_per_s / len(starts)
        lasts_s = (measured.end_ns - measured.load_start_ns) / SECOND_NS + TAIL_S
        sent = received(
            # Shifted against each other: otherwise arrivals at equal distances would meet in all systems at once.
            generator.steady(
                _plan(start, place), start.stage, measured.load_start_ns + round(place * between_ns), lasts_s
            )
            for place, start in enumerate(starts)
        )
        for start in starts:
            start.await_observed(measured.end_ns)
            generator.end(start.stage)
    return [
        Load.of(joined(start, files, measured), one.parts())
        for start, files, one in zip(starts, zip(before, sent, strict=True), measurings, strict=True)
    ]


def _window(now_ns: int, window_s: float) -> Window:
    """The window of a load that begins soon: when exporters have sent what they held of the warm-up."""
    first_ns = now_ns + round(ORDERED_AHEAD_S * SECOND_NS)
    start_ns = first_ns + round(DRAIN_S * SECOND_NS)
    return Window(load_start_ns=first_ns, start_ns=start_ns, end_ns=start_ns + round(window_s * SECOND_NS))


def _plan(start: Start, place: int) -> LoadPlan:
    """A system's load. Its draws are its own: Poisson arrivals would otherwise come in all systems at once."""
    return replace(start.plan, seed=(start.seed + place) % SEEDS)
