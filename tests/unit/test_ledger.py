"""Spans that a tracer lost without counting them, or that the backend counts otherwise, reject a trial."""

from collections.abc import Mapping
from typing import Any

import pytest

from lab.analysis.ledger import spans_accounted_for
from lab.record import TrialData, TrialRecord
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
CLEAN = {**dict.fromkeys(GOOD, 0.0), "ended": 50.0, "acknowledged": 50.0}


def trial(ledgers: Mapping[str, Mapping[str, float]], accepted: int | None, injections: Any = ()) -> TrialData:
    container = {"role": "service", "image": "x", "restarts": 0, "oom_killed": False, "exit_code": 0}
    record = TrialRecord.model_validate(
        {
            **{"number": 0, "attempt": 1, "block": 0, "position": 0, "level": "x", "settings": {}},
            "containers": {"a1": container, "a2": container, "sink": {**container, "role": "backend"}},
            "backend": None if accepted is None else {"accepted_spans": accepted},
        }
    )
    results = {
        node: Results(values={f"{node}_spans_{name}": count for name, count in counts.items()})
        for node, counts in ledgers.items()
    }
    return TrialData(record, {"results": results, "faults": {"local": injections}} if results else {})


def reasons(ledgers: Mapping[str, Mapping[str, float]], accepted: int | None = None, injections: Any = ()) -> list[str]:
    return list(spans_accounted_for(trial(ledgers, accepted, injections)))


def test_spans_with_one_fate_each_are_right() -> None:
    assert reasons({"a1": GOOD, "a2": CLEAN}) == []
    assert reasons({"a1": CLEAN, "a2": CLEAN}, 100) == []


def test_other_tracers_count_nothing() -> None:
    assert reasons({}, 7) == []
    assert reasons({"a1": {}}, 7) == []


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


def test_all_services_count_or_none() -> None:
    assert reasons({"a1": CLEAN}, 50) == ["a2: did not count spans, while other services did"]


def test_a_fault_may_kill_a_service_and_hide_an_answer() -> None:
    assert reasons({"a1": CLEAN}, 70, [object()]) == []
    assert reasons({"a1": {**CLEAN, "ended": 51.0}}, 70, [object()]) == ["a1: 51 spans ended, and 50 are accounted for"]


def test_a_mesh_is_judged_by_it() -> None:
    assert any(spans_accounted_for in stage for stage in MESH.judgement.checks)
