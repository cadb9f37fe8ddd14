"""Each way for a trial to go wrong is rejected with its own sentence, and a good one is not."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from lab.analysis import checks
from lab.record.data import TrialData, read_trial
from tests.labs import MESH
from tests.streams import with_streams
from tests.synthetic import QUICK, Trial, write_trial


def reasons(data: TrialData) -> list[str]:
    """Return why a mesh's trial is rejected."""
    return checks.reasons(data, MESH.judgement.checks)


def trial(level: str = "otel-manual", **spoilt: Any) -> Trial:
    return replace(Trial(1, 0, level, QUICK[level]), **spoilt)


@pytest.fixture
def rejections(tmp_path: Path) -> Callable[[Trial], list[str]]:
    return lambda spoilt: reasons(read_trial(write_trial(tmp_path, spoilt, np.random.default_rng(1))))


@pytest.mark.parametrize("level", QUICK)
def test_a_good_trial_is_valid(rejections: Callable[[Trial], list[str]], level: str) -> None:
    assert rejections(trial(level)) == []


def test_a_good_trial_at_20_hz_is_valid(rejections: Callable[[Trial], list[str]]) -> None:
    assert rejections(trial(interval_s=0.05)) == []


@pytest.mark.parametrize(
    ("spoilt", "sentence"),
    [
        (
            {"start_delay_ms": 40.0},
            r"the generator could not hold the load: 1 % of the requests started over \d+ ms late",
        ),
        ({"generator_cores": 0.95}, r"the generator locust used 95 % of a core \(limit 90 %\)"),
        ({"steal_fraction": 0.07}, r"the host stole 7 % of its CPUs' time in the window \(limit 5 %\)"),
        ({"other_load_cores": 0.5}, r"programs outside the lab used 25 % of the host's CPUs"),
        ({"failed_requests": 3}, r"3 of \d+ requests failed \(status 502; 0: no answer\)"),
        ({"drift": 0.8}, r"not steady: CPU per request rose by [\d.]+ % .* \(limit 35 %\)"),
        ({"drift": -0.85}, r"still warming up: CPU per request fell by [\d.]+ % .* \(limit 60 %\)"),
        (
            {"lost_samples_s": (4.0, 7.9)},
            r"the observer's record of gateway, a1, .*: no sample for [45]\.0 s \(limit 3\.0 s\)",
        ),
        (
            {"lost_samples_s": (12.0, 99.0)},
            r"the observer's record of gateway, a1, .*: the samples do not cover the window",
        ),
        ({"restarted": "a2"}, r"container a2 restarted 17\.5 s after the load's start"),
        ({"oom_killed": "a3"}, r"container a3 ran out of memory and was killed"),
        ({"spans_in_trace": 121}, r"the trace \(121 spans\) is not as predicted: 2 spans are missing"),
        ({"users": 1}, r"\d+ requests ended in the window \(at least 30 are needed\)"),
        ({"users": 0}, r"the load generator finished no request: see its log"),
    ],
)
def test_a_spoilt_trial_is_rejected(
    rejections: Callable[[Trial], list[str]], spoilt: dict[str, Any], sentence: str
) -> None:
    found = rejections(trial(**spoilt))
    assert any(re.search(sentence, reason) for reason in found), found


def test_the_tail_of_a_jvms_warm_up_is_forgiven(rejections: Callable[[Trial], list[str]]) -> None:
    assert rejections(trial(drift=-0.5)) == []


def test_one_lost_sample_is_forgiven(rejections: Callable[[Trial], list[str]]) -> None:
    assert rejections(trial(lost_samples_s=(4.0, 5.5))) == []


@pytest.fixture
def good(tmp_path: Path) -> TrialData:
    return read_trial(write_trial(tmp_path, trial(), np.random.default_rng(1)))


def test_a_container_that_the_observer_never_saw_is_rejected(good: TrialData) -> None:
    containers = {name: fields for name, fields in good.counters.containers.items() if name != "a4"}
    data = with_streams(good, counters=replace(good.counters, containers=containers))
    assert reasons(data) == ["the observer's record of a4: there is none"]


def test_records_that_were_cut_off_are_rejected(good: TrialData) -> None:
    data = with_streams(good, counters=replace(good.counters, truncated=True))
    assert reasons(data) == ["the observer was killed: its last record is incomplete"]
    data = with_streams(good, requests=replace(good.requests, truncated=True))
    assert reasons(data) == ["the load generator was killed: its last record is incomplete"]


def test_a_host_that_was_not_read_is_rejected(good: TrialData) -> None:
    data = with_streams(good, counters=replace(good.counters, host={}))
    assert reasons(data) == ["the host's CPU time was not recorded"]


def test_a_container_that_ended_by_itself_is_rejected(good: TrialData) -> None:
    containers = dict(good.trial.containers)
    containers["a1"] = containers["a1"].model_copy(update={"exit_code": 137})
    data = replace(good, trial=good.trial.model_copy(update={"containers": containers}))
    assert reasons(data) == ["container a1 ended with exit code 137"]


def test_a_stall_is_rejected(good: TrialData) -> None:
    window_ns = good.trial.window_end_ns - good.trial.window_start_ns
    stalled = good.requests.end_ns > good.trial.window_end_ns - window_ns // 4
    end_ns = np.where(stalled, good.trial.window_end_ns + 5_000_000_000, good.requests.end_ns)
    found = reasons(with_streams(good, requests=replace(good.requests, end_ns=end_ns)))
    assert any("requests per second fell by" in reason for reason in found)
