"""A signal while the lab reads what a start has measured."""

import signal
from typing import Any

import pytest

from lab.run.measure import Measured, measured_of


def signal_at_second_reading(monkeypatch: pytest.MonkeyPatch, module: str) -> None:
    """Sends Ctrl-C when the module reads the second trial of a start."""

    def read(*parts: Any) -> Measured:
        reads.append(1)
        if len(reads) == 2:
            signal.raise_signal(signal.SIGINT)
        return measured_of(*parts)

    reads = list[int]()
    monkeypatch.setattr(f"{module}.measured_of", read)
