"""The machine's speed in the window, as the spinner measured it."""

from lab.contract import Metric
from lab.record import NotDerivableError, TrialData

CACHE_STEP = "cache_step_ns"
STOOD = "stood_side_by_side_s"
SECOND_NS = 1e9


def _cache_step_ns(data: TrialData) -> float | None:
    """Return the mean time of a step through the second-level cache; None where no spinner ran."""
    if not data.speed:
        return None
    window = data.trial.window_start_ns, data.trial.window_end_ns
    steps = sum(thread.steps.increase(*window) for thread in data.speed)
    if steps == 0:
        raise NotDerivableError("the spinner got no CPU in the window")
    return sum(thread.steps_ns.increase(*window) for thread in data.speed) / steps


def _stood_s(data: TrialData) -> float | None:
    """Return how long a system had run when the window began; None if it did not wait for other systems."""
    if not data.trial.cores_side_by_side:
        return None
    # The observer is started first and samples at once.
    return (data.trial.window_start_ns - int(data.counters.host["cpus"].t_ns[0])) / SECOND_NS


METRICS = (
    Metric(CACHE_STEP, "Step through the CPU's cache, while the services ran", "ns", compute=_cache_step_ns),
    Metric(STOOD, "Time that a system had run before its window, side by side", "s", compute=_stood_s),
)
