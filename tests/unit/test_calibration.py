"""The closed loop's arithmetic."""

import pytest

from lab.run.calibration import users


@pytest.mark.parametrize(
    ("fraction", "cpus", "cpu_ms", "think_s", "latency_s", "expected"),
    [
        (0.4, 2, 40, 1.05, 0.0, 21),  # 20 requests/s, each user 0.95/s
        (0.4, 2, 40, 1.05, 1.05, 42),  # twice as slow a loop takes twice the users
        (0.4, 16, 40, 1.05, 0.0, 168),
        (0.01, 1, 1000, 1.0, 0.0, 1),  # never fewer than one
    ],
)
def test_users(fraction: float, cpus: int, cpu_ms: float, think_s: float, latency_s: float, expected: int) -> None:
    assert users(fraction, cpus, cpu_ms, think_s, latency_s) == expected
