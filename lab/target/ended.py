"""What is measured ended under a ramp. There, that is what the ramp looks for. Under another load it rejects. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from lab.analysis.metrics.window import over
from lab.contract import Check
from lab.record import Series, TrialData


@dataclass(frozen=True)
class End:
    """The containers that ended. The first one ran on after `seen_ns`, and no longer did at `gone_ns` (Unix ns)."""

    names: frozenset[str]
    seen_ns: int
    gone_ns: int


def is_ramp(data: TrialData) -> bool:
    """Return whether the load was a ramp: only for these, the generator says how many workers were to start."""
    return data.has("results") and "workers_planned_per_s" in data.results.values


def under_ramp(data: TrialData) -> End | None:
    """Return what ended in the window of a ramp; None if nothing did, or the load was another one."""
    if not is_ramp(data):
        return None
    window = range(data.trial.window_start_ns, data.trial.window_end_ns)
    of_measured = [event for event in data.counters.events if event.name in data.trial.measured()]
    gone = [event for event in of_measured if event.event == "gone" and event.t_ns in window]
    if not gone:
        return None
    names = frozenset(event.name for event in gone)
    seen_ns = min(_ran_after_ns(data.counters.containers[name]["cpu_usage_ns"]) for name in names)
    # Of one that ended before the window, nothing was measured.
    return End(names, seen_ns, min(event.t_ns for event in gone)) if seen_ns in window[1:] else None


def until_ended(check: Check) -> Check:
    """Return a check that sees a ramp only as far as what is measured ran."""

    def checked(data: TrialData) -> Iterator[str]:
        end = under_ramp(data)
        return check(_while_running(data, end) if end else data)

    return checked


def _ran_after_ns(cpu_ns: Series) -> int:
    """Return the last reading after which a container used CPU time.

    The readings after it prove nothing: a control group can be read for a while after its processes were killed.
    """
    (grew,) = np.nonzero(np.diff(cpu_ns.values) > 0)
    return int(cpu_ns.t_ns[grew[-1] if len(grew) else 0])


def _while_running(data: TrialData, end: End) -> TrialData:
    """Return the trial as it was before the end: with a shorter window, and without what the engine says of the end."""
    ran = {
        name: one.model_copy(update={"exit_code": 0, "oom_killed": False}) if name in end.names else one
        for name, one in data.trial.containers.items()
    }
    before = over(data, data.trial.window_start_ns, end.seen_ns)
    return replace(before, trial=before.trial.model_copy(update={"containers": ran}))
