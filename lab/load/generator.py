"""What the lab requires of any load generator."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from lab.contract import Endpoint
from lab.engine import Clock, Driver
from lab.spec import Load
from lab.spec import Protocol as TrialProtocol

# From the last request of a warm-up without thinking to the window: queues empty, and users get out of step.
SETTLE_S = 2.0
# No request of a warm-up takes longer than this on average, a JVM's first ones included.
WARM_UP_REQUEST_BOUND_S = 1.0


@dataclass(frozen=True)
class LoadPlan:
    """The load of one start of the containers: what is requested of whom, how often, and for how long.

    `users` is how many requests may be in flight, 0 for no bound; `seed` that of every draw.
    """

    load: Load
    protocol: TrialProtocol
    endpoint: Endpoint
    users: int
    seed: int


@dataclass(frozen=True)
class Stage:
    """Where a generator works: the engine, the clock, the folder that its container writes to.

    `failed` makes the error that says what a container did, with the end of its log.
    """

    driver: Driver
    clock: Clock
    out: Path
    failed: Callable[[str, str], Exception]

    def await_end(self, service: str, bound_s: float) -> None:
        """Waits until a container ends by itself; raises what `failed` makes where it does not, or with an error."""
        try:
            exit_code = self.driver.wait(service, bound_s)
        except TimeoutError:
            raise self.failed(service, f"had not ended after {bound_s:.0f} s") from None
        if exit_code:
            raise self.failed(service, f"ended with exit code {exit_code}")


@dataclass(frozen=True)
class Loaded:
    """What a trial's load left, and its window in Unix nanoseconds of the containers' clock.

    `requests`: its `requests.csv`; None from a generator that records no requests.
    """

    requests: Path | None
    load_start_ns: int
    window_start_ns: int
    window_end_ns: int


Awaited = Callable[[], Path]
"""Waits for the `requests.csv` of a load that was ordered, and returns it."""


class LoadGenerator(Protocol):
    """A generator in a container of its own. For each start `begin`, then `measure` once per trial, then `end`.

    `measure` and `end` raise what `Stage.failed` makes where the container does not do its part in time. By default its
    warm-up is the beginning of its one load, after which it ends by itself.
    """

    model: type[Load]
    """What an experiment file says of its load."""

    service: str
    """Its Compose service."""

    whole: bool = False
    """Whether a window is a whole load: before it and after it nothing is sent."""

    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        """The variables by which `compose.yaml` configures it."""

    def lead_s(self, plan: LoadPlan) -> float:
        """How long after a call of `measure` the window begins."""
        return plan.protocol.warm_up_s or 0.0

    def begin(self, plan: LoadPlan, stage: Stage) -> None:
        """Starts it and, where that is a load of its own, warms the system up."""
        return

    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        """Sends a trial's load, and returns when that has ended. `request`: what each request carries."""

    def end(self, stage: Stage) -> None:
        """Ends it, where it does not end by itself."""
        return

    def send_on(self, plan: LoadPlan, stage: Stage) -> None:
        """Starts it with its one load, and returns at once."""
        stage.driver.start([self.service])


class TurnsGenerator(LoadGenerator, Protocol):
    """A generator that sends at given times: several can take turns, or share a window. Its methods return at once."""

    def closed(self, plan: LoadPlan, stage: Stage, requests: int) -> Awaited:
        """Sends so many requests, each as soon as an earlier one was answered."""

    def turns(self, plan: LoadPlan, stage: Stage, starts_ns: Sequence[int], lasts_s: float, per_s: float) -> Awaited:
        """Sends the schedule's slices at these Unix times, each at `per_s`; the last ends in `lasts_s`."""

    def steady(self, plan: LoadPlan, stage: Stage, start_ns: int, lasts_s: float) -> Awaited:
        """Sends at the schedule's rate from a Unix time on, for `lasts_s` or a little longer."""
