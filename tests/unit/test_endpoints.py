"""Several endpoints that take spans in each other's place: deployed, scraped, shared out, judged and shown."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.analysis.claims.judge import judge
from lab.analysis.claims.spec import load_claims
from lab.analysis.metrics.endpoints import accepting, first_endpoint_share, spans_dropped_fraction
from lab.analysis.metrics.window import known
from lab.backend.collectors import PORTS, Collectors
from lab.backend.http import Http
from lab.engine.scraped import BOUND_S
from lab.record.data import TrialData
from lab.record.faults import Action, Injection
from lab.record.results import Results
from lab.record.summary import Estimate, Summary
from lab.record.traces import read_collectors
from lab.record.trial import LOCAL, ContainerRecord, TrialRecord, Window
from lab.report.endpoint_courses import STEP_S, endpoint_course
from lab.report.endpoint_figure import endpoints
from lab.report.endpoints import DROPPED, LOST, SHARE, endpoints_table
from lab.report.figures.over_time import Line
from lab.report.source import Observed, Source
from lab.spec import load_experiment
from lab.spec.problems import SpecError
from lab.target import scraping
from lab.target.mesh.deployment import MeshDeployment
from lab.target.mesh.system import System
from tests import claim_runs
from tests.benches import place
from tests.fake import FakeDriver
from tests.labs import LAB, MESH, METRICS, level, parse
from tests.observed import SECOND_NS, START_NS
from tests.repository import ROOT

EXPERIMENT = ROOT / "experiments" / "span-endpoints.yaml"
NAMES = tuple(PORTS)
LOAD_S, BEGIN_S, END_S = 40, 10, 30
PER_S = 300


# --- the experiment -----------------------------------------------------------------------------------------------


def test_each_routing_meets_each_sickness_of_one_endpoint() -> None:
    levels = {one.name: one.settings for one in load_experiment(EXPERIMENT, LAB.grammar).levels()}
    assert len(levels) == 3 * 6
    sick = {name: [(fault.kind, fault.target) for fault in one.faults] for name, one in levels.items()}
    assert {name for name, faults in sick.items() if not faults} == {"any/healthy", "in-turn/healthy", "one/healthy"}
    assert {target for faults in sick.values() for _, target in faults} == {"collector-a"}
    assert len({kind for faults in sick.values() for kind, _ in faults}) == 5
    assert {one.backend for one in levels.values()} == {"collectors"}


def test_only_a_backend_of_the_level_can_be_sick() -> None:
    text = EXPERIMENT.read_text()
    assert parse(text)
    with pytest.raises(SpecError) as wrong:
        parse(text.replace("backend: collectors", "backend: sink").replace("claims: [span-endpoints]", ""))
    texts = "\n".join(problem.text for problem in wrong.value.problems)
    assert "frozen has no target 'collector-a' here; there are: a1, a2, gateway, sink" in texts
    assert "answer-delay has no target 'collector-a' here; there is none" in texts


# --- deployed and scraped -----------------------------------------------------------------------------------------


def deployment(driver: FakeDriver, out: Path, backend: str = "collectors") -> MeshDeployment:
    of = level("any", "otel-streaming", "duo", backend=backend)
    return MESH.deployment(of, place(driver), out)


def test_the_endpoints_are_backends_and_are_scraped(tmp_path: Path) -> None:
    driver = FakeDriver()
    system = deployment(driver, tmp_path / "out")
    system.deploy({}, ("observer",))
    assert driver.deployment is not None
    assert driver.deployment.services == ("gateway", "a1", "a2", *NAMES, "sink", "scraper", "observer")
    addresses = ",".join(f"{name}=http://{name}:8888/metrics" for name in NAMES)
    assert driver.deployment.environment["COLLECTORS"] == addresses
    roles = system.roles()
    assert {name for name, role in roles.items() if role == "backend"} == {*NAMES, "sink"}
    assert roles["scraper"] == "scraper"


def test_without_endpoints_nothing_is_scraped(tmp_path: Path) -> None:
    driver = FakeDriver()
    system = deployment(driver, tmp_path / "out", "sink")
    system.deploy({}, ())
    assert driver.deployment is not None
    assert driver.deployment.services == ("gateway", "a1", "a2", "sink")
    assert "COLLECTORS" not in driver.deployment.environment
    assert "scraper" not in system.roles()
    driver.done.clear()
    scraping.begin(place(driver), ())
    scraping.end(place(driver), tmp_path, ())
    assert driver.done == []


def test_the_scraper_runs_before_a_load_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(System, "ready", lambda *_: {})
    driver = FakeDriver()
    system = deployment(driver, tmp_path / "out")
    system.deploy({}, ())
    assert "scraper" not in driver.running
    system.ready()
    assert "scraper" in driver.running


def test_the_scraper_reads_once_more_before_it_is_stopped(tmp_path: Path) -> None:
    driver = FakeDriver()
    header = {"format": "tollbooth.collector", "version": 1, "interval_ns": SECOND_NS, "t_ns": 0}
    line = {"t_ns": driver.time_ns() + SECOND_NS, "name": NAMES[0], "failed_scrapes": 0, "accepted_spans": 1}
    path = tmp_path / scraping.RECORD
    path.write_text(f"{json.dumps(header)}\n{json.dumps({**line, 't_ns': driver.time_ns()})}\n")
    began_s = driver.clock.now_s()
    scraping.await_scrape(place(driver), tmp_path)
    # Nothing is written meanwhile.
    assert driver.clock.now_s() - began_s >= BOUND_S
    path.write_text(f"{json.dumps(header)}\n{json.dumps({**line, 't_ns': driver.time_ns() + SECOND_NS})}\n")
    began_s = driver.clock.now_s()
    scraping.end(place(driver), tmp_path, NAMES)
    assert driver.done == ["stop"]
    assert driver.clock.now_s() - began_s < BOUND_S


@pytest.mark.parametrize("silent", [None, "SINK_PORT", *PORTS.values()])
def test_they_are_ready_once_the_sink_and_each_of_them_is(silent: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    def send(_: Http, method: str, port_variable: str, path: str, body: bytes | None = None) -> tuple[int, bytes]:
        if port_variable == silent:
            raise ConnectionRefusedError
        return (405, b"") if path == "/v1/traces" else (200, b"ok")

    monkeypatch.setattr(Http, "send", send)
    assert Collectors().ready() is (silent is None)


# --- shared out ---------------------------------------------------------------------------------------------------

Rates = Mapping[str, tuple[float, float]]
"""Spans per second of each endpoint: usually, and while the fault is there."""
EQUAL: Rates = dict.fromkeys(NAMES, (PER_S / 3, PER_S / 3))


def at(seconds: float) -> int:
    return START_NS + round(seconds * SECOND_NS)


def scraped(folder: Path, rates: Rates, silent: str = "", killed: str = "") -> Mapping[str, Any]:
    """What the scraper wrote. Of one endpoint nothing is known during the fault, or it counts anew after it."""
    lines: list[Mapping[str, Any]] = [{"format": "tollbooth.collector", "version": 1, "interval_ns": SECOND_NS}]
    for name, (usual, meanwhile) in rates.items():
        for second in range(-2, LOAD_S + 2):
            there = min(max(second - BEGIN_S, 0), END_S - BEGIN_S)
            if name in (silent, killed) and 0 < there < END_S - BEGIN_S:
                lines.append({"t_ns": at(second), "name": name, "failed_scrapes": 1, "error": "timeout"})
                continue
            accepted = usual * (second + 2 - there) + meanwhile * there
            if name == killed and there:
                accepted -= usual * (BEGIN_S + 2)
            lines.append({"t_ns": at(second), "name": name, "failed_scrapes": 0, "accepted_spans": round(accepted)})
    path = folder / scraping.RECORD
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return read_collectors(path)


def container(role: str) -> ContainerRecord:
    return ContainerRecord(role=role, image="x", restarts=0, oom_killed=False, exit_code=0)


def trial(
    collectors: Mapping[str, Any], target: str | None = NAMES[0], ledgers: Mapping[str, Mapping[str, float]] = {}
) -> TrialData:
    """A trial whose endpoint `target` had a fault; None: nothing had one."""
    names = {"a1": "service", "a2": "service", **dict.fromkeys((*NAMES, "sink"), "backend"), "edge-1": "collector"}
    record = TrialRecord(
        number=1, attempt=1, block=0, position=0, level="any/paused", settings={}, valid=True,
        window=Window(load_start_ns=at(0), start_ns=at(4), end_ns=at(LOAD_S)),
        containers={name: container(role) for name, role in names.items()},
    )  # fmt: skip
    fault = {"kind": "frozen", "target": target, "start_s": BEGIN_S, "length_s": END_S - BEGIN_S}
    injection = Injection(fault, Action(at(BEGIN_S), at(BEGIN_S), {}), Action(at(END_S), at(END_S), {}))
    results = {
        node: Results(values={f"{node}_spans_{name}": count for name, count in counts.items()})
        for node, counts in ledgers.items()
    }
    faults = {"faults": {LOCAL: [injection]}} if target else {}
    return TrialData(record, {"collectors": {LOCAL: collectors}, "results": results, **faults})


def test_healthy_endpoints_have_equal_shares(tmp_path: Path) -> None:
    assert first_endpoint_share(trial(scraped(tmp_path, EQUAL), None)) == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("rates", "share"),
    [
        ({**EQUAL, NAMES[0]: (100, 10)}, 10 / 210),
        ({**EQUAL, NAMES[0]: (100, 0)}, 0.0),
    ],
)
def test_the_share_is_that_of_the_sick_one_while_it_is_sick(rates: Rates, share: float, tmp_path: Path) -> None:
    assert first_endpoint_share(trial(scraped(tmp_path, rates))) == pytest.approx(share)


def test_the_sick_one_need_not_be_the_first(tmp_path: Path) -> None:
    rates = {**EQUAL, NAMES[2]: (100, 50)}
    assert first_endpoint_share(trial(scraped(tmp_path, rates), NAMES[2])) == pytest.approx(0.2)


def test_the_fault_of_a_service_is_none_of_an_endpoint(tmp_path: Path) -> None:
    rates = {**EQUAL, NAMES[1]: (100, 0)}
    whole = first_endpoint_share(trial(scraped(tmp_path, rates), "a1"))
    # In 20 of the window's 36 s the first one has a half.
    assert whole == pytest.approx(36 * 100 / (36 * 200 + 16 * 100))


@pytest.mark.parametrize("how", ["silent", "killed"])
def test_one_that_cannot_be_read_meanwhile_has_the_share_that_its_next_answer_shows(how: str, tmp_path: Path) -> None:
    rates = {**EQUAL, NAMES[0]: (100, 0)}
    share = first_endpoint_share(trial(scraped(tmp_path, rates, **{how: NAMES[0]})))
    assert share == pytest.approx(0.0, abs=0.01)


def test_nothing_is_shared_by_one_endpoint_or_by_collectors_that_are_measured_themselves(tmp_path: Path) -> None:
    one = scraped(tmp_path, {NAMES[0]: (100, 100)})
    stages = scraped(tmp_path, {"edge-1": (100, 100), "collector": (100, 100)})
    for collectors in (one, stages):
        data = trial(collectors)
        assert accepting(data) == {}
        assert first_endpoint_share(data) is None
        assert endpoint_course(data) is None


def test_of_an_endpoint_that_never_answered_nothing_is_known(tmp_path: Path) -> None:
    read = scraped(tmp_path, EQUAL)
    mute = scraped(tmp_path, {NAMES[0]: (0, 0)}, silent=NAMES[0])
    never = {**read, NAMES[0]: {name: mute[NAMES[0]][name] for name in ("failed_scrapes",)}}
    assert first_endpoint_share(trial(never)) is None


def test_without_any_span_there_is_no_share(tmp_path: Path) -> None:
    nothing = trial(scraped(tmp_path, dict.fromkeys(NAMES, (0, 0))))
    assert known(first_endpoint_share, nothing) is None
    course = endpoint_course(nothing)
    assert course is not None
    assert len(course.time_s) == 0


LEDGER = {"ended": 1000, "acknowledged": 960, "queue_full": 20, "too_large": 5, "rejected": 5, "given_up": 10}


def test_what_tracers_dropped_is_a_share_of_what_ended() -> None:
    clean = {**dict.fromkeys(LEDGER, 0.0), "ended": 3000.0, "acknowledged": 3000.0}
    assert spans_dropped_fraction(trial({}, ledgers={"a1": LEDGER, "a2": clean})) == pytest.approx(0.01)
    assert spans_dropped_fraction(trial({})) is None


# --- shown --------------------------------------------------------------------------------------------------------


def test_shares_over_time_add_up_and_the_faults_ends_are_known(tmp_path: Path) -> None:
    course = endpoint_course(trial(scraped(tmp_path, {**EQUAL, NAMES[0]: (100, 0)})))
    assert course is not None
    assert list(course.shares) == list(NAMES)
    assert np.sum(list(course.shares.values()), axis=0) == pytest.approx(100)
    of_first = dict(zip(course.time_s.tolist(), course.shares[NAMES[0]].tolist(), strict=True))
    assert (of_first[5.0], of_first[21.0], of_first[35.0]) == pytest.approx((100 / 3, 0, 100 / 3))
    assert course.faults_s == [BEGIN_S, END_S]


def test_one_that_does_not_answer_is_not_shown_to_take_spans(tmp_path: Path) -> None:
    """All wait for it. What it accepted just before, it counts at its next answer."""
    rates = {**dict.fromkeys(NAMES, (100, 0)), NAMES[0]: (100, 1)}
    course = endpoint_course(trial(scraped(tmp_path, rates, silent=NAMES[0])))
    assert course is not None
    shown_s = [float(time_s) for time_s in course.time_s]
    assert {5.0, 35.0} <= set(shown_s)
    assert [time_s for time_s in shown_s if BEGIN_S + STEP_S < time_s < END_S - STEP_S] == []


def summary(shares: Mapping[str, float], drops: Mapping[str, float]) -> Summary:
    """Three blocks that hardly differ."""
    noise = (0.99, 1.0, 1.01)
    values = {
        metric: {name: [value * factor for factor in noise] for name, value in found.items()}
        for metric, found in ((SHARE, shares), (DROPPED, drops), (LOST, drops))
    }
    run = claim_runs.summary(values)
    means = [
        Estimate(metric=metric, level=name, baseline="any/healthy", mean=value, n=3)
        for metric, found in ((SHARE, shares), (DROPPED, drops), (LOST, drops))
        for name, value in found.items()
    ]
    return run.model_copy(
        update={"estimates": means, "baseline": "any/healthy", "placebo": "", "compared_with": ("any/healthy",)}
    )


SLOW = ("any/paused", "any/little-cpu", "any/little-bandwidth", "any/late")
SHIFTED = {"any/healthy": 0.33, **dict.fromkeys(SLOW, 0.1), "in-turn/paused": 0.33}
KEPT = {"any/healthy": 0.0, **dict.fromkeys(SLOW, 0.0), "in-turn/paused": 0.4}


def test_each_level_has_its_share_and_what_was_dropped() -> None:
    table = endpoints_table(summary(SHIFTED, KEPT))
    assert table is not None
    rows = {row[0].value: [cell.value for cell in row[2:]] for row in table.rows}
    assert rows["in-turn/paused"] == ["33.0", "40.0", "40.0"]
    assert rows["any/late"] == ["10.0", "0", "0"]
    assert endpoints_table(summary({}, KEPT)) is None


def test_a_panel_per_level_shows_who_got_the_spans(tmp_path: Path) -> None:
    course = endpoint_course(trial(scraped(tmp_path, {**EQUAL, NAMES[0]: (100, 0)})))
    line = Line(np.arange(2.0), np.arange(2.0), None, 0.0, 1.0)
    seen = Observed("any/paused", np.empty(0), np.empty(0), line, line, {}, endpoints=course)
    part = endpoints(Source(summary(SHIFTED, KEPT), {}, [], [seen], {}, set(), None))
    assert part is not None
    assert part.figure is not None
    assert all(f">{name}<" in part.figure for name in NAMES)
    assert part.figure.count(">fault<") == 1
    without = endpoints(Source(summary(SHIFTED, KEPT), {}, [], [], {}, set(), None))
    assert without is not None
    assert without.figure is None


# --- judged -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shares", "drops", "verdict"),
    [
        (SHIFTED, KEPT, "holds here"),
        ({**SHIFTED, "any/late": 0.5}, KEPT, "does not hold here"),
        (SHIFTED, {**KEPT, "any/paused": 0.02}, "does not hold here"),
        ({name: SHIFTED[name] for name in SHIFTED if name != "any/late"}, KEPT, "not tested here"),
    ],
)
def test_the_claim_wants_fewer_spans_for_a_slow_endpoint_and_none_dropped(
    shares: Mapping[str, float], drops: Mapping[str, float], verdict: str
) -> None:
    studies: Sequence[Any] = load_claims(["span-endpoints"], ROOT / "experiments" / "claims", METRICS)
    present = {name: value for name, value in drops.items() if name in shares}
    (found,) = judge(summary(shares, present), studies, seed=1).claims
    assert found.verdict == verdict
