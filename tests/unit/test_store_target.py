"""The target store: what its experiments may say, what is put on the engine, its look-ups by ID, and its judgement."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, get_args

import polars as pl
import pytest

from lab.analysis.checks import judge
from lab.analysis.metrics import values
from lab.backend import BACKENDS
from lab.backend.http import TIMEOUT_S, Http
from lab.cli import LAB
from lab.engine.driver import StartFailed
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.record.data import TrialData
from lab.record.results import Results, write_results
from lab.record.search import Search, write_search
from lab.record.traces import read_lookups, write_lookups
from lab.record.trial import ContainerRecord, HeadPart, StartPart, TrialRecord, Window, WindowPart
from lab.spec.experiment import Experiment
from lab.spec.parse import parse_experiment
from lab.spec.problems import SpecError
from lab.target.store import deployment, lookup
from lab.target.store.settings import STORES, StoreLevel, StoreLevelSettings
from tests.fake import FakeClock
from tests.observed import SECOND_NS, START_NS, counters
from tests.repository import ROOT
from tests.unit.test_jaeger import span
from tests.unit.test_traces import HEADER, row
from tests.unit.test_traces_search import FOUND, short

SPEC = (ROOT / "experiments" / "stores.yaml").read_text()
TARGET = LAB.targets["store"]


def experiment(old: str = "", new: str = "") -> Experiment:
    return parse_experiment(SPEC.replace(old, new), "test", LAB.grammar)


# --- declaration --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "backend: zipkin, transport: zipkin",
            "backend: zipkin",
            "level zipkin: zipkin does not take transport grpc; expected zipkin",
        ),
        ("backend: zipkin", "backend: zipkn", 'expected "jaeger" or "zipkin"; did you mean \'zipkin\'?'),
        ("backend: zipkin", "backend: jaeger-badger", 'expected "jaeger" or "zipkin"'),
        ("spans: [10, 10]", "spans: [10, 9]", "the lower bound, 10, is above the upper one, 9"),
        ("spans: [10, 10]", "max_traces: 0", "max_traces"),
        ("warm_up_s: 15", "warm_up_requests: 15", "a store's load has no requests; expected warm_up_s"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, says: str) -> None:
    with pytest.raises(SpecError) as wrong:
        experiment(old, new)
    assert says in "\n".join(f"{problem.path} {problem.text}" for problem in wrong.value.problems)


@pytest.mark.parametrize(
    ("load", "says"),
    [
        ("telemetrygen\n  schedule: {kind: span-rate, spans_per_s: 10}", "telemetrygen does not log its traces"),
        ("open-loop\n  schedule: {kind: open-loop, requests_per_s: 10}", "open-loop sends http, a store takes otlp"),
    ],
)
def test_a_generator_whose_traces_cannot_be_looked_up_is_rejected(load: str, says: str) -> None:
    own = SPEC[SPEC.index("traces\n  schedule") : SPEC.index("\nfactors:")]
    with pytest.raises(SpecError) as wrong:
        experiment(own, load)
    assert says in "\n".join(problem.text for problem in wrong.value.problems)


def test_it_needs_the_stores_of_its_levels() -> None:
    needs = TARGET.declaration.needs(experiment("spans: [10, 10]}", "memory_mib: 256}"))
    assert (needs.services, needs.images, needs.own_cpus) == (("jaeger", "zipkin"), ("jaeger", "zipkin"), True)
    assert needs.system_bytes == 256 << 20
    assert TARGET.profiled(experiment().baseline_level(), "-agentpath:x") is None


# --- deployment ---------------------------------------------------------------------------------------------------


def place(driver: Any = None) -> Place:
    return Place(ROOT, CpuSplit((0,), (1,)), driver, FakeClock(), ROOT / ".lab" / "faults.json")


def level(**settings: Any) -> StoreLevel:
    return StoreLevel("x", StoreLevelSettings.model_validate(settings))


ZIPKIN = {"backend": "zipkin", "transport": "zipkin"}


@pytest.mark.parametrize(
    ("settings", "environment"),
    [
        (
            {"memory_mib": 800, "max_traces": 7, "environment": {"A": "$1"}},
            {"GOMAXPROCS": "1", "GOMEMLIMIT": "500MiB", "MAX_TRACES": "7", "A": "$$1"},
        ),
        (
            {**ZIPKIN, "memory_mib": 800, "max_traces": 7, "spans": (1, 9)},
            {"JAVA_OPTS": "-Xmx500m -XX:+ExitOnOutOfMemoryError", "MEM_MAX_SPANS": "63"},
        ),
    ],
)
def test_the_stack_gives_a_store_its_limits_and_cpus(
    settings: Mapping[str, Any], environment: Mapping[str, str]
) -> None:
    name = settings.get("backend", "jaeger")
    made = deployment.stack(level(**settings), place())
    assert (made.services, made.environment) == ((name,), {})
    assert made.overlay["services"] == {
        name: {"cpuset": "${SERVICE_CPUS:-}", "mem_limit": "800m", "environment": environment}
    }


@pytest.mark.parametrize("name", STORES)
def test_each_store_is_one_service_with_limits_and_takes_what_is_sent(name: str) -> None:
    store = BACKENDS[name]
    services: Any = deployment.stack(level(backend=name), place()).overlay["services"]
    assert services[store.services[0]]["environment"].keys() == store.storage.keys()
    assert (len(store.services), store.keeps_traces) == (1, True)
    assert store.takes.keys() <= set(get_args(StoreLevelSettings.model_fields["transport"].annotation))
    assert store.takes


def test_the_variables_of_the_limits_are_those_that_the_stores_read() -> None:
    assert "${env:MAX_TRACES:-" in (ROOT / "backends" / "jaeger" / "memory.yaml").read_text()
    assert "MEM_MAX_SPANS:" in (ROOT / "compose.yaml").read_text()


@pytest.mark.parametrize(
    ("settings", "host", "port"),
    [({}, "jaeger", 4317), ({"transport": "http"}, "jaeger", 4318), (ZIPKIN, "zipkin", 9411)],
)
def test_the_load_goes_to_the_port_of_its_format(settings: Mapping[str, Any], host: str, port: int) -> None:
    deployed = deployment.StoreDeployment(level(**settings), place(), Path("/out"))
    assert (deployed.endpoint().host, deployed.endpoint().port) == (host, port)
    assert deployed.roles() == {host: "store"}
    assert deployed.request(deployed.level)["returns"] is False
    assert deployed.request(deployed.level)["transport"] == settings.get("transport", "grpc")


def test_a_store_that_ends_before_it_is_ready_is_named(tmp_path: Path) -> None:
    driver = SimpleNamespace(
        start=lambda names: None,
        containers=lambda: {"jaeger": SimpleNamespace(running=False, exit_code=1)},
        last_log_lines=lambda name, count: ["no such option"],
    )
    with pytest.raises(StartFailed, match="jaeger ended with exit code 1"):
        deployment.StoreDeployment(level(), place(driver), tmp_path).ready(())


def in_jaeger(trace_id: str, spans: int) -> dict[str, Any]:
    """Return an answer of Jaeger with one trace."""
    processes = {"p1": {"serviceName": "a"}}
    return {"data": [{"traceID": trace_id, "processes": processes, "spans": [span("1", None, "server")] * spans}]}


def test_accepted_traces_are_looked_up_before_the_store_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    driver = SimpleNamespace(stop=lambda names: done.append(f"stop {' '.join(names)}"))
    rows = [row(IDS[0], "success", 1), row(IDS[1], "send error", 1), row(IDS[2], "success", 1)]
    (tmp_path / "traces-0.csv").write_text("".join([*HEADER, *rows]))

    def get(self: object, port: str, path: str) -> bytes:
        done.append(path)
        return json.dumps(in_jaeger("1", 5)).encode()

    monkeypatch.setattr(Http, "get", get)
    deployment.StoreDeployment(level(), place(driver), tmp_path).drain()
    assert done[0] == f"/api/traces?traceID={IDS[0]}&traceID={IDS[2]}"
    # The second one is requested until the bound.
    assert set(done[1:-1]) == {f"/api/traces?traceID={IDS[2]}"}
    assert done[-1] == "stop jaeger observer"
    assert read_lookups(tmp_path / "lookups.csv").rows() == [(IDS[0], 5), (IDS[2], 0)]


# --- looking up ---------------------------------------------------------------------------------------------------

IDS = [f"{number:032x}" for number in range(1, 400)]


def test_only_accepted_traces_are_wanted_or_a_sample_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    traces = pl.DataFrame({"trace_id": IDS, "spans_sent": 3, "outcome": ["success", "send error", "empty"] * 133})
    assert lookup.wanted(traces) == dict.fromkeys(IDS[::3], 3)
    monkeypatch.setattr(lookup, "MOST_TRACES", 10)
    drawn = lookup.wanted(traces)
    assert len(drawn) == 10
    assert drawn.keys() < set(IDS[::3])
    assert drawn == lookup.wanted(traces)
    assert [*drawn] != IDS[:30:3]


class Storing:
    """A store that has some traces, some only after a while, and that may not answer at first."""

    def __init__(self, has: Mapping[str, int], later: Mapping[str, int] | None = None, fails: int = 0) -> None:
        self.has, self.later, self.fails = dict(has), later or {}, fails
        self.requests = list[Sequence[str]]()

    def __call__(self, ids: Sequence[str]) -> Mapping[str, int]:
        self.requests.append(ids)
        if len(self.requests) <= self.fails:
            raise ConnectionRefusedError
        answer = {one: self.has[one] for one in ids if one in self.has}
        self.has.update(self.later)
        return answer


def test_traces_are_requested_by_the_hundred() -> None:
    store, clock = Storing(dict.fromkeys(IDS, 5)), FakeClock()
    assert lookup.looked_up(store, dict.fromkeys(IDS, 5), clock) == store.has
    assert list(map(len, store.requests)) == [100, 100, 100, 99]
    assert clock.now_s() == 0


def test_a_request_that_fails_neither_ends_the_others_nor_loses_its_traces() -> None:
    store, clock = Storing(dict.fromkeys(IDS[100:], 5), fails=1), FakeClock()
    assert lookup.looked_up(store, dict.fromkeys(IDS, 5), clock) == {**dict.fromkeys(IDS[:100], 0), **store.has}
    assert [ids[0] for ids in store.requests[:5]] == [IDS[0], IDS[100], IDS[200], IDS[300], IDS[0]]


def test_a_trace_that_is_stored_late_or_in_parts_is_found() -> None:
    store = Storing({"a": 5, "b": 2}, later={"b": 5, "c": 5})
    assert lookup.looked_up(store, {"a": 5, "b": 5, "c": 5}, FakeClock()) == {"a": 5, "b": 5, "c": 5}
    assert store.requests == [["a", "b", "c"], ["b", "c"]]


def test_a_trace_that_was_evicted_is_requested_until_the_bound() -> None:
    store, clock = Storing({"a": 5}), FakeClock()
    assert lookup.looked_up(store, {"a": 5, "b": 5}, clock) == {"a": 5, "b": 0}
    assert clock.now_s() == lookup.BOUND_S


def test_a_store_that_does_not_answer_is_called_again_until_the_bound() -> None:
    assert lookup.looked_up(Storing({"a": 5}, fails=1), {"a": 5}, FakeClock()) == {"a": 5}
    # What it has is then not known.
    assert lookup.looked_up(Storing({"a": 5}, fails=99), {"a": 5}, FakeClock()) == {}


def test_a_store_that_hangs_is_given_up() -> None:
    store, clock = Storing({}, fails=99), FakeClock()

    def hanging(ids: Sequence[str]) -> Mapping[str, int]:
        clock.sleep(TIMEOUT_S)
        return store(ids)

    assert lookup.looked_up(hanging, dict.fromkeys(IDS, 5), clock) == {}
    assert clock.now_s() <= 2 * (lookup.BOUND_S + TIMEOUT_S)


@pytest.mark.parametrize(
    ("name", "path", "answer"),
    [
        (
            "jaeger",
            "/api/traces?traceID=0a&traceID=0b",
            {**in_jaeger("a", 2), "errors": [{"code": 404, "msg": "trace not found"}]},
        ),
        ("zipkin", "/api/v2/traceMany?traceIds=0a,0b,1", [[{"traceId": "a", "id": "1"}, {"traceId": "a", "id": "2"}]]),
    ],
)
def test_each_api_gets_requests_for_many_traces(
    name: str, path: str, answer: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths: list[str] = []

    def get(self: object, port: str, path: str) -> bytes:
        paths.append(path)
        return json.dumps(answer).encode()

    monkeypatch.setattr(Http, "get", get)
    (found,) = BACKENDS[name]().traces(["0a", "0b"])
    assert (found["trace_id"], len(found["spans"])) == ("a", 2)
    assert paths == [path]


# --- judgement ----------------------------------------------------------------------------------------------------

CORES = {"jaeger": 0.2, "traces": 0.3, "observer": 0.01}
ROLES = {"jaeger": "store", "traces": "generator", "observer": "observer"}
SENT = 190
"""Ten traces of five spans per second, for 19 s."""
COUNTED = {
    "load_s": 19.0,
    "traces_sent": float(SENT),
    "traces_returned": float(SENT),
    **dict.fromkeys(("traces_accepted", "send_timeouts", "send_errors", "receive_timeouts", "shutdowns"), 0.0),
}
Judged = Callable[..., TrialData]


def growing(since_s: int) -> list[dict[str, Any]]:
    """Return a store whose RSS is 10 MiB, and a MiB more for each second."""
    return [{"kind": "slow", "name": "jaeger", "memory_rss_bytes": (10 + since_s) << 20}]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Return what judges a trial whose records are as a good one's, but for what is given."""

    def made(
        found: Mapping[str, int] | None = None,
        rows: list[str] | None = None,
        generated: Mapping[str, float] = COUNTED,
        cores: Mapping[str, float] = CORES,
        oom_killed: bool = False,
        search: Search | None = None,
        **observed: Any,
    ) -> TrialData:
        ids = IDS[:SENT]
        rows = [row(one, "success", number / 10) for number, one in enumerate(ids)] if rows is None else rows
        (tmp_path / "traces-0.csv").write_text("".join([*HEADER, *rows]))
        header = {"format": "tollbooth.generator", "version": 1, "t_ns": START_NS, "interval_ns": SECOND_NS}
        reading = {"t_ns": START_NS, "workers": 0, "connections_opened": 0}
        (tmp_path / "generator-0.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(reading)}\n")
        (tmp_path / "counters.jsonl").write_text(counters(cores, more=growing, **observed))
        write_lookups(tmp_path, dict.fromkeys(ids, 5) if found is None else found)
        write_results(tmp_path, "generator", Results(values=generated))
        if search:
            write_search(tmp_path, search)
        containers = {
            name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=oom_killed, exit_code=0)
            for name, role in ROLES.items()
        }
        start_ns, end_ns = START_NS + 4 * SECOND_NS, START_NS + 16 * SECOND_NS
        record = TrialRecord.of(
            HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings={}),
            WindowPart(window=Window(load_start_ns=START_NS, start_ns=start_ns, end_ns=end_ns)),
            StartPart(generator_cpus=[1], containers=containers),
        )
        return judge(tmp_path, record, TARGET.judgement)

    return made


def test_a_good_trial_is_valid_and_its_spans_have_a_cost(judged: Judged) -> None:
    data = judged()
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    # 0.2 cores at 50 spans per second.
    assert found["cpu_per_span_us"] == pytest.approx(4000)
    assert found["traces_accepted_per_s"] == pytest.approx(10)
    assert (found["traces_found_fraction"], found["traces_found_per_s"]) == (1, pytest.approx(10))
    assert (found["spans_held"], found["traces_looked_up"]) == (5 * SENT, SENT)
    assert found["send_delay_p50_ms"] == pytest.approx(2)
    # The last reading before the last answer is 18 s after the load's start, 21 s after the record's.
    assert found["memory_store_end_mib"] == pytest.approx(31)
    assert found["memory_per_span_held_bytes"] == pytest.approx((18 << 20) / (5 * SENT))
    assert not {"receive_delay_p50_ms", "first_error_queue"} & found.keys()


def test_evicted_traces_are_a_result(judged: Judged) -> None:
    """The first half of the load is gone: of the window's 120 traces, 65 were found."""
    data = judged(found={one: 5 * (number >= 95) for number, one in enumerate(IDS[:SENT])})
    assert data.trial.valid
    found = values(data, TARGET.judgement.metrics)
    assert found["traces_found_fraction"] == pytest.approx(65 / 120)
    assert found["traces_found_per_s"] == pytest.approx(10 * 65 / 120)
    assert found["spans_held"] == 5 * 95


def test_a_search_finds_the_capacity_of_a_store(judged: Judged) -> None:
    search = FOUND.model_copy(update={"trials": [short(100, 0), short(104.04, 8, "delay")]})
    data = judged(search=search)
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    assert found["capacity_spans_per_s"] == pytest.approx(5 * found["capacity_traces_per_s"])
    assert found["traces_found_fraction"] == 1
    # The short trials filled the store, too.
    assert not {"spans_held", "memory_per_span_held_bytes"} & found.keys()
    stopped = search.model_copy(update={"stopped": "its lowest rate fails", "low": None, "high": None})
    assert judged(search=stopped).trial.reasons == ["no rate was found: its lowest rate fails"]
    (low, _) = judged(search=search, cores={**CORES, "traces": 0.75}).trial.reasons[1:]
    assert "traces used 75% of their CPUs at 100 traces/s" in low


@pytest.mark.parametrize(("lost", "reasons"), [(1, []), (2, ["98.9% were found by ID (limit 99%)"])])
def test_a_search_is_rejected_if_the_traces_at_its_rate_are_not_found(
    judged: Judged, lost: int, reasons: list[str]
) -> None:
    search = FOUND.model_copy(update={"trials": [short(100, 0), short(104.04, 8, "delay")]})
    data = judged(search=search, found={one: 5 * (number >= lost) for number, one in enumerate(IDS[:SENT])})
    assert [reason.rpartition(", ")[2] for reason in data.trial.reasons] == reasons


def test_a_look_up_without_an_answer_is_not_a_lost_trace(judged: Judged) -> None:
    data = judged(found=dict.fromkeys(IDS[1:SENT], 5))
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    assert (found["traces_looked_up"], found["traces_found_fraction"], found["spans_held"]) == (SENT - 1, 1, 5 * SENT)
    (reason,) = judged(found=dict.fromkeys(IDS[2:SENT], 5)).trial.reasons
    assert reason == "the store did not answer the look-ups of 2 of 190 traces (limit 1%): see its log"


def test_a_trace_without_all_of_its_spans_was_not_found(judged: Judged) -> None:
    found = values(judged(found=dict.fromkeys(IDS[:SENT], 4)), TARGET.judgement.metrics)
    assert found["traces_found_fraction"] == 0
    assert found["spans_held"] == 4 * SENT


def test_a_sample_represents_all(judged: Judged, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lookup, "MOST_TRACES", SENT // 2)
    data = judged(found=dict.fromkeys(IDS[:SENT:2], 5))
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    assert (found["traces_looked_up"], found["spans_held"]) == (SENT / 2, 5 * SENT)
    assert found["traces_found_per_s"] == pytest.approx(10)


def test_the_first_error_is_a_trace_that_was_not_accepted(judged: Judged) -> None:
    rows = [row(one, "success", number / 10) for number, one in enumerate(IDS[:100])]
    rows += [row(IDS[100], "send timeout", 10, 5000, None)]
    generated = {**COUNTED, "traces_sent": 101.0, "traces_returned": 100.0, "send_timeouts": 1.0}
    data = judged(rows=rows, generated=generated)
    assert data.trial.reasons == []
    assert values(data, TARGET.judgement.metrics)["first_error_at_s"] == pytest.approx(15)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"generated": {}}, "not counted: load_s, traces_sent"),
        ({"rows": [row(IDS[0], "send error", 1)]}, "the store accepted no trace"),
        ({"found": {}}, "the store did not answer the look-ups of 190 of 190 traces"),
        ({"generated": {**COUNTED, "traces_planned": 400.0}}, "the generator generated 190 traces, planned were 400"),
        ({"generated": {**COUNTED, "shutdowns": 3.0}}, "sent 190 traces, and knows what became of 193"),
        ({"cores": {**CORES, "traces": 0.8}}, "traces used 80% of their CPUs"),
        ({"steal": 0.2}, "the host stole 20 %"),
        ({"oom_killed": True}, "ran out of memory"),
    ],
)
def test_a_bad_trial_is_rejected_with_its_reason(judged: Judged, wrong: Mapping[str, Any], says: str) -> None:
    assert says in "; ".join(judged(**wrong).trial.reasons)
