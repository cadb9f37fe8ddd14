"""What all ways to run the systems of a block at the same time share: their starts, and the CPU of each."""

from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from lab.analysis.metrics.window import known
from lab.engine import OBSERVER, SPINNER
from lab.record import OthersPart
from lab.run.cost import cpu_counters
from lab.run.measure import Load, Measured, measured_of, read_whole, removed_after
from lab.run.start import Context, Start
from lab.spec import Level, Protocol

SPEED = "speed.jsonl"


def start_at(
    context: Context,
    level: Level[Any],
    place: int,
    found: Mapping[str, float],
    seed: int,
    out: Path,
    protocol: Protocol | None = None,
) -> Start:
    """Return the start of the system in a place, with records below `out`; the first system's has all instruments."""
    instruments = (OBSERVER,) if place else context.instruments
    protocol = protocol or context.experiment.protocol
    return Start(context, context.places[place], level, found, seed, out / str(place), instruments, protocol)


def run_at_once(starts: Sequence[Start], load: Callable[[], list[Load]]) -> list[Measured]:
    """Runs a trial of each start at the same time; `load` sends the load and returns what it left of each.

    Raises `StartFailed` if a container does not do its part, `NotRemoved`, and the driver's errors.
    """
    loads: list[Load] = []
    with removed_after(starts, lambda: _measured(starts, loads)):
        for start in starts:
            start.create()
        # One after the other: each has the CPUs to itself while it starts, and its start-up time is its own.
        for start in starts:
            start.start()
        loads = load()
        # All at the same time: none is measured any more.
        with ThreadPoolExecutor(len(starts)) as pool:
            list(pool.map(Start.collect, starts))
    return read_whole(lambda: _measured(starts, loads))


def seen_ns(out: Path, start_ns: int, end_ns: int, without: Collection[str] = ()) -> float:
    """The CPU time of a system's containers, recorded in `out`; 0 of one that the observer did not see to the end.

    Such a trial is rejected by its own checks, whatever its neighbours' sums say.
    """
    return sum(known(counter.increase, start_ns, end_ns) or 0.0 for counter in cpu_counters(out, without))


def _measured(starts: Sequence[Start], loads: Sequence[Load]) -> list[Measured]:
    """What each left. The cores of all systems, less a trial's own, are what the others used meanwhile."""
    # There is one spinner for all: what it saw is the same for every level, so that it explains no difference.
    (starts[0].out / SPEED).unlink(missing_ok=True)
    cores = [_cores(start, load) for start, load in zip(starts, loads, strict=True)]
    busy = sum(_cores(start, load, [SPINNER]) for start, load in zip(starts, loads, strict=True))
    return [
        measured_of(start, load, OthersPart(cores_side_by_side=sum(cores) - own, cores_at_once=busy))
        for start, load, own in zip(starts, loads, cores, strict=True)
    ]


def _cores(start: Start, load: Load, without: Collection[str] = ()) -> float:
    """The cores that a system's containers used in the window."""
    if load.loaded is None:
        return 0.0
    start_ns, end_ns = load.loaded.window_start_ns, load.loaded.window_end_ns
    return seen_ns(start.out, start_ns, end_ns, without) / (end_ns - start_ns)
