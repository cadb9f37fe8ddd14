"""Metrics of a made-up trial, whose truth is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lab.metrics import METRICS, values, window_requests
from lab.records import TrialData, read_trial
from tests.synthetic import QUICK, Trial, write_trial

AGENT = QUICK["otel-agent"]


@pytest.fixture
def agent(tmp_path: Path) -> TrialData:
    return read_trial(write_trial(tmp_path, Trial(1, 0, "otel-agent", AGENT), np.random.default_rng(1)))


def test_a_level_with_a_backend_has_every_metric(agent: TrialData) -> None:
    assert list(values(agent)) == list(METRICS)


# One request at each edge of the window, of some 150, may count on the wrong side.
@pytest.mark.parametrize(
    ("metric", "truth", "tolerance"),
    [
        ("cpu_per_request_services_ms", AGENT.cpu_ms, 0.02),
        ("cpu_per_request_backends_ms", AGENT.backend_cpu_ms, 0.02),
        ("cpu_per_request_total_ms", AGENT.cpu_ms + AGENT.backend_cpu_ms, 0.02),
        ("cpu_generator_cores", 0.15, 0.001),
        ("cpu_observer_cores", 0.005, 0.001),
        ("memory_services_mean_mib", AGENT.memory_mib, 0.02),
        ("memory_services_peak_mib", AGENT.memory_mib, 0.02),
        ("bytes_per_request_app", AGENT.app_bytes, 0.02),
        ("bytes_per_request_telemetry", AGENT.telemetry_bytes, 0.02),
        ("context_switches_per_request", 132, 0.02),
        ("startup_s", AGENT.startup_s, 0),
        ("spans_accepted_per_request", 123, 0),
        # Latencies are lognormal with a median of latency_ms and a sigma of 0.3.
        ("latency_mean_ms", AGENT.latency_ms * np.exp(0.3**2 / 2), 0.1),
        ("latency_p50_ms", AGENT.latency_ms, 0.1),
        ("latency_p95_ms", AGENT.latency_ms * np.exp(1.645 * 0.3), 0.15),
        ("latency_p99_ms", AGENT.latency_ms * np.exp(2.326 * 0.3), 0.25),
    ],
)
def test_the_truth_is_found(agent: TrialData, metric: str, truth: float, tolerance: float) -> None:
    assert values(agent)[metric] == pytest.approx(truth, rel=tolerance)


def test_cpu_per_request_times_rate_is_cpu(agent: TrialData) -> None:
    found = values(agent)
    cores = found["cpu_per_request_services_ms"] / 1000 * found["requests_per_s"]
    assert found["cpu_services_cores"] == pytest.approx(cores)


def test_latency_since_the_intended_start_includes_the_wait(agent: TrialData) -> None:
    late = replace(agent, requests=replace(agent.requests, intended_ns=agent.requests.start_ns - 7_000_000))
    found = values(late)
    assert found["latency_intended_p95_ms"] == pytest.approx(found["latency_p95_ms"] + 7)


def test_a_level_without_a_backend_sends_nothing_and_delivers_no_spans(tmp_path: Path) -> None:
    data = read_trial(write_trial(tmp_path, Trial(1, 0, "baseline", QUICK["baseline"]), np.random.default_rng(1)))
    found = values(data)
    assert found["bytes_per_request_telemetry"] == 0
    assert found["cpu_per_request_backends_ms"] == 0
    assert "spans_accepted_per_request" not in found


def test_what_cannot_be_derived_is_left_out(agent: TrialData) -> None:
    silent = replace(agent, requests=agent.requests.ended_in(0, 1))
    found = values(silent)
    assert "cpu_per_request_services_ms" not in found
    assert "latency_p95_ms" not in found
    assert found["requests_per_s"] == 0
    assert found["cpu_services_cores"] > 0


def test_a_window_that_was_not_observed_has_no_counters_metrics(agent: TrialData) -> None:
    later = {
        "window_start_ns": agent.trial.window_end_ns + 10**10,
        "window_end_ns": agent.trial.window_end_ns + 2 * 10**10,
    }
    found = values(replace(agent, trial=agent.trial.model_copy(update=later)))
    assert "memory_services_mean_mib" not in found
    assert "cpu_services_cores" not in found


def test_the_warm_up_does_not_count(agent: TrialData) -> None:
    requests = window_requests(agent)
    assert 0 < len(requests) < len(agent.requests)
    assert requests.end_ns.min() >= agent.trial.window_start_ns
