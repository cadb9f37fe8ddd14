"""The trials of one start of the containers, from create to remove. Whatever happens, nothing is left running."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lab.errors import UserError
from lab.load import Loaded, LoadGenerator
from lab.record import HeadPart, TrialPart, TrialRecord, Window, WindowPart
from lab.run.plan import Trial
from lab.run.start import Context, Start
from lab.run.uninterrupted import uninterrupted
from lab.spec import Level


@dataclass(frozen=True)
class Measured:
    """One trial: the folder that its start wrote to, its `requests.csv` if any, and its parts of `trial.json`.

    `found`: what the load's schedule found for its level and block.
    """

    folder: Path
    requests: Path | None
    found: Mapping[str, float]
    parts: Sequence[TrialPart]

    def record(self, trial: Trial, level: Level[Any], attempt: int) -> TrialRecord:
        """Return the trial's record, without a verdict."""
        return TrialRecord.of(
            HeadPart(
                number=trial.number,
                attempt=attempt,
                block=trial.block,
                position=trial.position,
                level=trial.level,
                settings=level.recorded(),
                found=self.found,
            ),
            *self.parts,
        )


@dataclass(frozen=True)
class Load:
    """What a trial's load left, None if there was none, and the trial's own parts of `trial.json`."""

    loaded: Loaded | None
    parts: Sequence[TrialPart]

    @classmethod
    def of(cls, loaded: Loaded, parts: Sequence[TrialPart], apart: bool = False) -> "Load":
        """Return a load with its window (`apart`: as there), which is one of the trial's own parts."""
        window = Window(
            load_start_ns=loaded.load_start_ns,
            start_ns=loaded.window_start_ns,
            end_ns=loaded.window_end_ns,
            apart=apart,
        )
        return cls(loaded, [WindowPart(window=window), *parts])


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
def removed_after(starts: Sequence[Start], measured: Callable[[], Sequence[Measured]]) -> Iterator[None]:
    """Removes the starts after the block, however it ends.

    If the block ended well and removing did not, what was `measured` goes with the error: `NotRemoved` if the engine
    failed, `StartInterrupted` if Ctrl-C came meanwhile.
    """
    complete = False
    try:
        with ExitStack() as stack:
            for start in starts:
                stack.callback(start.remove)
            yield
            complete = True
    except UserError as why:
        if not complete:
            raise
        raise NotRemoved(why, read_whole(measured)) from why
    except KeyboardInterrupt as cut:
        if not complete:
            raise
        raise StartInterrupted(read_whole(measured)) from cut


def read_whole(measured: Callable[[], Sequence[Measured]]) -> list[Measured]:
    """Return what was `measured`; a signal meanwhile raises `StartInterrupted` with it."""
    found: list[Measured] = []
    with uninterrupted(lambda: StartInterrupted(found)):
        found += measured()
    return found


def run_start(
    context: Context, levels: Sequence[Level[Any]], found: Mapping[str, float], seed: int, out: Path
) -> list[Measured]:
    """Runs a trial of each of `levels`, which share a start, leaving raw records in `out`.

    `found`: what the load's schedule found; each level gets its share of the users. Raises `StartFailed` if a container
    does not do its part, `StartInterrupted`, `NotRemoved`, and the driver's errors.
    """
    protocol = context.experiment.protocol
    start = Start(context, context.place, levels[0], share(found, levels[0]), seed, out, context.instruments, protocol)
    loads, interrupted = list[Load](), False

    def measured() -> list[Measured]:
        return [
            replace(measured_of(start, load), found=share(found, level))
            for load, level in zip(loads, levels, strict=False)
        ]

    with removed_after([start], measured):
        start.create()
        start.start()
        with start.phase("load"):
            if start.generator:
                start.generator.begin(start.plan, start.stage)
            try:
                for level in levels:
                    start.found = share(found, level)
                    loads.append(_measure(start, start.generator, level))
            except KeyboardInterrupt:
                if not loads:
                    raise
                interrupted = True
            if start.generator and not interrupted:
                start.generator.end(start.stage)
        start.collect()
    if interrupted:
        raise StartInterrupted(read_whole(measured))
    return read_whole(measured)


def measured_of(start: Start, load: Load, *parts: TrialPart) -> Measured:
    """Return a trial of a start that was collected from."""
    return Measured(
        start.out, load.loaded.requests if load.loaded else None, start.found, [*start.parts(), *load.parts, *parts]
    )


def share(found: Mapping[str, float], level: Level[Any]) -> Mapping[str, float]:
    """Return the level's share of the users that were found, at least one; an open loop has no number of users."""
    users = found.get("users")
    return {**found, "users": max(1, round(users * level.settings.users_fraction))} if users else found


def _measure(start: Start, generator: LoadGenerator | None, level: Level[Any]) -> Load:
    """Sends a trial's load to the system, if there is one; returns what that left."""
    start.deployment.settled(level)
    lead_s = generator.lead_s(start.plan) if generator else 0.0
    if generator and generator.whole:
        # Counters are sampled once more before the load: what came before it is not counted as its own.
        start.await_observed(start.place.driver.time_ns())
    with start.deployment.measuring(level, start.seed, lead_s) as measuring:
        if generator is None:
            return Load(None, measuring.parts())
        loaded = generator.measure(start.plan, start.stage, start.deployment.request(level))
    start.await_observed(loaded.window_end_ns)
    return Load.of(loaded, measuring.parts(), apart=generator.whole)
