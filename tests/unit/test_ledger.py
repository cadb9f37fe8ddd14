"""Spans that a tracer lost without counting them, or that the backend counts otherwise, reject a trial."""

from collections.abc import Mapping
from typing import Any

import pytest

from lab.analysis.ledger import spans_accounted_for
from lab.record import ENDED, Action, Injection, TrialData, TrialRecord
from lab.record.results import Results
from tests.labs import MESH

GOOD = {
    "ended": 100.0,
    "acknowledged": 90.0,
    "queue_full": 4.0,
    "too_large": 3.0,
    "rejected": 2.0,
    "given_up": 1.0,
    "resent": 5.0,
}
KILLED = Injection({}, Action(0, 0, {ENDED: "a2"}))
CLEAN = {**dict.fromkeys(GOOD, 0.0), "ended": 50.0, "acknowledged": 50.0}


def trial(
    ledgers: Mapping[str, Mapping[str, float]],
    accepted: int | None,
    injections: Any = (),
    duplicates: int | None = None,
    telemetry: str | None = None,
) -> TrialData:
    container = {"role": "service", "image": "x", "restarts": 0, "oom_killed": False, "exit_code": 0}
    counters = {} if duplicates is None else {"duplicate_spans": duplicates}
    record = TrialRecord.model_validate(
        {
            **{"number": 0, "attempt": 1, "block": 0, "position": 0, "level": "x"},
            "settings": {} if telemetry is None else {"telemetry": telemetry},
            "containers": {"a1": container, "a2": container, "sink": {**container, "role": "backend"}},
            "backend": None if accepted is None else {"accepted_spans": accepted, "counters": counters},
        }
    )
    results = {
        node: Results(values={f"{node}_spans_{name}": count for name, count in counts.items()})
        for node, counts in ledgers.items()
    }
    return TrialData(record, {"results": results, "faults": {"local": injections}} if results or injections else {})


def reasons(ledgers: Mapping[str, Mapping[str, float]], accepted: int | None = None, injections: Any = ()) -> list[str]:
    return list(spans_accounted_for(trial(ledgers, accepted, injections)))


def test_spans_with_one_fate_each_are_right() -> None:
    assert reasons({"a1": GOOD, "a2": CLEAN}) == []
    assert reasons({"a1": CLEAN, "a2": CLEAN}, 100) == []


def test_other_tracers_count_nothing() -> None:
    assert reasons({}, 7) == []
    assert reasons({"a1": {}}, 7) == []


@pytest.mark.parametrize("telemetry", ["baseline", "otel-manual", "otel-manual@1.36.0"])
def test_tracers_that_do_not_count_need_no_counts(telemetry: str) -> None:
    assert list(spans_accounted_for(trial({}, 7, telemetry=telemetry))) == []


@pytest.mark.parametrize("telemetry", ["otel-streaming", "otel-streaming@1.0"])
@pytest.mark.parametrize("ledgers", [{}, {"a1": {}}])
@pytest.mark.parametrize("injections", [(), [KILLED]])
def test_a_tracer_that_counts_has_counted(
    telemetry: str, ledgers: Mapping[str, Mapping[str, float]], injections: Any
) -> None:
    assert list(spans_accounted_for(trial(ledgers, 7, injections, telemetry=telemetry))) == [
        "no service counted its spans, and the tracer of otel-streaming does"
    ]


def test_a_tracer_that_has_counted_is_right() -> None:
    data = trial({"a1": GOOD, "a2": CLEAN}, 140, telemetry="otel-streaming")
    assert list(spans_accounted_for(data)) == []


@pytest.mark.parametrize("name", ["ended", "acknowledged", "queue_full", "too_large", "rejected", "given_up"])
def test_a_span_without_a_fate_or_with_two_rejects_the_trial(name: str) -> None:
    (reason,) = reasons({"a1": {**GOOD, name: GOOD[name] + 1}, "a2": CLEAN})
    assert reason.startswith("a1: 10") and "spans ended, and 10" in reason


@pytest.mark.parametrize("accepted", [140, 146])
def test_a_span_that_was_sent_again_may_have_arrived_twice(accepted: int) -> None:
    assert reasons({"a1": GOOD, "a2": CLEAN}, accepted) == []


@pytest.mark.parametrize("accepted", [139, 147])
def test_the_backend_counts_what_was_acknowledged(accepted: int) -> None:
    assert reasons({"a1": GOOD, "a2": CLEAN}, accepted) == [
        f"the backend accepted {accepted} spans, and the tracers count 140 acknowledged ones"
    ]


def test_without_sending_again_the_backend_counts_exactly_these() -> None:
    assert reasons({"a1": CLEAN, "a2": CLEAN}, 101)


@pytest.mark.parametrize(("accepted", "duplicates"), [(140, 0), (143, 3)])
def test_without_duplicates_the_backend_counts_exactly_what_was_acknowledged(accepted: int, duplicates: int) -> None:
    assert list(spans_accounted_for(trial({"a1": GOOD, "a2": CLEAN}, accepted, duplicates=duplicates))) == []


@pytest.mark.parametrize(("accepted", "duplicates"), [(140, 1), (143, 0), (143, 2), (139, 0)])
def test_counted_duplicates_leave_no_bounds(accepted: int, duplicates: int) -> None:
    assert list(spans_accounted_for(trial({"a1": GOOD, "a2": CLEAN}, accepted, duplicates=duplicates))) == [
        f"the backend accepted {accepted} spans, {duplicates} of them duplicates, "
        "and the tracers count 140 acknowledged ones"
    ]


def test_acknowledged_spans_are_at_the_backend_unless_a_fault_kills_it() -> None:
    assert reasons({"a1": CLEAN}, 49, [KILLED]) == [
        "the backend accepted 49 spans, and the tracers count 50 acknowledged ones"
    ]
    assert reasons({"a1": CLEAN}, 49, [Injection({}, Action(0, 0, {ENDED: "sink"}))]) == []


def test_all_services_count_or_none() -> None:
    assert reasons({"a1": CLEAN}, 50) == ["a2: did not count spans, while other services did"]


def test_a_fault_may_kill_a_service_and_hide_an_answer() -> None:
    assert [*reasons({"a1": CLEAN}, 70, [KILLED]), *spans_accounted_for(trial({"a1": CLEAN}, 70, [KILLED], 0))] == []
    assert reasons({"a1": {**CLEAN, "ended": 51.0}}, 70, [KILLED]) == ["a1: 51 spans ended, and 50 are accounted for"]


def test_a_mesh_is_judged_by_it() -> None:
    assert any(spans_accounted_for in stage for stage in MESH.judgement.checks)
