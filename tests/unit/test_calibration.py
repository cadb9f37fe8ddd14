"""The closed loop's arithmetic, and what a request costs while the load is calibrated."""

import json
from pathlib import Path

import pytest

from lab.errors import UserError
from lab.load.schedule import ClosedLoop
from lab.record import Window, WindowPart
from lab.record.requests import REQUESTS_COLUMNS, REQUESTS_FIRST_LINE
from lab.run.at_once import seen_ns
from lab.run.cost import calibration_ns, request_of
from lab.run.measure import Measured
from tests.observed import SECOND_NS, START_NS, counters

CORES = {"a1": 0.2, "sink": 0.1, "spinner": 1.0}
END_NS = START_NS + 10 * SECOND_NS


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


def observed(folder: Path, lost: str = "", after_s: float = 5) -> None:
    """Write the observer's record. It lost sight of a container so long after the load's start."""
    lines = counters(CORES).splitlines(keepends=True)
    unseen = [line for line in lines if lost and f'"name": "{lost}"' in line]
    gone = {line for line in unseen if json.loads(line)["t_ns"] > START_NS + after_s * SECOND_NS}
    (folder / "counters.jsonl").write_text("".join(line for line in lines if line not in gone))


def measured(folder: Path, requests: int) -> Measured:
    """Return what was measured of a system that answers each second, after 100 ms."""
    starts_ns = [START_NS + number * SECOND_NS for number in range(requests)]
    rows = [f"0,a1,{start_ns},{start_ns},{start_ns + SECOND_NS // 10},200,100" for start_ns in starts_ns]
    path = folder / "requests.csv"
    path.write_text("\n".join([REQUESTS_FIRST_LINE, ",".join(REQUESTS_COLUMNS), *rows, ""]))
    window = Window(load_start_ns=START_NS, start_ns=START_NS, end_ns=END_NS)
    return Measured(folder, path, {}, [WindowPart(window=window)])


def test_a_request_costs_what_all_containers_used_but_the_spinner(tmp_path: Path) -> None:
    observed(tmp_path)
    assert calibration_ns(tmp_path, START_NS, END_NS) == pytest.approx(3 * SECOND_NS)
    cpu_ms, latency_ms = request_of([measured(tmp_path, requests=10)])
    assert (cpu_ms, latency_ms) == (pytest.approx(300), pytest.approx(100))


def test_a_container_that_is_not_seen_to_the_end_ends_a_calibration(tmp_path: Path) -> None:
    observed(tmp_path, lost="sink")
    with pytest.raises(UserError, match="the observer did not see the calibration to its end"):
        request_of([measured(tmp_path, requests=10)])
    # Checks judge a trial, and reject this one.
    assert seen_ns(tmp_path, START_NS, END_NS, without=["spinner"]) == pytest.approx(2 * SECOND_NS)


def test_the_spinner_need_not_be_seen(tmp_path: Path) -> None:
    observed(tmp_path, lost="spinner")
    assert calibration_ns(tmp_path, START_NS, END_NS) == pytest.approx(3 * SECOND_NS)


def test_a_calibration_without_requests_is_named(tmp_path: Path) -> None:
    observed(tmp_path, lost="sink")
    with pytest.raises(UserError, match="no request ended while the load was calibrated"):
        request_of([measured(tmp_path, requests=0)])
