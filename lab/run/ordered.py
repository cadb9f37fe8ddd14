"""What loads of several systems at the same time share: their generators, orders, and records."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from lab.contract import Measuring
from lab.load import Awaited, Loaded
from lab.record import Window, join_requests, read_requests
from lab.run.start import Start


@contextmanager
def measuring(starts: Sequence[Start], generator: str) -> Iterator[list[Measuring]]:
    """Starts each system's generator, and measures all of them in the block; yields what measures each."""
    with ExitStack() as stack:
        measurings = [stack.enter_context(start.deployment.measuring(start.level, start.seed, 0.0)) for start in starts]
        for start in starts:
            start.place.driver.start([generator])
        yield measurings


def received(ordered: Iterable[Awaited]) -> list[Path]:
    """Orders a load of each system before it waits for the first; returns the records of each."""
    return [awaited() for awaited in list(ordered)]


def joined(start: Start, files: Sequence[Path], window: Window) -> Loaded:
    """Writes a system's `requests.csv` with all its requests, those before the window included."""
    requests = start.out / "requests.csv"
    join_requests(files, requests)
    return Loaded(requests, read_requests(requests).first_start_ns(), window.start_ns, window.end_ns)
