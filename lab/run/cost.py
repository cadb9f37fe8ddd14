"""What the containers of a system use, and what a request of the complete set of systems costs."""

from collections.abc import Collection, Sequence
from pathlib import Path

from lab.engine import SPINNER
from lab.errors import UserError
from lab.record import NotDerivableError, Series, Window, WindowPart, read_counters, read_requests
from lab.run.measure import Measured


def cpu_counters(out: Path, without: Collection[str] = ()) -> list[Series]:
    """The CPU time of each of a system's containers, in nanoseconds, recorded in `out`."""
    containers = read_counters(out / "counters.jsonl").containers
    return [fields["cpu_usage_ns"] for name, fields in containers.items() if name not in without]


def calibration_ns(out: Path, start_ns: int, end_ns: int) -> float:
    """The CPU time of a system's containers while its load was calibrated, without the spinner's: that is idle time.

    No check judges a calibration, and all later trials depend on it. So this raises `UserError` if the observer did
    not see a container from `start_ns` to `end_ns`.
    """
    try:
        return sum(counter.increase(start_ns, end_ns) for counter in cpu_counters(out, without=[SPINNER]))
    except NotDerivableError as error:
        raise UserError(
            "the observer did not see the calibration to its end",
            "something else may use the machine: see `lab doctor`, then run it again",
        ) from error


def request_of(measured: Sequence[Measured]) -> tuple[float, float]:
    """The CPU of all containers for a request, and its latency, both in ms: means over the requests of all systems.

    Raises `UserError` if no request ended, and as `calibration_ns` does.
    """
    latency_ns, served, ended = 0, 0.0, 0
    for one in measured:
        assert one.requests is not None  # a load that can be calibrated has them
        requests, window = read_requests(one.requests), _window(one)
        inside = requests.ended_in(window.start_ns, window.end_ns)
        latency_ns += int((inside.end_ns - inside.start_ns).sum())
        served += requests.served_in(window.start_ns, window.end_ns)
        ended += len(inside)
    if not ended:
        raise UserError("no request ended while the load was calibrated", "choose the load: --set users=<number>")
    cpu_ns = sum(calibration_ns(one.folder, _window(one).start_ns, _window(one).end_ns) for one in measured)
    return cpu_ns / 1e6 / served, latency_ns / 1e6 / ended


def _window(one: Measured) -> Window:
    (window,) = [part.window for part in one.parts if isinstance(part, WindowPart)]
    assert window is not None  # a load that can be calibrated has one
    return window
