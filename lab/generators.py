"""Load generators, seen from the lab: which container, told what. All of them write `requests.csv`.

One class per generator, one row in `GENERATORS`; what runs in its container is in `loadgen/<name>/`.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class LoadPlan:
    """The load of one trial. `users` is the closed loop's number of users, who do not think for `saturate_s`."""

    users: int
    think_time_s: tuple[float, float]
    duration_s: float
    routes: tuple[str, ...]
    seed: int
    saturate_s: float


class LoadGenerator(Protocol):
    """A generator that runs in its own container, starts at once when started, and ends by itself."""

    service: str
    """Its Compose service."""

    def environment(self, plan: LoadPlan) -> dict[str, str]:
        """The variables by which `compose.yaml` tells it what to do."""


class Locust:
    """The thesis's generator: a closed loop of users (loadgen/locust)."""

    service = "locust"

    def environment(self, plan: LoadPlan) -> dict[str, str]:
        """See `LoadGenerator.environment`."""
        return {
            "LOAD_USERS": str(plan.users),
            "LOAD_DURATION_S": f"{plan.duration_s:.0f}",
            "LOAD_ROUTES": " ".join(plan.routes),
            "LOAD_THINK_TIME_S": f"{plan.think_time_s[0]} {plan.think_time_s[1]}",
            "LOAD_SATURATE_S": f"{plan.saturate_s:g}",
            "SEED": str(plan.seed),
        }


GENERATORS: dict[str, LoadGenerator] = {"locust": Locust()}
