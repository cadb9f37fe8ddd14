"""Generators whose window begins a known time after their load, and lasts as long as the protocol says."""

from abc import abstractmethod
from collections.abc import Mapping

from typing_extensions import override

from lab.load.by_files import ByFiles
from lab.load.generator import Loaded, LoadPlan, Stage
from lab.record import SECOND_NS, read_requests

# The load begins this long before the window: its connections are then open, its queues as in the window.
LEAD_S = 1.0
# It goes on this long after the window, so that requests of the window's end do not meet a system that falls idle.
TAIL_S = 1.0
# The generators give a request up after 20 s.
SLOWEST_REQUEST_S = 20.0


class TimedByFiles(ByFiles):
    """A `ByFiles` that sends for a given time."""

    @abstractmethod
    def warm_up_bound_s(self, plan: LoadPlan) -> float:
        """Return how long the warm-up may last, without its last requests."""

    @override
    def lead_s(self, plan: LoadPlan) -> float:
        return LEAD_S

    @override
    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        window_s = plan.protocol.window_s
        assert window_s is not None  # an experiment whose load is not counted has one
        path = self.send(plan, stage, {"duration_s": LEAD_S + window_s + TAIL_S, **request})
        start_ns = read_requests(path).first_start_ns()
        window_start_ns = start_ns + round(LEAD_S * SECOND_NS)
        return Loaded(
            self.with_warm_up(stage, path), start_ns, window_start_ns, window_start_ns + round(window_s * SECOND_NS)
        )

    @override
    def bound_s(self, plan: LoadPlan) -> float:
        lasts_s = LEAD_S + (plan.protocol.window_s or 0.0) + TAIL_S
        return max(self.warm_up_bound_s(plan), lasts_s) + SLOWEST_REQUEST_S
