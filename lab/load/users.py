"""A closed loop of users who think, as in the thesis: by Locust, or at less CPU by `visitors` (loadgen/users)."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

from typing_extensions import override

from lab.load.generator import SETTLE_S, WARM_UP_REQUEST_BOUND_S, Loaded, LoadGenerator, LoadPlan, Stage
from lab.load.schedule import ClosedLoop
from lab.record import SECOND_NS, Requests, read_requests
from lab.spec import Capability, EntryProtocol, Load, Protocol

LOAD_MARGIN_S = 60.0
# The window is counted from the first request, up to 0.2 s after the generator's start, and the generator has to be
# there, and sampled once, which may take a second, after the window's end.
LOAD_TAIL_S = 2


class UsersLoad(Load):
    """A closed loop of users who think between their requests, over HTTP."""

    generator: Literal["locust", "visitors"]
    schedule: ClosedLoop

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"warms-up", "open-ended", "calibratable"})
    protocol: ClassVar[EntryProtocol | None] = "http"


class Users(LoadGenerator):
    """The `LoadGenerator` for users who think, whichever program they are. It loads a start once, and then ends."""

    model = UsersLoad

    def __init__(self, service: str) -> None:
        self.service = service

    @override
    def environment(self, plan: LoadPlan) -> Mapping[str, str]:
        assert isinstance(plan.load, UsersLoad)
        shortest_s, longest_s = plan.load.schedule.think_time_s
        return {
            "LOAD_USERS": str(plan.users),
            "LOAD_BOUND_S": f"{_bound_s(plan.protocol):.0f}",
            "LOAD_WARM_UP_REQUESTS": str(plan.protocol.warm_up_requests or 0),
            "LOAD_AFTER_WARM_UP_S": f"{_before_window_s(plan.protocol) + _window_s(plan.protocol) + LOAD_TAIL_S:g}",
            "LOAD_ROUTES": " ".join(plan.endpoint.routes),
            "LOAD_THINK_TIME_S": f"{shortest_s} {longest_s}",
            "SEED": str(plan.seed),
        }

    @override
    def measure(self, plan: LoadPlan, stage: Stage, request: Mapping[str, object]) -> Loaded:
        stage.driver.start([self.service])
        stage.await_end(self.service, _bound_s(plan.protocol) + LOAD_MARGIN_S)
        path = stage.out / "requests.csv"
        return _loaded(path, read_requests(path), plan.protocol)


def _loaded(path: Path, requests: Requests, protocol: Protocol) -> Loaded:
    """The window is as long after the warm-up, or the first request, as the protocol says."""
    start_ns = warm_ns = requests.first_start_ns()
    if protocol.warm_up_requests is not None and len(requests):
        # In order of ending. A load that ended before its warm-up did has a window without requests, and is rejected.
        warm_ns = int(requests.end_ns[: protocol.warm_up_requests][-1])
    window_start_ns = warm_ns + round(_before_window_s(protocol) * SECOND_NS)
    return Loaded(path, start_ns, window_start_ns, window_start_ns + round(_window_s(protocol) * SECOND_NS))


def _before_window_s(protocol: Protocol) -> float:
    """How long before the window the load is as in it: from its start, or from the last request of the warm-up."""
    return SETTLE_S if protocol.warm_up_s is None else protocol.warm_up_s


def _bound_s(protocol: Protocol) -> float:
    """How long a load may last, after which the generator ends it."""
    warm_up_s = WARM_UP_REQUEST_BOUND_S * (protocol.warm_up_requests or 0)
    return warm_up_s + _before_window_s(protocol) + _window_s(protocol) + 2 * LOAD_TAIL_S


def _window_s(protocol: Protocol) -> float:
    assert protocol.window_s is not None  # an experiment with users has one
    return protocol.window_s
