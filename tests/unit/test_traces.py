"""The generator of traces: what it is given, what it logs, and what the judgement of a Collector makes of that."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml

from lab.analysis.collector.outcomes import HASH_SEED, SAMPLER_MODE
from lab.analysis.collector.sampling import kept, trace_ids
from lab.contract import Endpoint
from lab.errors import UserError
from lab.load.generator import LoadPlan, Stage
from lab.load.traces import RECORDS, Traces, TracesLoad
from lab.load.traces_schedules import Ramp, TraceRate, Workers, loop
from lab.record import NotDerivableError, Series, TrialData
from lab.record.results import Results, read_results
from lab.record.traces import newest_scrape_ns, read_collectors, read_traces
from lab.record.trial import LOCAL, HeadPart, TrialRecord, Window, WindowPart
from lab.spec.experiment import Protocol
from lab.spec.parse import parse_experiment
from lab.spec.problems import SpecError
from lab.target import delays
from lab.target.collector.counted import spans_dropped
from lab.target.collector.judgement import METRICS, spans_accounted_for
from lab.target.collector.settings import CollectorLevelSettings
from lab.target.generated import OUTCOMES
from tests.fake import FakeClock
from tests.labs import LAB
from tests.observed import SECOND_NS, START_NS
from tests.repository import ROOT

SPEC = (ROOT / "experiments" / "collector-capacity.yaml").read_text()
HEADER = (ROOT / "fixtures" / "traces.v1.csv").read_text().splitlines(keepends=True)[:2]
CARRIED: Mapping[str, Any] = {
    "send_timeout_ms": 5000,
    "receive_timeout_ms": 10_000,
    "returns": True,
    "plan": {"spans": {"min": 0, "max": 10}},
    "wait_out_durations": True,
    "traces_per_s": None,
    "connections": None,
}


# --- records ------------------------------------------------------------------------------------------------------


def test_the_fixtures_of_the_writers_are_read() -> None:
    traces = read_traces(ROOT / "fixtures" / "traces.v1.csv")
    assert traces["outcome"].to_list() == ["success", "empty"]
    assert traces["spans_sent"].to_list() == [6, 0]
    assert traces["receive_end_after_ns"].to_list() == [795_000_000, None]
    collectors = read_collectors(ROOT / "fixtures" / "collector.v1.jsonl")
    assert collectors["collector"]["accepted_spans"].values.tolist() == [0, 40_000]
    assert collectors["collector"]["queue_capacity"].values.tolist() == [1000]
    assert newest_scrape_ns(ROOT / "fixtures" / "collector.v1.jsonl") == 1_760_000_002_100_000_000


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("# tollbooth.traces v2\n", "does not begin with '# tollbooth.traces v1'"),
        ("".join(HEADER) + "00,x\n", "traces-0.csv: "),
    ],
)
def test_a_broken_log_is_named(text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "traces-0.csv").write_text(text)
    with pytest.raises(UserError) as wrong:
        read_traces(tmp_path / "traces-0.csv")
    assert says in wrong.value.message


def test_a_log_without_traces_has_no_rows(tmp_path: Path) -> None:
    (tmp_path / "traces-0.csv").write_text("".join(HEADER))
    assert len(read_traces(tmp_path / "traces-0.csv")) == 0


def test_no_scrape_was_made_before_the_file_is_there(tmp_path: Path) -> None:
    assert newest_scrape_ns(tmp_path / "collector.jsonl") == 0


# --- generator ----------------------------------------------------------------------------------------------------


class Answering:
    """An engine whose generator gets the first spans back in a load, the second one unless another is named."""

    def __init__(self, out: Path, first_back: int = 1) -> None:
        self.out, self.first_back, self.loads = out, first_back, list[dict[str, Any]]()

    def start(self, services: object) -> None: ...

    def containers(self) -> Mapping[str, Any]:
        raise AssertionError("every load is answered")

    def answer(self) -> float:
        """Return how long the load lasted; 0 if there was none."""
        number = len(self.loads)
        if not (self.out / f"load-{number}.json").exists():
            return 0.0
        self.loads.append(json.loads((self.out / f"load-{number}.json").read_text()))
        back = 5 * max(0, number - self.first_back + 1)
        last = {**dict.fromkeys(ZEROS, 0), "t_ns": START_NS + SECOND_NS, "received_spans": back, "traces_sent": 3}
        lines = [GENERATOR_HEADER, {**dict.fromkeys(ZEROS, 0), "t_ns": START_NS}, last]
        (self.out / f"traces-{number}.csv").write_text("".join(HEADER))
        (self.out / f"generator-{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        return float(self.loads[-1]["duration_s"])


class Clock(FakeClock):
    """A clock in whose pauses the generator answers."""

    def __init__(self, engine: Answering) -> None:
        super().__init__()
        self.engine = engine

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        super().sleep(self.engine.answer())


GENERATOR_HEADER = {"format": "tollbooth.generator", "version": 1, "t_ns": START_NS, "interval_ns": SECOND_NS}
ZEROS = (
    "workers",
    "traces_sent",
    "spans_sent",
    "received_spans",
    "success",
    "send_timeout",
    "send_error",
    "receive_timeout",
    "shutdown",
    "accepted",
)


def measured(
    schedule: Any, tmp_path: Path, protocol: Mapping[str, Any], first_back: int = 1, returns: bool = True
) -> tuple[Answering, Any]:
    engine = Answering(tmp_path, first_back)
    stage = Stage(engine, Clock(engine), tmp_path, lambda name, what: RuntimeError(f"{name} {what}"))  # type: ignore[arg-type]
    load = TracesLoad(generator="traces", schedule=schedule)
    plan = LoadPlan(load, Protocol(repetitions=1, **protocol), Endpoint("edge-1,edge-2", 4317, "otlp"), 0, 7)
    assert Traces().environment(plan) == {"LOAD_TARGET": "edge-1:4317,edge-2:4317"}
    return engine, Traces().measure(plan, stage, {**CARRIED, "returns": returns})


def test_a_ramp_begins_when_something_came_back_and_is_its_own_window(tmp_path: Path) -> None:
    engine, found = measured(Ramp(kind="ramp", workers=100, workers_per_s=5), tmp_path, {})
    assert [load["duration_s"] for load in engine.loads] == [1, 1, 38]
    assert engine.loads[-1]["coupled"] == {
        "workers": 100,
        "workers_per_s": 5,
        "wait_out_durations": True,
        "shared_connections": 0,
    }
    assert engine.loads[-1]["seed"] == 7
    assert (found.window_start_ns - START_NS, found.window_end_ns - START_NS) == (2 * SECOND_NS, 20 * SECOND_NS)
    # The records of the loads that made the Collector connect are gone.
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(RECORDS)) == [
        "generator-2.jsonl",
        "traces-2.csv",
    ]
    assert read_results(tmp_path / "results-generator.json").values["traces_sent"] == 3


def test_a_collector_may_hold_the_first_traces_as_long_as_the_generator_waits_for_one(tmp_path: Path) -> None:
    """A Collector has 20 s to connect; the timeouts of a request and of a trace are 15 s together."""
    ramp = Ramp(kind="ramp", workers=100, workers_per_s=5)
    engine, _ = measured(ramp, tmp_path, {}, first_back=30)
    assert [load["duration_s"] for load in engine.loads] == [*[1] * 31, 38]
    (tmp_path / "never").mkdir()
    with pytest.raises(RuntimeError, match="traces got no span back in 35 s"):
        measured(ramp, tmp_path / "never", {}, first_back=100)


@pytest.mark.parametrize(("returns", "lasts_s"), [(True, 33), (False, 23)])
def test_workers_send_until_each_trace_of_the_window_has_come_back_or_failed(
    returns: bool, lasts_s: float, tmp_path: Path
) -> None:
    """Warm-up 5 s, window 10 s, tail 3 s. A request fails after 5 s, and a trace 10 s after it was accepted."""
    workers = Workers(kind="workers", workers=5)
    engine, found = measured(workers, tmp_path, {"warm_up_s": 5, "window_s": 10}, returns=returns)
    assert engine.loads[-1]["duration_s"] == lasts_s
    assert (found.window_start_ns - START_NS, found.window_end_ns - START_NS) == (5 * SECOND_NS, 15 * SECOND_NS)


def test_an_open_loop_says_what_is_planned(tmp_path: Path) -> None:
    schedule = TraceRate(kind="trace-rate", traces_per_s=200, connections=9)
    engine, _ = measured(schedule, tmp_path, {"warm_up_s": 5, "window_s": 10})
    assert engine.loads[-1]["decoupled"] == {
        "traces_per_s": 200,
        "arrivals": "poisson",
        "connections": 9,
        "traces_per_request": 1,
    }
    assert not set(engine.loads[-1]) & {"traces_per_s", "connections", "wait_out_durations"}
    assert read_results(tmp_path / "results-generator.json").values["traces_planned"] == 200 * 18


def test_workers_share_the_connections_of_a_level() -> None:
    ramp = Ramp(kind="ramp", workers=100, workers_per_s=5)
    assert loop(ramp, {"connections": 20})["coupled"]["shared_connections"] == 20


def test_what_the_generator_can_depends_on_the_schedule() -> None:
    ramp = TracesLoad(generator="traces", schedule=Ramp(kind="ramp"))
    workers = TracesLoad(generator="traces", schedule=Workers(kind="workers", workers=5))
    assert (ramp.can("counted"), ramp.can("warms-up"), ramp.can("receives-traces")) == (True, False, True)
    assert (workers.can("counted"), workers.can("warms-up"), workers.can("receives-traces")) == (False, True, True)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("workers: 6000", "workers: 20", "have all started after 2 s"),
        ("basic: {spans: [0, 10]", "basic: {spans: [9, 3]", "level basic: spans: the lower bound, 9, is above"),
        ("basic: {spans: [0, 10]", "basic: {spans: [0, 0]", "no trace would have a span"),
        ("attributes: [0, 10]", "attributes: [0, 1001]", "the upper bound, 1001, is above 1000"),
        ("pipeline: mutate", "pipeline: discard", "no pipeline 'discard' sends to the generator"),
        ("pipeline: mutate", "edges: 1\n      edge_pipeline: basic", "no pipeline 'basic' sends to the next Collector"),
        ("repetitions: 3", "repetitions: 3\n  window_s: 9", "as long as its requests take"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, says: str) -> None:
    with pytest.raises(SpecError) as wrong:
        parse_experiment(SPEC.replace(old, new, 1), "test", LAB.grammar)
    assert says in "\n".join(problem.text for problem in wrong.value.problems)


def test_spans_come_back_only_to_a_generator_that_receives_them() -> None:
    load = SPEC[SPEC.index("  generator: traces") : SPEC.index("factors:")]
    other = "  generator: telemetrygen\n  schedule: {kind: span-rate, spans_per_s: 10}\n"
    with pytest.raises(SpecError) as wrong:
        parse_experiment(
            SPEC.replace(load, other).replace("repetitions: 3", "repetitions: 3\n  warm_up_s: 1\n  window_s: 5"),
            "test",
            LAB.grammar,
        )
    assert "telemetrygen does not receive what it sent" in "\n".join(one.text for one in wrong.value.problems)


# --- judgement ----------------------------------------------------------------------------------------------------

# Of the sampler's fixture (mode hash_seed, seed 22): which of these IDs it keeps is asserted below.
IDS = [f"{number:032x}" for number in range(1, 33)]


def trial(rows: list[str], keeps: str = "all") -> TrialData:
    """A trial whose load began at `START_NS`, with a window of 20 s."""
    text = "".join(HEADER) + "".join(rows)
    frame = pl.read_csv(text.encode(), skip_lines=1, schema_overrides={"outcome": pl.Categorical})
    settings = {"keeps": keeps, "sampling_percent": 25}
    record = TrialRecord.of(
        HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings=settings),
        WindowPart(window=Window(load_start_ns=START_NS, start_ns=START_NS, end_ns=START_NS + 20 * SECOND_NS)),
    )
    return TrialData(record, {"trace-log": {"0": frame}, "generator": {"0": WORKERS}})


def row(trace_id: str, outcome: str, at_s: float, send_ms: float = 2, receive_ms: float | None = 10) -> str:
    """A trace that was sent `at_s` after the load's start."""
    send_ns, end_ns = 0, round(send_ms * 1e6)
    back_ns = "" if receive_ms is None else end_ns + round(receive_ms * 1e6)
    logged_ns = back_ns or end_ns
    times = f"{START_NS + round(at_s * SECOND_NS)},0,{send_ns},{end_ns},{end_ns},{back_ns},{logged_ns}"
    return f"{trace_id},0,0,{outcome},0,5,5,5,0,0,16,1,0,0,0,{times}\n"


def _series(values: list[int]) -> Any:
    t_ns = START_NS + SECOND_NS * np.arange(len(values), dtype=np.int64)
    return Series(t_ns, np.array(values, dtype=np.int64))


WORKERS = {name: _series([5 * second for second in range(25)]) for name in ("workers", "connections_opened")}


def test_delays_are_quantiles_of_what_was_sent_in_the_window() -> None:
    data = trial(
        [row(IDS[0], "success", at_s, 2 + at_s, 10 + at_s) for at_s in range(5)] + [row(IDS[1], "success", 21)]
    )
    assert delays.delay_ms(data, delays.SEND, 0.5) == pytest.approx(4)
    assert delays.delay_ms(data, delays.RECEIVE, 1.0) == pytest.approx(14)
    assert delays.delay_ms(data, delays.ROUND_TRIP, 1.0) == pytest.approx(20)
    assert delays.mean_delay_ms(data, delays.ROUND_TRIP) == pytest.approx(16)


def test_the_first_error_has_the_rate_and_the_workers_before_it() -> None:
    rows = [row(IDS[0], "success", second / 10) for second in range(120)]
    data = trial([*rows, row(IDS[1], "send error", 12.0, 500, None), row(IDS[2], "send timeout", 13.0, 500, None)])
    found = delays.reached(data)
    assert (found.outcome, found.at_s, found.workers) == ("send error", pytest.approx(12.5), 60)
    assert found.connections == 60
    # From 2.5 s to 12.5 s: 95 traces that succeeded, and the one that failed.
    assert found.traces_per_s == pytest.approx(9.6)
    assert delays.bound(data) is None


def test_without_an_error_the_end_is_a_bound() -> None:
    data = trial([row(IDS[0], "success", second / 10) for second in range(200)])
    assert delays.reached(data).outcome is None
    assert delays.reached(data).at_s == pytest.approx(20)
    assert delays.bound(data) == "at least"


def test_a_trace_that_the_sampler_does_not_keep_has_not_failed() -> None:
    predicted = kept(trace_ids(IDS), "hash_seed", 25, 22).tolist()
    assert 0 < sum(predicted) < len(IDS)
    late = [row(one, "receive timeout", 1, 2, None) for one in IDS]
    expected = [one for one, keep in zip(IDS, predicted, strict=True) if keep]
    assert delays.failures(trial(late, "sampled"))["trace_id"].to_list() == expected
    assert len(delays.failures(trial(late, "all"))) == len(IDS)
    assert len(delays.failures(trial(late, "some"))) == 0


def test_lost_are_the_spans_that_were_accepted_and_expected_back() -> None:
    late = [row(one, "receive timeout", 1, 2, None).replace("5,5,5", "5,5,3") for one in IDS]
    rejected = row(IDS[0], "send error", 1, 2, None).replace("5,5,5", "5,5,0")
    expected = int(kept(trace_ids(IDS), "hash_seed", 25, 22).sum())
    assert delays.spans_lost(trial([*late, rejected])) == 2 * len(IDS)
    assert delays.spans_lost(trial([*late, rejected], "sampled")) == 2 * expected
    with pytest.raises(NotDerivableError):
        delays.spans_lost(trial(late, "some"))


def test_what_was_accepted_is_counted_by_the_log_of_the_load() -> None:
    rows = [row(IDS[0], "success", 1), row(IDS[1], "receive timeout", 1, 2, None), row(IDS[2], "shutdown", 1, 2, None)]
    rejected = [row(IDS[3], outcome, 1, 2, None) for outcome in ("send error", "send timeout")]
    assert delays.spans_accepted(trial([*rows, *rejected])) == 15


def test_how_long_a_rejection_takes_is_no_delay_until_accepted() -> None:
    rejected = [row(one, "send error", 1, 500, None) for one in IDS[:9]]
    assert delays.delay_ms(trial([row(IDS[10], "success", 1, 2), *rejected]), delays.SEND, 0.99) == pytest.approx(2)


def test_what_failed_before_or_after_the_window_is_not_in_its_rate() -> None:
    data = trial([row(IDS[0], "send error", at_s, 2, None) for at_s in (1, 2, 21)])
    assert METRICS["traces_failed_per_s"].compute(data) == pytest.approx(2 / 20)


def test_a_trace_that_could_not_be_sent_failed_when_it_was_due() -> None:
    unsent = row(IDS[0], "send error", 1, 2, None).replace(",0,2000000,2000000,,2000000", ",,,,,0")
    data = trial([row(IDS[1], "success", 3), unsent])
    assert data.streams["trace-log"]["0"]["send_start_after_ns"].to_list() == [0, None]
    assert METRICS["traces_failed_per_s"].compute(data) == pytest.approx(1 / 20)


def test_rates_of_traces_and_their_spans() -> None:
    # Some of its spans came back, and then no more in time: it is returned, and lost.
    partly = row(IDS[1], "receive timeout", 3, 2, 5).replace("5,5,5", "5,5,3")
    rejected = [row(one, "send error", 3, 2, None).replace("5,5,5", "5,5,0") for one in IDS[2:5]]
    data = trial([row(IDS[0], "success", 3), partly, *rejected, row(IDS[5], "success", 21)])
    traces = {"sent": 5, "accepted": 2, "returned": 1, "refused": 3, "lost": 1, "failed": 4}
    spans = {"sent": 25, "returned": 8, "refused": 15, "lost": 2}
    for kind, counts in {"traces": traces, "spans": spans}.items():
        found = {name: METRICS[f"{kind}_{name}_per_s"].compute(data) for name in counts}
        assert found == pytest.approx({name: count / 20 for name, count in counts.items()})


def test_nobody_knows_how_many_were_lost_where_a_rule_drops_traces() -> None:
    data = trial([row(IDS[0], "receive timeout", 3, 2, None)], "some")
    for name in ("traces_lost_per_s", "spans_lost_per_s"):
        with pytest.raises(NotDerivableError):
            METRICS[name].compute(data)


@pytest.mark.parametrize(
    ("delivered", "keeps", "lost", "says"),
    [
        (100, "all", 0.0, ""),
        (60, "all", 0.4, "the Collector accepted 100 spans, of which 60 delivered and 10 dropped"),
        (90, "all", 0.1, ""),
        # What a rule drops is no loss, and the sink does not know which spans these are.
        (60, "some", None, ""),
    ],
)
def test_a_loss_between_the_collector_and_the_sink_is_seen(
    delivered: float, keeps: str, lost: float | None, says: str
) -> None:
    logged = trial([row(IDS[0], "success", 1, 2, None)], keeps)
    counted = {"accepted_spans": _series([0, 100]), "refused_spans": _series([0, 0])}
    counted |= dict.fromkeys(("send_failed_spans", "dropped_spans"), _series([0, 10]))
    values = {"spans_delivered": delivered, "traces_sent": 1.0, **dict.fromkeys(OUTCOMES, 0.0), "traces_returned": 1.0}
    streams = {"collectors": {LOCAL: {"collector": counted}}, "results": {"sink": Results(values=values)}}
    data = TrialData(logged.trial, {**logged.streams, **streams})
    assert "; ".join(spans_accounted_for(data))[: len(says) or None] == says
    if lost is None:
        with pytest.raises(NotDerivableError, match="does not know which"):
            METRICS["spans_lost_fraction"].compute(data)
    else:
        assert METRICS["spans_lost_fraction"].compute(data) == pytest.approx(lost)


def test_each_stage_drops_by_its_own_pipeline() -> None:
    """The edge's full queue rejected 7 spans, and 1 was not sent. The next stage had accepted what it dropped."""
    stages = {"edge-1": {"send_failed_spans": 1, "dropped_spans": 8}, "collector": {"dropped_spans": 20}}
    counted = {name: {counter: _series([0, of]) for counter, of in each.items()} for name, each in stages.items()}
    settings = {"pipeline": "batched", "edge_pipeline": "edge"}
    record = trial([]).trial.model_copy(update={"settings": settings})
    assert spans_dropped(TrialData(record, {"collectors": {LOCAL: counted}})) == 21


def test_what_the_sampler_keeps_is_predicted_with_the_settings_of_its_pipeline() -> None:
    pipeline = yaml.safe_load((ROOT / "collector" / "pipelines" / "sample.yaml").read_text())
    sampler = pipeline["processors"]["probabilistic_sampler"]
    assert (sampler["mode"], sampler["hash_seed"]) == (SAMPLER_MODE, HASH_SEED)


def test_a_level_without_settings_sends_the_published_basic_plan() -> None:
    settings = CollectorLevelSettings(pipeline="basic")
    assert settings.plan()["spans"] == {"min": 0, "max": 10}
    assert settings.plan()["span_duration_ms"] == {"min": 0, "max": 100}
    assert settings.plan()["risky_probability"] == 0
    assert (settings.send_timeout_ms, settings.receive_timeout_ms) == (5000, 10_000)
