"""How fast the machine was in the window, as the spinner saw it."""

from lab.metrics.metric import Metric
from lab.records import TrialData
from lab.series import NotDerivableError

CACHE_STEP = "cache_step_ns"


def _cache_step_ns(data: TrialData) -> float | None:
    """Return the mean time of a step through the second-level cache; None where no spinner ran."""
    if not data.speed:
        return None
    window = data.trial.window_start_ns, data.trial.window_end_ns
    steps = sum(thread.steps.increase(*window) for thread in data.speed)
    if steps == 0:
        raise NotDerivableError("the spinner got no CPU in the window")
    return sum(thread.steps_ns.increase(*window) for thread in data.speed) / steps


METRICS = (Metric(CACHE_STEP, "Step through the CPU's cache, beside the services", "ns", compute=_cache_step_ns),)
