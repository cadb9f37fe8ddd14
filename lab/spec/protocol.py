"""How trials are run, and how many: `protocol` and `observer` in an experiment file."""

from typing import Annotated

from pydantic import Field

from lab.spec.level import Rate
from lab.spec.model import Shape

FactorName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]

# What one of a JVM's first requests took when the lab was built, on two cores.
FIRST_GUESS_REQUEST_S = 0.08
# The same side by side, for each system: it has few users, who mostly wait.
FIRST_GUESS_REQUEST_SIDE_BY_SIDE_S = 0.15


class Protocol(Shape):
    """How a trial is run, and how many there are."""

    warm_up_s: float | None = Field(
        default=None, ge=0, le=3600, description="time under load before the window; or else warm_up_requests"
    )
    warm_up_requests: int | None = Field(
        default=None,
        ge=1,
        le=1_000_000,
        description="requests before the window, without think time: a JVM compiles by how often code ran",
    )
    window_s: float | None = Field(
        default=None, ge=2, le=3600, description="time that is measured; a counted load has the time of its requests"
    )
    without_restart: list[FactorName] = Field(
        default_factory=list, description="factors whose levels share one start of the containers, in random order"
    )
    repetitions: int = Field(ge=1, le=1000, description="blocks; each runs every level once, in a seeded random order")
    retries: int = Field(default=2, ge=0, le=10, description="further attempts for a rejected trial")
    half_width: float | None = Field(
        default=None,
        gt=0,
        lt=1,
        description="ends the run after the block in which every level's headline ratio is this precise (0.02: 2 %)",
    )
    budget_min: float | None = Field(
        default=None, gt=0, le=10_000, description="minutes; no trial starts that would probably end later"
    )
    keep_cpus_awake: bool = Field(
        default=False,
        description="idle CPUs spin at the lowest priority, which keeps a virtual machine's host from removing them",
    )
    side_by_side: bool = Field(
        default=False,
        description="all levels of a block run at the same time: what slows the machine slows all of them",
    )
    seed: int = Field(default=1, ge=0, le=2**32 - 1, description="of the order of levels and of every draw in a trial")

    @property
    def expected_warm_up_s(self) -> float:
        """How long the warm-up will probably be, in seconds."""
        request_s = FIRST_GUESS_REQUEST_SIDE_BY_SIDE_S if self.side_by_side else FIRST_GUESS_REQUEST_S
        return self.warm_up_s or request_s * (self.warm_up_requests or 0)


class Observer(Shape):
    """How the counters are read."""

    rate_hz: Rate = Field(
        default=1, description="samples per second of CPU, memory and network; below 1 only side by side"
    )
