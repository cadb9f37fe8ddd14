"""Faults of what takes a proxy's spans: declared, injected, lifted, and verified by what it counted."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from lab.engine.clock import SystemClock, wait_until
from lab.engine.driver import Stack
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.fault.run import injecting
from lab.fault.sink import Receiver, behave
from lab.fault.verified import unverified
from lab.record.counters import parse_counters
from lab.record.data import TrialData
from lab.record.faults import ENDED, Action, Injection, read_injections
from lab.record.trial import LOCAL
from lab.spec.problems import SpecError
from lab.target.proxy.deployment import ProxyDeployment
from lab.target.proxy.settings import ProxyLevel
from lab.target.proxy.sick import parse
from tests.fake import FakeClock, FakeDriver
from tests.observed import SECOND_NS, START_NS
from tests.unit.test_proxy_target import OTEL_GRPC, ROOT, SOURCE, experiment, judged_in, settings

KILLED = {"kind": "killed", "target": "collector", "start_s": 5.0, "length_s": 4.0}
SLOW = {"kind": "slow", "target": "sink", "start_s": 5.0, "length_s": 4.0, "delay_ms": 50}
REFUSING = {"kind": "refusing", "target": "sink", "start_s": 5.0, "length_s": 4.0}
COUNTED = {"requests": 10, "delayed_requests": 0, "refused_spans": 0, "accepted_spans": 50}


# --- declared -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ("receiver: sink, faults: [{kind: killed, target: collector, start_s: 1, length_s: 3}]", "receiver: collector"),
        ("faults: [{kind: slow, target: sink, delay_ms: 5, start_s: 1, length_s: 3}]", "receiver: sink"),
        ("faults: [{kind: slow, target: collector, delay_ms: 5, start_s: 1, length_s: 3}]", "target"),
        ("faults: [{kind: killed, target: collector, start_s: 10, length_s: 3}]", "may last until 13 s"),
        ("faults: [{kind: frozen, target: collector, start_s: 1, length_s: 3}]", "frozen"),
    ],
)
def test_a_mistake_is_named(new: str, says: str) -> None:
    with pytest.raises(SpecError) as wrong:
        experiment("min_flush_spans: 125", new)
    assert says in "\n".join(f"{problem.path} {problem.text}" for problem in wrong.value.problems)


def test_without_a_tracer_a_fault_changes_nothing() -> None:
    with pytest.raises(SpecError) as wrong:
        experiment("tracer: none, ", "faults: [{kind: killed, target: collector, start_s: 1, length_s: 3}], ")
    assert "killed of collector changes nothing" in wrong.value.problems[0].text


# --- injected and lifted ------------------------------------------------------------------------------------------


class Sick:
    """A receiver on an engine that takes no time."""

    def __init__(self, folder: Path) -> None:
        self.clock, self.folder = FakeClock(), folder
        self.driver = FakeDriver(clock=self.clock, deployment=Stack(("sink", "collector"), {}))
        self.behaviours: list[Mapping[str, object]] = []
        self.subject = Receiver(
            self.driver,
            self.clock,
            folder,
            behave=self.behaviours.append,
            counted=lambda: {**COUNTED, "at": len(self.behaviours)},
        )


@pytest.fixture
def sick(tmp_path: Path) -> Sick:
    return Sick(tmp_path)


def played(sick: Sick, declared: Mapping[str, Any]) -> Injection:
    """Inject a fault that is due, and lift it by the end of the load; return its record."""
    fault, record = parse({**declared, "start_s": 0.0}), sick.folder / "faults.jsonl"
    with injecting([fault], sick.subject, sick.folder / "journal.json", record, 1, 0.0):
        assert wait_until(lambda: bool(sick.behaviours or sick.driver.done), 10.0, 0.01, SystemClock())
    (found,) = read_injections(record)
    return found


@pytest.mark.parametrize(
    ("declared", "behaviour"),
    [(SLOW, {"behaviour": "slow", "delay_ms": 50}), (REFUSING, {"behaviour": "refuse"})],
)
def test_the_sink_is_changed_and_set_to_accept_again(
    declared: Mapping[str, Any], behaviour: Mapping[str, object], sick: Sick
) -> None:
    found = played(sick, declared)
    assert sick.behaviours == [behaviour, {"behaviour": "accept"}]
    assert found.injected is not None
    assert found.lifted is not None
    # It had counted so much before its behaviour changed.
    assert (found.injected.seen["at"], found.lifted.seen["at"]) == (0, 1)


def test_the_collector_is_killed_and_started_again(sick: Sick) -> None:
    found = played(sick, KILLED)
    assert sick.driver.done == ["kill collector", "start"]
    assert found.injected is not None
    assert found.injected.seen[ENDED] == "collector"


def test_a_sink_that_does_not_obey_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lab.backend.http.Http.send", lambda *_: (400, b"there is no behaviour"))
    place = Place(ROOT, CpuSplit((0,), (1,)), FakeDriver(), FakeClock(), tmp_path / "journal.json")
    system = ProxyDeployment(SOURCE, ProxyLevel("x", settings(tracer="opentelemetry-grpc")), place, tmp_path)
    with pytest.raises(OSError, match="answered with 400: there is no behaviour"):
        behave(system.http, {"behaviour": "x"})


# --- verified -----------------------------------------------------------------------------------------------------


def record(declared: Mapping[str, Any], seen: Mapping[str, Any], lifted: Mapping[str, Any]) -> Injection:
    """A fault from the 9th second of the load to the 13th."""
    begin_ns, end_ns = START_NS + 9 * SECOND_NS, START_NS + 13 * SECOND_NS
    return Injection(declared, Action(begin_ns, begin_ns + 1, seen), Action(end_ns, end_ns + 1, lifted))


def doubts(data: TrialData, injection: Injection) -> list[str]:
    settings = {**data.trial.settings, "faults": [{}]}
    return list(
        unverified(replace(data, trial=data.trial.model_copy(update={"settings": settings})), [injection], parse)
    )


@pytest.mark.parametrize(("declared", "grows"), [(SLOW, "delayed_requests"), (REFUSING, "refused_spans")])
def test_what_the_sink_counted_verifies_it(declared: Mapping[str, Any], grows: str, tmp_path: Path) -> None:
    data = judged_in(tmp_path)
    assert doubts(data, record(declared, COUNTED, {**COUNTED, grows: 3})) == []
    (doubt,) = doubts(data, record(declared, COUNTED, {**COUNTED, "requests": 30}))
    assert doubt.endswith(f"not verified: {grows} of the sink did not grow")


def test_a_collector_that_goes_and_comes_back_verifies_it(tmp_path: Path) -> None:
    data = judged_in(tmp_path)
    killed = record(KILLED, {"address": "", ENDED: "collector"}, {"address": ""})
    assert doubts(data, killed) == ["fault killed of collector: not verified: its process was not seen to go"]
    lines = [
        '{"format":"tollbooth.counters","version":1,"interval_ns":1000000000}',
        *(
            f'{{"kind":"event","t_ns":{START_NS + second * SECOND_NS},"name":"collector","event":"{event}"}}'
            for second, event in ((10, "gone"), (14, "restarted"))
        ),
    ]
    counters = parse_counters("".join(f"{line}\n" for line in lines), "x")
    assert doubts(replace(data, streams={**data.streams, "counters": {LOCAL: counters}}), killed) == []


def test_a_trial_without_its_faults_is_rejected(tmp_path: Path) -> None:
    given = {**OTEL_GRPC, "faults": [KILLED]}
    assert judged_in(tmp_path, given=given).trial.reasons == ["0 of 1 declared faults are on record"]
