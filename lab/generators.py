"""Load generators, seen from the lab: which container, told what. All of them write `requests.csv`.

One class per generator, one row in `GENERATORS`; what runs in its container is in `loadgen/<name>/`.
"""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True)
class LoadPlan:
    """The load of one trial.

    `users` is the closed loop's number of users, who do not think until `warm_up_requests` were answered. The load ends
    `after_warm_up_s` later, and after `bound_s` in any case.
    """

    users: int
    think_time_s: tuple[float, float]
    routes: tuple[str, ...]
    seed: int
    warm_up_requests: int
    after_warm_up_s: float
    bound_s: float


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
            "LOAD_BOUND_S": f"{plan.bound_s:.0f}",
            "LOAD_WARM_UP_REQUESTS": str(plan.warm_up_requests),
            "LOAD_AFTER_WARM_UP_S": f"{plan.after_warm_up_s:g}",
            "LOAD_ROUTES": " ".join(plan.routes),
            "LOAD_THINK_TIME_S": f"{plan.think_time_s[0]} {plan.think_time_s[1]}",
            "SEED": str(plan.seed),
        }


GENERATORS: dict[str, LoadGenerator] = {"locust": Locust()}
