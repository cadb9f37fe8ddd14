"""Reading what the instruments wrote, and what was broken since."""

import json
from pathlib import Path

import numpy as np
import pytest

from lab.errors import UserError
from lab.record.counters import parse_counters, parse_speed, write_targets
from lab.record.data import read_trial
from lab.record.files import read_json, write_json_atomic
from lab.record.requests import parse_requests
from lab.record.series import NotDerivableError, Series
from lab.record.trial import read_trial_record
from tests.synthetic import write_results

FIXTURES = Path(__file__).parents[2] / "fixtures"
COUNTERS = (FIXTURES / "counters.v1.jsonl").read_text()
REQUESTS = (FIXTURES / "requests.v1.csv").read_text()


def increase(values: list[int], start_ns: int, end_ns: int, step_ns: int = 10, apart: bool = False) -> float:
    t_ns = np.arange(len(values), dtype=np.int64) * step_ns
    return Series(t_ns, np.array(values, dtype=np.int64)).increase(start_ns, end_ns, apart)


def test_the_observers_fixture_is_read_as_series() -> None:
    counters = parse_counters(COUNTERS, "counters.v1.jsonl")
    cpu = counters.containers["a1"]["cpu_usage_ns"]
    assert counters.interval_ns == 100_000_000
    assert cpu.values.tolist() == [6500000123, 6510000123]
    assert cpu.t_ns.tolist() == [1760000000000200000, 1760000000100200000]
    assert counters.containers["a1"]["context_switches_voluntary"].values.tolist() == [12345, 12350]
    assert counters.containers["a1"]["jit_cpu_ns"].values.tolist() == [9400000001]
    assert counters.host["cpu_steal_ns"].values.tolist() == [4100000000, 4100000000]
    assert not counters.truncated


def test_the_spinners_fixture_is_read_thread_by_thread() -> None:
    one, other = parse_speed((FIXTURES / "speed.v1.jsonl").read_text(), "speed.v1.jsonl")
    assert one.steps.values.tolist() == [0, 20000000]
    assert other.steps_ns.values.tolist() == [0, 260000000]
    assert other.steps.t_ns.tolist() == [1760000000000200000, 1760000001000200000]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "is empty"),
        ('{"format":"tollbooth.speed","version":2}\n', "is tollbooth.speed version 2"),
        ('{"format":"tollbooth.speed","version":1}\n{"t_ns":1,"thread":0,"steps":"many"}\n', "line 2: not a spinner's"),
    ],
)
def test_a_broken_record_of_the_spinner_is_named(text: str, says: str) -> None:
    with pytest.raises(UserError, match=r"speed\.jsonl") as caught:
        parse_speed(text, "speed.jsonl")
    assert says in caught.value.message


def test_a_field_that_was_left_out_has_no_sample() -> None:
    memory = parse_counters(COUNTERS, "x").containers["a1"]["memory_rss_bytes"]
    assert memory.values.tolist() == [188743680]


def test_an_interface_knows_its_network_or_none() -> None:
    interfaces = parse_counters(COUNTERS, "x").interfaces
    assert [(one.container, one.name, one.network) for one in interfaces] == [
        ("a1", "eth0", "app"),
        ("a1", "eth1", None),
    ]


def test_a_jvm_is_kept_apart_from_its_container() -> None:
    jvm = '{"kind":"jvm","t_ns":5,"name":"a1","eden_used_bytes":7,"young_gc_count":2,"threads":"many"}\n'
    counters = parse_counters(COUNTERS + jvm, "x")
    assert counters.jvms["a1"]["eden_used_bytes"].values.tolist()[-1] == 7
    assert counters.jvms["a1"]["young_gc_count"].t_ns.tolist()[-1] == 5
    assert "eden_used_bytes" not in counters.containers["a1"]
    assert "threads" not in counters.jvms["a1"]


def test_events_are_kept_in_order() -> None:
    events = parse_counters(COUNTERS, "x").events
    seen = [(event.name, event.event) for event in events]
    assert seen[0] == ("a1", "appeared")
    assert seen[-1] == ("", "stopped")


def test_a_line_that_was_cut_off_is_left_out_and_reported() -> None:
    counters = parse_counters(COUNTERS[:-20], "x")
    assert counters.truncated
    assert counters.events[-1].event == "targets_changed"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('{"kind":"container","t_ns"', "not JSON"),
        ("[1]", "not a JSON object"),
        ('{"kind":"weather","t_ns":1}', "unknown kind 'weather'"),
        ('{"kind":"container","name":"a1"}', "not a counter record"),
        ('{"kind":"container","t_ns":"now","name":"a1"}', "not a counter record"),
        ('{"kind":"event","t_ns":1},{"kind":"event","t_ns":2}', "not JSON"),
    ],
)
def test_a_broken_line_in_the_middle_is_named(line: str, what: str) -> None:
    lines = COUNTERS.splitlines()
    lines[4] = line
    with pytest.raises(UserError, match=rf"counters\.jsonl, line 5: .*{what}"):
        parse_counters("\n".join(lines) + "\n", "counters.jsonl")


def test_another_version_is_rejected() -> None:
    newer = COUNTERS.replace('"version":1', '"version":2', 1)
    with pytest.raises(UserError, match=r"tollbooth\.counters version 2, not tollbooth\.counters version 1"):
        parse_counters(newer, "x")
    with pytest.raises(UserError, match=r"does not begin with '# tollbooth\.requests v1'"):
        parse_requests(REQUESTS.replace("v1", "v2", 1), "x")


def test_an_empty_record_is_rejected() -> None:
    with pytest.raises(UserError, match="is empty"):
        parse_counters("", "counters.jsonl")


def test_the_requests_fixture_is_read_by_column() -> None:
    requests = parse_requests(REQUESTS, "requests.v1.csv")
    assert requests.target.tolist() == ["a1", "a2", "a3", "a4"]
    assert requests.status.tolist() == [200, 200, 502, 0]
    assert (requests.start_ns - requests.intended_ns).tolist() == [100_000, 250_000, 0, 300_000]
    assert requests.bytes.tolist() == [41, 41, 0, 0]


def test_requests_belong_to_the_window_they_ended_in() -> None:
    requests = parse_requests(REQUESTS, "x")
    inside = requests.ended_in(1760000000081000000, 1760000001120000000)
    assert inside.target.tolist() == ["a2"]


def test_a_run_without_requests_is_readable() -> None:
    requests = parse_requests("\n".join(REQUESTS.splitlines()[:2]) + "\n", "x")
    assert len(requests) == 0
    assert len(requests.ended_in(0, 1)) == 0


def test_a_request_that_was_cut_off_is_left_out_and_reported() -> None:
    requests = parse_requests(REQUESTS[:-4], "x")
    assert requests.truncated
    assert len(requests) == 3


def test_a_broken_request_is_named() -> None:
    with pytest.raises(UserError, match=r"requests\.csv, line 4: not a request"):
        parse_requests(REQUESTS.replace(",200,41\n0,a3", ",two hundred,41\n0,a3"), "requests.csv")


def test_a_trial_is_read_whole(tmp_path: Path) -> None:
    write_results(tmp_path, blocks=1, rejected=False)
    folder = next(tmp_path.glob("trials/*-otel-agent"))
    data = read_trial(folder)
    assert data.trial.level == "otel-agent"
    assert data.trial.names("backend") == ["jaeger"]
    assert data.trial.window_s == 15
    assert data.trial.backend is not None
    assert set(data.trial.containers) == set(data.counters.containers)
    assert data.trace is not None
    assert len(data.trace["spans"]) == 123
    assert len(data.requests) > 100


def test_a_missing_record_is_named(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"trial\.json is missing"):
        read_trial(tmp_path)


def test_a_trial_with_a_wrong_field_is_named(tmp_path: Path) -> None:
    write_results(tmp_path, blocks=1, rejected=False)
    path = next(tmp_path.glob("trials/*/trial.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"number": "many"}))
    with pytest.raises(UserError, match=r"trial\.json: number: "):
        read_trial_record(path.parent)


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    write_json_atomic(path, {"a": 1})
    with pytest.raises(ValueError, match="Out of range float"):
        write_json_atomic(path, {"a": float("nan")})
    assert json.loads(path.read_text()) == {"a": 1}


def test_targets_are_written_as_the_observer_reads_them(tmp_path: Path) -> None:
    path = tmp_path / "targets.json"
    write_targets(path, {"ab" * 32: "gateway"}, {"app": "172.18.0.0/16"})
    data = read_json(path, "tollbooth.targets", 1)
    assert data["containers"] == {"ab" * 32: "gateway"}
    assert data["networks"] == {"app": "172.18.0.0/16"}


def test_an_increase_is_interpolated_at_the_edges() -> None:
    assert increase([0, 100, 300], 5, 15) == pytest.approx(50 + 100)


def test_what_rests_beside_the_window_grew_in_it() -> None:
    """Busy from 5 to 105, and sampled every 10."""
    values = [0, *range(5, 105, 10), 100, 100]
    assert increase(values, 5, 105) == pytest.approx(95)
    assert increase(values, 5, 105, apart=True) == 100


def test_an_increase_between_two_samples_is_a_part_of_theirs() -> None:
    assert increase([0, 100], 2, 4) == pytest.approx(20)


def test_an_increase_of_exactly_the_samples_needs_no_more() -> None:
    assert increase([7, 9, 12], 0, 20) == 5


def test_unix_times_lose_no_digits() -> None:
    epoch_ns = 1_760_000_000_000_000_000
    t_ns = np.array([epoch_ns, epoch_ns + 1000], dtype=np.int64)
    assert Series(t_ns, t_ns).increase(epoch_ns + 1, epoch_ns + 4) == 3


@pytest.mark.parametrize("window", [(-1, 10), (5, 21)])
def test_a_window_that_is_not_covered_is_rejected(window: tuple[int, int]) -> None:
    with pytest.raises(NotDerivableError, match="do not cover"):
        increase([0, 1, 2], *window)


def test_a_counter_that_never_was_is_rejected() -> None:
    with pytest.raises(NotDerivableError, match="do not cover"):
        increase([], 0, 1)


def test_a_counter_that_began_anew_can_be_counted_on() -> None:
    t_ns = np.arange(6, dtype=np.int64) * 10
    whole = Series(t_ns, np.array([5, 9, 1, 2, 0, 4], dtype=np.int64)).continued()
    assert whole.values.tolist() == [5, 9, 10, 11, 11, 15]
    assert whole.increase(5, 50) == 8
    rising = Series(t_ns, np.array([5, 5, 6, 8, 8, 9], dtype=np.int64))
    assert rising.continued().values.tolist() == rising.values.tolist()


def test_a_reset_is_rejected_only_where_it_matters() -> None:
    assert increase([5, 9, 1, 2], 20, 30) == 1
    with pytest.raises(NotDerivableError, match="went back"):
        increase([5, 9, 1, 2], 5, 25)


def test_a_series_is_cut_to_its_window() -> None:
    series = Series(np.array([1, 2, 3, 4]), np.array([10, 20, 30, 40]))
    assert series.within(2, 3).values.tolist() == [20, 30]
    with pytest.raises(NotDerivableError, match="no sample"):
        series.within(5, 6)


def test_requests_at_the_edges_count_by_the_share_of_their_time_inside() -> None:
    rows = ["# tollbooth.requests v1", "user,target,intended_ns,start_ns,end_ns,status,bytes"]
    rows += ["1,a1,0,50,150,200,1", "2,a1,0,100,200,200,1", "3,a1,0,150,250,200,1", "4,a1,0,300,400,200,1"]
    requests = parse_requests("\n".join(rows) + "\n", "requests.csv")
    assert requests.served_in(100, 200) == pytest.approx(0.5 + 1 + 0.5)
    assert requests.served_in(0, 1000) == pytest.approx(4)
    assert requests.served_in(500, 600) == 0


def test_a_record_is_on_the_disk_before_it_replaces_another(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    replace = Path.replace
    monkeypatch.setattr("os.fsync", lambda _: done.append("fsync"))
    monkeypatch.setattr(Path, "replace", lambda *paths: (done.append("replace"), replace(*paths))[1])
    write_json_atomic(tmp_path / "x.json", {"a": 1})
    assert done == ["fsync", "replace"]
    assert (tmp_path / "x.json").read_text() == '{\n "a": 1\n}\n'
