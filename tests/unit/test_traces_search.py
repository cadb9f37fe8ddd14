"""The search for a rate: what fails a short trial, how trials follow one another, and what is made of the search."""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from lab.analysis.checks import reasons
from lab.contract import Endpoint
from lab.load.generator import LoadPlan, Stage
from lab.load.objective import IDLE_REQUESTS, Objective, recovered
from lab.load.traces import COUNTED, RECORDS, Traces, TracesLoad
from lab.load.traces_schedules import Search as SearchSchedule
from lab.record import Series, TrialData
from lab.record.counters import parse_counters
from lab.record.data import STREAMS
from lab.record.search import Search, ShortTrial, read_search, write_search
from lab.record.traces import TRACES_COLUMNS, TRACES_FIRST_LINE
from lab.record.trial import ContainerRecord, HeadPart, StartPart, TrialRecord, Window, WindowPart
from lab.spec.experiment import Protocol
from lab.target import searched
from tests.fake import FakeClock
from tests.observed import SECOND_NS, START_NS, counters

OBJECTIVE = Objective(delay_p99_ms=200, traces_per_request=1, keeps="all", sampling_percent=100)
SPANS = 5


def log(
    delays_ms: Any, outcome: str = "success", lasts_s: float = 10, start_ns: int = START_NS, back: bool = True
) -> pl.DataFrame:
    """The log of a trial whose traces were due at equal distances, each with its delay; some are still to fail."""
    delay_ns = (1e6 * np.asarray(delays_ms, dtype=float)).astype(np.int64)
    due_ns = start_ns + np.linspace(0, lasts_s, len(delay_ns), endpoint=False) * 1e9
    given: Mapping[str, Any] = {
        "trace_id": pl.Series([f"{number:032x}" for number in range(len(delay_ns))]),
        "outcome": outcome,
        "spans": SPANS,
        "spans_sent": SPANS,
        "intended_ns": pl.Series(due_ns.astype(np.int64)),
        "send_end_after_ns": pl.Series(delay_ns // 2 if back else delay_ns),
        "receive_end_after_ns": pl.Series(delay_ns) if back else None,
    }
    columns = [pl.lit(given.get(name, 0)).cast(kind).alias(name) for name, kind in TRACES_COLUMNS.items()]
    return pl.select(pl.int_range(len(delay_ns))).select(columns)


def scraped(queue: list[int], dropped: list[int] | None = None) -> Mapping[str, Any]:
    """A Collector's readings: the first before the trial, then one a second, until 0.5 s before the trial's end."""
    t_ns = START_NS + np.arange(len(queue), dtype=np.int64) * SECOND_NS - SECOND_NS // 2
    held = {"queue_size": queue, "dropped_spans": dropped or [0] * len(queue)}
    return {"collector": {name: Series(t_ns, np.array(values)) for name, values in held.items()}}


def judged(traces: pl.DataFrame, collectors: Mapping[str, Any] | None = None, **changed: Any) -> ShortTrial:
    return replace(OBJECTIVE, **changed).judge(traces, collectors or {}, 10, len(traces) / 10)


# --- objective ----------------------------------------------------------------------------------------------------

QUIET = np.full(1000, 10.0)


def test_traces_that_come_back_soon_meet_the_objective() -> None:
    found = judged(log(QUIET), scraped([3] * 11))
    assert (found.failed_by, found.loss, found.queued) == (None, 0, 0)
    assert (found.due, found.traces, found.spans, found.in_queue) == (1000, 1000, 5000, 3)
    assert found.delay_p99_ms == pytest.approx(10)


@pytest.mark.parametrize("outcome", ["send error", "send timeout", "receive timeout", "shutdown"])
def test_a_single_trace_that_failed_is_enough(outcome: str) -> None:
    found = judged(pl.concat([log(QUIET), log([10.0], outcome)]))
    assert (found.failed_by, found.failed) == (outcome, 1)
    assert found.loss == pytest.approx(1 / 1001)


def test_one_percent_of_the_traces_may_be_late() -> None:
    delays = np.where(np.arange(1000) % 100 == 0, 500.0, 10.0)
    assert judged(log(delays)).failed_by is None
    delays[1] = 500
    found = judged(log(delays))
    assert (found.failed_by, found.loss) == ("delay", pytest.approx(0.011))


def test_a_queue_that_grows_is_seen_long_before_the_bound_of_the_delay() -> None:
    """2 % more than is served: after 10 s the delay is 200 ms longer."""
    found = judged(log(np.linspace(5, 205, 1000)), delay_p99_ms=1000)
    assert (found.failed_by, found.queued) == ("queue", pytest.approx(0.02 / 1.02, rel=0.02))
    assert judged(log(np.linspace(5, 85, 1000)), delay_p99_ms=1000).failed_by is None


def test_neither_a_pause_nor_a_queue_that_gets_shorter_is_a_growing_queue() -> None:
    paused = np.where(np.arange(1000) > 910, 150.0, 10.0)
    assert judged(log(paused)).failed_by is None
    assert judged(log(np.linspace(150, 5, 1000))).failed_by is None


def test_where_nothing_comes_back_the_collectors_queue_shows_what_waits() -> None:
    accepted = log(QUIET, back=False)
    assert judged(accepted, scraped([0] * 11)).failed_by is None
    # 3 of 100 requests a second stay. The last reading is after 9.5 s.
    found = judged(accepted, scraped([3 * second for second in range(11)]))
    assert (found.failed_by, found.queued, found.in_queue) == ("queue", pytest.approx(30 / 950), 30)
    # What the exporter's consumers hold is no queue.
    assert judged(accepted, scraped([0, *[IDLE_REQUESTS] * 10])).failed_by is None


def test_what_a_collector_drops_fails_a_trial_although_nobody_misses_it() -> None:
    found = judged(log(QUIET, back=False), scraped([0] * 11, [7] * 5 + [57] * 6), keeps="some")
    assert (found.failed_by, found.loss) == ("dropped", pytest.approx(50 / 5000))


def test_traces_that_are_not_kept_need_not_come_back() -> None:
    some = pl.concat([log(QUIET), log(QUIET, "receive timeout", back=False)])
    assert judged(some, keeps="some").failed_by is None
    assert judged(some, keeps="sampled", sampling_percent=25).failed_by == "receive timeout"
    none = log(QUIET, "receive timeout", back=False)
    assert (judged(none, keeps="some").failed_by, judged(none, keeps="some").loss) == ("none came back", 1)


def test_a_system_has_recovered_when_a_probe_succeeds_and_no_queue_is_left() -> None:
    assert recovered(judged(log(QUIET), scraped([900] * 5 + [0] * 6)))
    assert not recovered(judged(log(QUIET), scraped([900] * 11)))
    assert not recovered(judged(log(np.full(1000, 300.0))))


# --- generator ----------------------------------------------------------------------------------------------------


class Device:
    """An engine with a system that serves `capacity` traces a second; the others wait, and nothing is rejected.

    What waits at the end of a load is still there at the next one: `left_s` of work. A pause of a second is a second
    of work less.
    """

    def __init__(self, out: Path, capacity: float) -> None:
        self.out, self.capacity = out, capacity
        self.left_s, self.loads = 0.0, list[dict[str, Any]]()

    def answer(self, now_s: float) -> None:
        path = self.out / f"load-{len(self.loads)}.json"
        if not path.exists():
            return
        self.loads.append(load := json.loads(path.read_text()))
        rate = load["decoupled"]["traces_per_s"] if "decoupled" in load else 10.0
        lasts_s = load["duration_s"]
        due_s = np.arange(0, lasts_s, 1 / rate)
        waits_s = np.maximum(0, self.left_s + due_s * (rate / self.capacity - 1))
        self.left_s = max(0, self.left_s + lasts_s * (rate / self.capacity - 1))
        traces = log(5 + 1000 * waits_s, lasts_s=lasts_s, start_ns=START_NS + round(now_s * SECOND_NS))
        number = len(self.loads) - 1
        header = f"{TRACES_FIRST_LINE}\n{','.join(TRACES_COLUMNS)}\n"
        (self.out / f"traces-{number}.csv").write_text(header + traces.write_csv(include_header=False))
        first = {"t_ns": START_NS, **dict.fromkeys(COUNTED.values(), 0)}
        last = {**first, "t_ns": START_NS + SECOND_NS, "received_spans": SPANS * len(traces)}
        lines = [{"format": "tollbooth.generator", "version": 1, "t_ns": START_NS}, first, last]
        (self.out / f"generator-{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


class Dropping(Device):
    """A device that answers at once. Its Collector drops what is above `capacity`, and is read once a second."""

    def __init__(self, out: Path, capacity: float) -> None:
        super().__init__(out, math.inf)
        self.serves, self.dropped = capacity, 0
        self.now_s, self.readings = 0.0, list[dict[str, Any]]()
        self._read()

    def time_ns(self) -> int:
        return START_NS + round(self.now_s * SECOND_NS)

    def answer(self, now_s: float) -> None:
        self.now_s = now_s
        if now_s >= len(self.readings):
            self._read()
        answered = len(self.loads)
        super().answer(now_s)
        for load in self.loads[answered:]:
            rate = load.get("decoupled", {"traces_per_s": 0})["traces_per_s"]
            self.dropped += SPANS * round(max(0, rate - self.serves) * load["duration_s"])

    def _read(self) -> None:
        reading = {"t_ns": self.time_ns(), "name": "collector", "failed_scrapes": 0, "dropped_spans": self.dropped}
        self.readings.append(reading)
        lines = [{"format": "tollbooth.collector", "version": 1, "t_ns": START_NS}, *self.readings]
        (self.out / STREAMS["collectors"].file).write_text("".join(json.dumps(line) + "\n" for line in lines))


class Clock(FakeClock):
    """A clock in whose pauses the device works."""

    def __init__(self, device: Device) -> None:
        super().__init__()
        self.device = device

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        self.device.answer(self.now_s())


CARRIED: Mapping[str, Any] = {
    "send_timeout_ms": 5000,
    "receive_timeout_ms": 10_000,
    "returns": True,
    "plan": {"spans": {"min": 5, "max": 5}},
    "wait_out_durations": True,
    "traces_per_s": 77,
    "connections": 9,
    "keeps": "all",
    "sampling_percent": 100,
}


def searched_by(
    tmp_path: Path, capacity: float, highest: float = 800, seed: int = 7, kind: type[Device] = Device
) -> tuple[Device, Search]:
    device = kind(tmp_path, capacity)
    stage = Stage(device, Clock(device), tmp_path, lambda name, what: RuntimeError(f"{name} {what}"))  # type: ignore[arg-type]
    schedule = SearchSchedule(
        kind="search", lowest_traces_per_s=10, highest_traces_per_s=highest, delay_p99_ms=200, traces_per_request=2
    )
    load = TracesLoad(generator="traces", schedule=schedule)
    plan = LoadPlan(load, Protocol(repetitions=1), Endpoint("collector", 4317, "otlp"), 0, seed)
    window = Traces().measure(plan, stage, CARRIED)
    assert window.window_end_ns - window.window_start_ns == 10 * SECOND_NS
    return device, read_search(tmp_path / "search.json")


@pytest.mark.parametrize("capacity", [83.0, 130.0, 311.0])
def test_the_rate_of_a_device_with_a_queue_is_found(capacity: float, tmp_path: Path) -> None:
    device, found = searched_by(tmp_path, capacity)
    assert found.rate == pytest.approx(capacity, rel=0.05)
    assert found.high is not None and found.low is not None and found.low < found.high
    assert {one.failed_by for one in found.at(found.low)} == {None}
    assert {one.failed_by for one in found.at(found.high)} <= {"delay", "queue"}
    # The rate that was held is sent once more, and only this load leaves its records.
    assert device.loads[-1]["decoupled"] == {
        "traces_per_s": pytest.approx(found.low),
        "arrivals": "fixed",
        "connections": 9,
        "traces_per_request": 2,
    }
    assert device.loads[-1]["duration_s"] == 15
    last = len(device.loads) - 1
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(RECORDS)) == [
        f"generator-{last}.jsonl",
        f"traces-{last}.csv",
    ]


def test_what_is_dropped_is_charged_to_the_trial_in_which_it_was(tmp_path: Path) -> None:
    """The Collector is read up to a second after a trial's end, when the next one could already be under way."""
    _, found = searched_by(tmp_path, 130, kind=Dropping)
    assert found.rate == pytest.approx(130, rel=0.05)
    for one in found.trials:
        assert one.failed_by == ("dropped" if round((one.traces_per_s - 130) * one.duration_s) > 0 else None)


def test_a_system_recovers_from_each_trial_that_failed_before_the_next_one(tmp_path: Path) -> None:
    device, found = searched_by(tmp_path, 100)
    rates = [load["decoupled"]["traces_per_s"] for load in device.loads if "decoupled" in load]
    # The observer has to see the generator before the first trial.
    assert (rates[0], rates[1] > 10) == (10, True)
    assert rates.count(10) > sum(one.failed_by is not None for one in found.trials) > 1
    assert len(rates) == len(found.trials) + rates.count(10) + 1
    starts_ms = [one.delay_p99_ms for one in found.trials if one.failed_by is None]
    assert max(filter(None, starts_ms)) < 200
    assert not any("keeps" in load or "sampling_percent" in load for load in device.loads)


def test_a_rate_that_does_not_fail_is_at_least_the_capacity(tmp_path: Path) -> None:
    _, found = searched_by(tmp_path, 1000, highest=200)
    assert found.low is not None and 190 < found.low <= 200
    assert (found.high, found.rate) == (None, found.low)


def test_searches_try_other_rates_with_another_seed(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    _, found = searched_by(tmp_path, 100)
    _, other = searched_by(tmp_path / "other", 100, seed=8)
    assert found.rate != pytest.approx(other.rate, rel=1e-3)
    assert other.rate == pytest.approx(100, rel=0.05)


def test_a_search_that_finds_nothing_says_why(tmp_path: Path) -> None:
    device, found = searched_by(tmp_path, 5)
    assert found.stopped == "the system had not recovered from an overload after 60 probes at 10 traces/s"
    assert (found.low, found.high, found.rate) == (None, None, None)
    assert device.loads[-1]["decoupled"]["traces_per_s"] == 10


# --- judgement ----------------------------------------------------------------------------------------------------


def short(traces_per_s: float, at_s: float, failed_by: str | None = None) -> ShortTrial:
    return ShortTrial(
        start_ns=START_NS + round(at_s * SECOND_NS),
        duration_s=10,
        traces_per_s=traces_per_s,
        due=1100,
        traces=1000,
        spans=5000,
        failed=0,
        delay_p99_ms=10,
        queued=0,
        in_queue=None,
        loss=0.1 if failed_by else 0,
        failed_by=failed_by,
    )


FOUND = Search(low=100, high=104.04, stopped=None, trials=[short(100, 0), short(104.04, 20, "queue")])


def trial(found: Search, generator_cores: float = 0.2) -> TrialData:
    containers = {
        name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=False, exit_code=0)
        for name, role in {"traces": "generator", "sink": "backend"}.items()
    }
    record = TrialRecord.of(
        HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings={}),
        WindowPart(window=Window(load_start_ns=START_NS, start_ns=START_NS, end_ns=START_NS + SECOND_NS)),
        StartPart(containers=containers, generator_cpus=[1]),
    )
    observed = parse_counters(counters({"traces": generator_cores, "sink": 0.1}, seconds=40), "test")
    return TrialData(record, {"search": {"local": found}, "counters": {"local": observed}})


def test_the_capacity_is_of_what_was_sent() -> None:
    values = {metric.name: metric.compute(trial(FOUND)) for metric in searched.METRICS}
    assert values == {
        "capacity_traces_per_s": pytest.approx(102 * 1000 / 1100),
        "capacity_spans_per_s": pytest.approx(102 * 5000 / 1100),
        "search_trials": 2,
        "search_s": 30,
    }
    bounds = [metric.bound(trial(FOUND)) for metric in searched.METRICS if metric.bound]
    assert bounds == [None, None]


def test_a_capacity_without_an_upper_bound_is_at_least_that() -> None:
    found = FOUND.model_copy(update={"high": None})
    bounds = [metric.bound(trial(found)) for metric in searched.METRICS if metric.bound]
    assert bounds == ["at least", "at least"]


def test_other_trials_have_no_capacity() -> None:
    none = replace(trial(FOUND), streams={})
    assert [metric.compute(none) for metric in searched.METRICS] == [None] * 4
    assert reasons(none, [[searched.search_ended, searched.deciding_trials_had_cpu]]) == []


def test_a_search_is_rejected_if_it_found_nothing_or_its_instruments_were_busy() -> None:
    stages = [[searched.search_ended, searched.deciding_trials_had_cpu]]
    assert reasons(trial(FOUND), stages) == []
    nothing = Search(low=None, high=None, stopped="its lowest rate fails", trials=[])
    assert reasons(trial(nothing), stages) == ["no rate was found: its lowest rate fails"]
    (low, high) = reasons(trial(FOUND, generator_cores=0.65), stages)
    assert "used 75% of their CPUs at 100 traces/s (limit 70%)" in low
    assert "at 104 traces/s" in high


def test_a_search_survives_its_record(tmp_path: Path) -> None:
    write_search(tmp_path, FOUND)
    assert STREAMS["search"].read(tmp_path / STREAMS["search"].file) == FOUND
