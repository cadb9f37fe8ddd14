"""What a request of the complete set of systems costs."""

from collections.abc import Sequence

from lab.engine import SPINNER
from lab.errors import UserError
from lab.record import WindowPart, read_requests
from lab.run.at_once import used_ns
from lab.run.measure import Measured


def request_of(measured: Sequence[Measured]) -> tuple[float, float]:
    """The CPU of all containers for a request, and its latency, both in ms: means over the requests of all systems."""
    cpu_ns, latency_ns, served, ended = 0.0, 0, 0.0, 0
    for one in measured:
        (window,) = [part.window for part in one.parts if isinstance(part, WindowPart)]
        assert window is not None and one.requests is not None  # a load that can be calibrated has both
        requests = read_requests(one.requests)
        inside = requests.ended_in(window.start_ns, window.end_ns)
        cpu_ns += used_ns(one.folder, window.start_ns, window.end_ns, without=[SPINNER])
        latency_ns += int((inside.end_ns - inside.start_ns).sum())
        served += requests.served_in(window.start_ns, window.end_ns)
        ended += len(inside)
    if not ended:
        raise UserError("no request ended while the load was calibrated", "choose the load: --set users=<number>")
    return cpu_ns / 1e6 / served, latency_ns / 1e6 / ended
