"""What is read while it is written: new lines, containers' usage, and marks of changes with their noise."""

import json
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from lab.page.figures import Request
from lab.page.kept import Kept
from lab.page.live import Live
from lab.page.marks import (
    BATCH_S,
    FEWEST_BATCHES,
    LABEL,
    Batch,
    Counters,
    Marks,
    Summary,
    batches,
    summed_up,
)
from lab.page.observed import HISTORY, Observed, Samples
from lab.page.state import State
from lab.page.tail import Tail
from lab.run.settling import QUIET_BLOCKS
from tests.fake import FakeClock
from tests.page_fakes import FakeWorld, running_system

FIXTURES = Path(__file__).parents[2] / "fixtures"
S = 1_000_000_000
BEGIN_S = 1000
SETTLED_S = BATCH_S * (QUIET_BLOCKS + FEWEST_BATCHES)

# --- lines ------------------------------------------------------------------------------------------------------------


def test_only_new_and_whole_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "record"
    tail = Tail(path)
    assert tail.lines() == []
    path.write_text("one\ntwo\nthr")
    assert tail.lines() == ["one", "two"]
    assert tail.lines() == []
    with path.open("a") as file:
        file.write("ee\n")
    assert tail.lines() == ["three"]


def test_a_file_that_begins_anew_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "record"
    tail = Tail(path)
    path.write_text("one\ntwo\n")
    tail.lines()
    path.write_text("1\n")
    assert tail.lines() == ["1"]
    path.unlink()
    assert tail.lines() == []
    (tmp_path / "other").write_text("other one\nother two\n")
    (tmp_path / "other").rename(path)
    assert tail.lines() == ["other one", "other two"]


def test_of_a_long_file_the_end_is_read(tmp_path: Path) -> None:
    path = tmp_path / "record"
    path.write_text("".join(f"line {number}\n" for number in range(100)))
    assert Tail(path, most_bytes=20).lines() == ["line 98", "line 99"]


# --- containers -------------------------------------------------------------------------------------------------------


def observed(seconds: int, cores: float = 0.5, first_s: int = BEGIN_S, name: str = "a1") -> list[str]:
    """What the observer writes of a container that uses so many cores, and of its interfaces."""
    lines = []
    for second in range(seconds + 1):
        t_ns, used_ns = (first_s + second) * S, round(second * cores * S)
        lines += [
            {"kind": "container", "t_ns": t_ns, "name": name, "cpu_usage_ns": used_ns, "memory_usage_bytes": 900},
            {
                "kind": "network",
                "t_ns": t_ns,
                "name": name,
                "interface": "eth0",
                "rx_bytes": second * 100,
                "tx_bytes": second,
            },
            {
                "kind": "network",
                "t_ns": t_ns,
                "name": name,
                "interface": "eth1",
                "rx_bytes": second * 11,
                "tx_bytes": 0,
            },
            {"kind": "slow", "t_ns": t_ns, "name": name, "memory_working_set_bytes": 700, "jit_cpu_ns": 0},
        ]
    return [json.dumps(line) for line in lines]


def test_the_observers_own_fixture_is_read() -> None:
    found = Observed()
    found.feed((FIXTURES / "counters.v1.jsonl").read_text().splitlines())
    (row,) = [row for row in found.table({"a1": "service"}) if row["name"] == "a1"]
    assert row["memory_bytes"] > 0


def test_usage_is_that_of_the_last_seconds() -> None:
    found = Observed()
    found.feed([*observed(20), "not JSON", "[]", '{"kind": "event"}'])
    (row,) = found.table({"a1": "service", "a2": "service"})
    assert (row["cpu_cores"], row["memory_bytes"]) == (0.5, 700)
    assert (row["network_receive_bytes_per_s"], row["network_transmit_bytes_per_s"]) == (111, 1)
    assert row["history"]["cpu_cores"] == [0.5] * 20


def test_history_is_of_a_minute() -> None:
    found = Observed()
    found.feed(observed(100))
    assert len(found.table({"a1": "service"})[0]["history"]["cpu_cores"]) == HISTORY


def test_a_sidecars_network_is_its_services() -> None:
    found = Observed()
    found.feed(observed(20, name="a1-envoy"))
    (row,) = found.table({"a1-envoy": "sidecar"})
    assert row["network_receive_bytes_per_s"] is None
    assert row["cpu_cores"] == 0.5


def test_what_has_ended_is_left_out_and_a_first_sample_has_no_rate() -> None:
    found = Observed()
    found.feed([*observed(5), *observed(0, first_s=BEGIN_S + 60, name="a2")])
    (row,) = found.table({"a1": "service", "a2": "service"})
    assert (row["name"], row["cpu_cores"], row["history"]["cpu_cores"]) == ("a2", None, [])


def test_a_restart_is_not_a_negative_rate() -> None:
    found = Observed()
    found.feed([*observed(10), *observed(1, first_s=BEGIN_S + 11)])
    assert found.table({"a1": "service"})[0]["cpu_cores"] is None


# --- marks ------------------------------------------------------------------------------------------------------------


def samples(seconds: int, per_s: float) -> Samples:
    return Samples((((BEGIN_S + second) * S, round(second * per_s * S)) for second in range(seconds + 1)), maxlen=None)


def requests(seconds: int, latency_s: float = 0.1) -> list[Request]:
    """Two a second."""
    starts = (BEGIN_S * S + number * S // 2 for number in range(2 * seconds))
    return [Request(start_ns, start_ns + round(latency_s * S), 200) for start_ns in starts]


def batched(seconds: int, jit: float = 0.0) -> list[Batch]:
    cpu = [samples(seconds, 0.2)]
    return batches(Counters(cpu, cpu, [samples(seconds, jit)]), requests(seconds), BEGIN_S, BEGIN_S + seconds)


def test_a_batch_is_ten_seconds_cpu_per_request() -> None:
    found = batched(35)
    assert len(found) == 3
    assert [batch.cpu_ms_per_request for batch in found] == pytest.approx([100.0] * 3)
    assert [batch.latency_ms for batch in found] == pytest.approx([100.0] * 3)
    assert all(batch.quiet for batch in found)


def test_compilers_are_quiet_below_a_hundredth_of_the_cpu() -> None:
    assert not any(batch.quiet for batch in batched(20, jit=0.0021))
    assert all(batch.quiet for batch in batched(20, jit=0.0019))


def test_where_compilers_are_not_counted_nothing_is_quiet() -> None:
    cpu = [samples(20, 0.2)]
    assert not any(batch.quiet for batch in batches(Counters(cpu, cpu, []), requests(20), BEGIN_S, BEGIN_S + 20))


def test_a_batch_without_requests_or_samples_is_left_out() -> None:
    cpu = [samples(30, 0.2)]
    assert len(batches(Counters(cpu, cpu, cpu), requests(20), BEGIN_S, BEGIN_S + 30)) == 2
    assert len(batches(Counters(cpu, cpu, cpu), requests(60), BEGIN_S, BEGIN_S + 60)) == 3


def quiet(costs: Iterable[float], is_quiet: bool = True) -> list[Batch]:
    return [Batch(cost, 2 * cost, is_quiet) for cost in costs]


def test_nothing_counts_before_the_compilers_were_quiet() -> None:
    loud, still = quiet([500.0] * 5, False), quiet([90.0] * QUIET_BLOCKS)
    assert summed_up([*loud]) == Summary(settled=False)
    assert summed_up([*loud, *still]) == Summary(settled=True)
    found = summed_up([*loud, *still, *quiet([99.0, 101.0] * 5)])
    assert found.settled
    assert found.cpu_ms_per_request is not None
    assert found.cpu_ms_per_request["mean"] == 100.0
    assert found.cpu_ms_per_request["low"] < 100.0 < found.cpu_ms_per_request["high"]
    assert found.latency_ms is not None
    assert found.latency_ms["mean"] == 200.0


def test_the_interval_of_a_mark_covers_the_truth_as_often_as_it_says() -> None:
    noise = np.random.default_rng(1).normal(100.0, 5.0, (200, FEWEST_BATCHES + 6))
    found = [summed_up([*quiet([100.0] * QUIET_BLOCKS), *quiet(row)]).cpu_ms_per_request for row in noise.tolist()]
    covered = sum(one is not None and one["low"] <= 100.0 <= one["high"] for one in found)
    assert covered >= 180


def test_a_change_keeps_what_was_before_it() -> None:
    marks, starts_s = Marks(), list[float]()
    first, second = Summary(True, {"mean": 1.0}, {"mean": 2.0}), Summary(True, {"mean": 3.0}, {"mean": 4.0})

    def summary(since_s: float) -> Summary:
        starts_s.append(since_s)
        return first if since_s == 10.0 else second

    marks.see({"telemetry": "baseline", "fault": "none"}, 10.0, summary)
    marks.see({"telemetry": "baseline", "fault": "none"}, 20.0, summary)
    assert marks.shown(second) == []
    marks.see({"telemetry": "zipkin", "fault": "none"}, 30.0, summary)
    (mark,) = marks.shown(second)
    assert (mark["change"], mark["label"], mark["at_unix_s"]) == ("telemetry baseline → zipkin", LABEL, 30.0)
    assert mark["cpu_ms_per_request"] == {"before": {"mean": 1.0}, "after": {"mean": 3.0}}
    marks.see({"telemetry": "zipkin", "fault": "frozen"}, 40.0, summary)
    newest, oldest = marks.shown(Summary(settled=False))
    assert (newest["change"], newest["settled"]) == ("fault none → frozen", False)
    assert newest["latency_ms"] == {"before": {"mean": 4.0}, "after": None}
    assert oldest["cpu_ms_per_request"]["after"] == {"mean": 3.0}
    assert starts_s == [10.0, 30.0]


# --- together ---------------------------------------------------------------------------------------------------------


def test_figures_follow_the_files(tmp_path: Path) -> None:
    world = FakeWorld(running_system("telemetry=baseline"))
    state, live = State(world), Live(tmp_path)
    view = state.view()
    assert view.known is not None
    view.known.__dict__["roles"] = {"a1": "service"}
    now_ns = time.time_ns()
    (tmp_path / "counters.jsonl").write_text("\n".join([*observed(5, first_s=now_ns // S - 5), ""]))
    rows = [f"1,a1,0,{now_ns - 2 * S},{now_ns - S},{status},5\n" for status in (200, 500)]
    (tmp_path / "requests.csv").write_text("# tollbooth.requests v1\nuser\n" + "".join(rows))
    assert not live.fresh()
    live.tick(view)
    assert live.fresh()
    assert [row["name"] for row in live.containers()["containers"]] == ["a1"]
    graph = live.graph(view)
    edges = {(edge["source"], edge["target"]): edge for edge in graph["edges"]}
    client = edges["client", "gateway"]
    assert (client["requests_per_s"], client["error_share"], client["p50_ms"]) == (0.2, 0.5, 1000.0)
    # Nothing measures the others.
    assert edges["gateway", "a1"]["requests_per_s"] is edges["gateway", "a1"]["p99_ms"] is None
    assert live.traces(view) == {"traces": []}
    assert live.marks() == {"marks": []}


def test_a_system_that_is_down_has_no_picture(tmp_path: Path) -> None:
    view, live = State(FakeWorld()).view(), Live(tmp_path)
    live.tick(view)
    assert (live.graph(view)["nodes"], live.containers()["containers"], live.traces(view)) == ([], [], {"traces": []})


def test_an_answer_is_kept_for_a_moment() -> None:
    clock, found = FakeClock(), iter(range(10))
    kept = Kept[int](5.0, clock.now_s)
    assert [kept.get("one", lambda: next(found)), kept.get("one", lambda: next(found))] == [0, 0]
    assert kept.get("other", lambda: next(found)) == 1
    clock.sleep(5)
    assert kept.get("other", lambda: next(found)) == 2
