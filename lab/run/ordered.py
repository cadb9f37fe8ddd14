"""Loads of several systems that are ordered by files, and their records."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from lab.load import Loaded
from lab.load.generator import Awaited
from lab.record import Window, join_requests, read_requests
from lab.run.start import Start


def received(ordered: Iterable[Awaited]) -> list[Path]:
    """Orders a load of each system before it waits for the first; returns the records of each."""
    return [awaited() for awaited in list(ordered)]


def joined(start: Start, files: Sequence[Path], window: Window) -> Loaded:
    """Writes a system's `requests.csv` with all its requests, those before the window included."""
    requests = start.out / "requests.csv"
    join_requests(files, requests)
    return Loaded(requests, read_requests(requests).first_start_ns(), window.start_ns, window.end_ns)
