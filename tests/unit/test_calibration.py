"""The closed loop's arithmetic."""

import pytest

from lab.load.schedule import ClosedLoop


@pytest.mark.parametrize(
    ("fraction", "cpus", "cpu_ms", "think_s", "latency_s", "expected"),
    [
        (0.4, 2, 40, 1.05, 0.0, 21),  # 20 requests/s, each user 0.95/s
        (0.4, 2, 40, 1.05, 1.05, 42),  # twice as slow a loop takes twice the users
        (0.4, 16, 40, 1.05, 0.0, 168),
        (0.05, 1, 5000, 1.0, 0.0, 1),  # never fewer than one
    ],
)
def test_users(fraction: float, cpus: int, cpu_ms: float, think_s: float, latency_s: float, expected: int) -> None:
    schedule = ClosedLoop(
        kind="closed-loop", users="calibrated", baseline_cpu_fraction=fraction, think_time_s=(think_s, think_s)
    )
    assert schedule.from_cost(cpus, cpu_ms, latency_s) == {"users": expected, "target_fraction": fraction}
