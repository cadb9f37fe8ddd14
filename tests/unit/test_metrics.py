"""Metrics of a made-up trial, whose truth is known."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from lab.analysis import metrics
from lab.analysis.metrics import with_paired_values
from lab.analysis.metrics.backends import KEPT_TRACES
from lab.analysis.metrics.jvm import allocated
from lab.analysis.metrics.speed import pieces
from lab.analysis.metrics.window import window_requests
from lab.record.counters import SpinnerThread
from lab.record.data import TrialData, read_trial
from lab.record.series import NotDerivableError, Series
from lab.record.summary import TrialSummary
from lab.record.trial import BackendRecord, ContainerRecord, SidecarRecord, Window
from tests.labs import MESH
from tests.streams import with_streams
from tests.synthetic import QUICK, Trial, write_trial

AGENT = QUICK["otel-agent"]
ROOT = Path(__file__).resolve().parents[2]


def values(data: TrialData) -> dict[str, float]:
    """Return the metrics of a mesh's trial."""
    return metrics.values(data, MESH.judgement.metrics)


@pytest.fixture
def agent(tmp_path: Path) -> TrialData:
    return read_trial(write_trial(tmp_path, Trial(1, 0, "otel-agent", AGENT), np.random.default_rng(1)))


def spun(agent: TrialData, steps_per_s: float, step_ns: float) -> TrialData:
    """The trial beside two threads of a spinner, of which the second began a second late."""
    first_s, last_s = agent.trial.load_start_ns // 10**9 - 5, agent.trial.window_end_ns // 10**9 + 5
    threads = []
    for begin_s in (first_s, first_s + 1):
        t_s = np.arange(begin_s, last_s)
        steps = ((t_s - begin_s) * steps_per_s).astype(np.int64)
        threads.append(
            SpinnerThread(Series(t_s * 10**9, steps), Series(t_s * 10**9, (steps * step_ns).astype(np.int64)))
        )
    return with_streams(agent, speed=threads)


OF_A_TRACED_LEVEL = """
    cpu_per_request_services_ms cpu_per_request_backends_ms cpu_per_request_total_ms cpu_per_request_proxied_ms
    cpu_services_cores cpu_generator_cores cpu_observer_cores generator_cpu_fraction observer_cpu_fraction
    memory_services_mean_mib memory_backends_mean_mib memory_total_mean_mib
    startup_s context_switches_per_request
    memory_services_rss_mean_mib memory_services_page_cache_mean_mib memory_services_kernel_peak_mib
    memory_backends_filled_mib
    latency_fastest_ms latency_slowest_ms latency_mean_ms latency_p50_ms latency_p95_ms latency_p99_ms
    latency_p999_ms latency_intended_p95_ms requests_per_s requests requests_failed error_fraction
    bytes_per_request_app bytes_sent_per_request_app bytes_per_request_telemetry
    bytes_received_per_request_telemetry bytes_received_per_request_backends bytes_sent_per_request_backends
    bytes_allocated_per_request gc_count_per_request gc_time_per_request_ms jit_time_per_request_ms
    jit_cpu_fraction jit_cpu_per_request_ms gc_cpu_fraction gc_cpu_per_request_ms exporter_cpu_per_request_ms
    classes_loaded threads_mean
    spans_accepted_per_request spans_lost_fraction tags_per_span metrics_per_service cache_step_ns
"""


def test_a_traced_level_has_these_metrics(agent: TrialData) -> None:
    assert list(values(spun(agent, 1e6, 22))) == OF_A_TRACED_LEVEL.split()


def test_the_cache_step_is_what_all_of_the_spinners_steps_took_on_average(agent: TrialData) -> None:
    assert values(spun(agent, 1e6, 22))["cache_step_ns"] == pytest.approx(22)
    assert "cache_step_ns" not in values(spun(agent, 0, 22)), "a spinner that got no CPU knows nothing"
    assert "cache_step_ns" not in values(agent)


def test_a_warm_up_before_the_load_has_no_part_in_what_sidecars_counted(agent: TrialData) -> None:
    """Their counters are read when it has ended."""
    trial, start_ns = agent.trial, agent.requests.start_ns
    since_ns = int(np.median(start_ns))
    counted = SidecarRecord(version="1.40.0", counters={"cluster.inbound.upstream_rq_retry": 300})
    window = Window(load_start_ns=since_ns, start_ns=trial.window_start_ns, end_ns=trial.window_end_ns)
    later = trial.model_copy(update={"sidecars": {"s1-envoy": counted}, "window": window})
    sent = int((start_ns >= since_ns).sum())
    assert 0 < sent < len(agent.requests)
    assert values(replace(agent, trial=later))["retries_per_request"] == pytest.approx(300 / sent)


def test_the_window_has_its_share_of_what_sidecars_counted(agent: TrialData) -> None:
    """Their counters are of the load, of which the window is a part."""
    trial = agent.trial
    half_ns = (trial.window_start_ns + trial.window_end_ns) // 2
    counted = SidecarRecord(version="1.40.0", counters={"http.inbound.downstream_rq_total": 1000})
    sidecar = ContainerRecord(role="sidecar", image="x", restarts=0, oom_killed=False, exit_code=0, running=True)
    containers = {**trial.containers, next(iter(trial.names("service"))): sidecar}

    def cost_us(start_ns: int, end_ns: int) -> float:
        window = Window(load_start_ns=trial.load_start_ns, start_ns=start_ns, end_ns=end_ns)
        update = {"sidecars": {"s1-envoy": counted}, "window": window, "containers": containers}
        return values(replace(agent, trial=trial.model_copy(update=update)))["cpu_per_proxied_request_us"]

    whole, half = cost_us(trial.window_start_ns, trial.window_end_ns), cost_us(trial.window_start_ns, half_ns)
    assert half == pytest.approx(whole, rel=0.1)


def test_side_by_side_it_is_known_how_long_a_system_had_run(agent: TrialData) -> None:
    assert "stood_side_by_side_s" not in values(agent), "alone it waits for nobody"
    beside = replace(agent, trial=agent.trial.model_copy(update={"cores_side_by_side": 1.2}))
    first_look_ns = int(agent.counters.host["cpus"].t_ns[0])
    ran_s = (agent.trial.window_start_ns - first_look_ns) / 1e9
    assert ran_s > 0
    assert values(beside)["stood_side_by_side_s"] == pytest.approx(ran_s)


def test_a_window_in_pieces_has_the_step_and_the_times_of_each(agent: TrialData) -> None:
    found = pieces(spun(agent, 1e6, 22), MESH.judgement.metrics)
    cpu = found["cpu_per_request_services_ms"]
    assert cpu.shape == (3, 2)
    assert np.exp(cpu[:, 0]) == pytest.approx(22)
    assert np.exp(cpu[:, 1]) == pytest.approx(AGENT.cpu_ms, rel=0.1)
    assert len(pieces(agent, MESH.judgement.metrics)["cpu_per_request_services_ms"]) == 0


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
        ("memory_services_rss_mean_mib", 0.95 * AGENT.memory_mib, 0.02),
        ("memory_services_page_cache_mean_mib", 0.1 * AGENT.memory_mib, 0.02),
        ("memory_services_kernel_peak_mib", 1.1 * AGENT.memory_mib, 0.02),
        ("memory_backends_mean_mib", 120, 0),
        ("memory_total_mean_mib", AGENT.memory_mib + 120, 0.02),
        ("bytes_per_request_app", AGENT.app_bytes, 0.02),
        ("bytes_sent_per_request_app", AGENT.app_bytes, 0.02),
        ("bytes_per_request_telemetry", AGENT.telemetry_bytes, 0.02),
        ("bytes_received_per_request_telemetry", AGENT.telemetry_bytes / 20, 0.02),
        ("bytes_received_per_request_backends", AGENT.telemetry_bytes, 0.02),
        ("bytes_sent_per_request_backends", AGENT.telemetry_bytes / 20, 0.02),
        ("bytes_allocated_per_request", AGENT.allocated_bytes, 0.02),
        # Eden holds 24 and 32 MiB in turn, and a collection takes 4 ms. There are some 20 of them.
        ("gc_count_per_request", AGENT.allocated_bytes / (28 << 20), 0.2),
        ("gc_time_per_request_ms", 4 * AGENT.allocated_bytes / (28 << 20), 0.2),
        ("gc_cpu_per_request_ms", 4 * AGENT.allocated_bytes / (28 << 20), 0.2),
        ("exporter_cpu_per_request_ms", 3, 0.02),
        ("classes_loaded", 5 * 11_000, 0),
        ("threads_mean", 5 * 40, 0),
        ("tags_per_span", 36, 0),
        ("metrics_per_service", 97, 0),
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


def test_the_cost_of_measuring_is_a_share_of_what_is_measured(agent: TrialData) -> None:
    found = values(agent)
    assert found["observer_cpu_fraction"] == pytest.approx(0.005 / found["cpu_services_cores"], rel=0.001)
    assert found["generator_cpu_fraction"] == pytest.approx(0.15 / found["cpu_services_cores"], rel=0.001)


@pytest.mark.parametrize("group", ["jit", "gc"])
def test_a_group_of_threads_uses_a_share_of_the_cpu(agent: TrialData, group: str) -> None:
    found = values(agent)
    assert found[f"{group}_cpu_fraction"] == pytest.approx(
        found[f"{group}_cpu_per_request_ms"] / found["cpu_per_request_services_ms"]
    )


def test_compilation_is_a_time_and_less_cpu(agent: TrialData) -> None:
    found = values(agent)
    assert found["jit_cpu_per_request_ms"] == pytest.approx(0.75 * found["jit_time_per_request_ms"], rel=1e-6)
    # 12 s in all, of which the rest e^(-t/8 s) is left after t seconds; the window begins after 15 s and lasts 15.
    jit_ms = 12_000 * (np.exp(-15 / 8) - np.exp(-30 / 8))
    assert found["jit_time_per_request_ms"] * found["requests_per_s"] * 15 == pytest.approx(jit_ms, rel=0.02)


def test_a_level_that_exports_nothing_has_no_cost_of_it(tmp_path: Path) -> None:
    data = read_trial(write_trial(tmp_path, Trial(1, 0, "baseline", QUICK["baseline"]), np.random.default_rng(1)))
    assert values(data)["exporter_cpu_per_request_ms"] == 0


def test_without_the_cpu_of_threads_compilation_is_at_most_its_time(agent: TrialData) -> None:
    containers = {
        name: {field: fields[field] for field in fields if field not in {"jit_cpu_ns", "gc_cpu_ns", "exporter_cpu_ns"}}
        for name, fields in agent.counters.containers.items()
    }
    found = values(with_streams(agent, counters=replace(agent.counters, containers=containers)))
    assert found["jit_cpu_fraction"] == pytest.approx(
        found["jit_time_per_request_ms"] / found["cpu_per_request_services_ms"]
    )
    assert not found.keys() & {"jit_cpu_per_request_ms", "gc_cpu_per_request_ms", "exporter_cpu_per_request_ms"}
    assert "gc_cpu_fraction" not in found


def test_latency_since_the_intended_start_includes_the_wait(agent: TrialData) -> None:
    late = with_streams(agent, requests=replace(agent.requests, intended_ns=agent.requests.start_ns - 7_000_000))
    found = values(late)
    assert found["latency_intended_p95_ms"] == pytest.approx(found["latency_p95_ms"] + 7)


def test_a_level_without_a_backend_sends_nothing_and_delivers_no_spans(tmp_path: Path) -> None:
    data = read_trial(write_trial(tmp_path, Trial(1, 0, "baseline", QUICK["baseline"]), np.random.default_rng(1)))
    found = values(data)
    assert found["bytes_per_request_telemetry"] == 0
    assert found["cpu_per_request_backends_ms"] == 0
    assert found["memory_backends_mean_mib"] == 0
    assert found["bytes_received_per_request_backends"] == 0
    assert not found.keys() & {"spans_accepted_per_request", "spans_lost_fraction", "tags_per_span"}
    assert "metrics_per_service" not in found


@pytest.mark.parametrize("twice", [0, 1230, 2000])
def test_spans_that_did_not_arrive_are_lost_though_others_arrived_twice(twice: int, tmp_path: Path) -> None:
    lossy = Trial(1, 0, "otel-agent", replace(AGENT, lost_spans=1230))
    data = read_trial(write_trial(tmp_path, lossy, np.random.default_rng(1)))
    sent = 123 * len(data.requests)
    backend = BackendRecord(accepted_spans=sent - 1230 + twice, counters={"duplicate_spans": twice} if twice else {})
    found = values(replace(data, trial=data.trial.model_copy(update={"backend": backend})))
    assert found["spans_lost_fraction"] == pytest.approx(10 / len(data.requests))
    assert found["spans_accepted_per_request"] == pytest.approx((sent - 1230) / len(data.requests))


def test_a_backends_memory_counts_once_it_has_stored_what_it_keeps(agent: TrialData) -> None:
    filled = "memory_backends_filled_mib"
    before = len(agent.requests.ended_in(0, agent.trial.window_start_ns))
    assert agent.trace is not None
    spans = len(agent.trace["spans"])

    def stored(traces: float) -> TrialData:
        """Return the trial with a backend that had stored so many traces when the window began."""
        accepted = round(traces * spans * len(agent.requests) / before)
        backend = BackendRecord(accepted_spans=accepted)
        return replace(agent, trial=agent.trial.model_copy(update={"backend": backend}))

    assert values(stored(KEPT_TRACES + 1))[filled] == pytest.approx(0.95 * 120, rel=0.01)
    assert filled not in values(stored(KEPT_TRACES - 1))
    # A backend that accepts no spans, such as Prometheus, keeps no traces.
    of_metrics = agent.trial.model_copy(update={"backend": BackendRecord(accepted_spans=None)})
    assert filled in values(replace(agent, trial=of_metrics))
    assert filled not in values(replace(agent, trial=agent.trial.model_copy(update={"backend": None})))


def test_what_backends_keep_is_what_they_are_configured_to_keep() -> None:
    assert (
        f"max_traces: ${{env:MAX_TRACES:-{KEPT_TRACES}}}" in (ROOT / "backends" / "jaeger" / "memory.yaml").read_text()
    )
    assert f'MEM_MAX_SPANS: "{KEPT_TRACES * 123}"' in (ROOT / "compose.yaml").read_text()


def test_what_a_sampled_level_does_not_send_is_not_lost(agent: TrialData) -> None:
    sampled = agent.trial.model_copy(update={"expected_spans_per_request": None})
    assert "spans_lost_fraction" not in values(replace(agent, trial=sampled))


def test_a_service_whose_jvm_was_not_read_leaves_the_jvms_metrics_out(agent: TrialData) -> None:
    jvms = {name: fields for name, fields in agent.counters.jvms.items() if name != "a3"}
    found = values(with_streams(agent, counters=replace(agent.counters, jvms=jvms)))
    assert "bytes_allocated_per_request" not in found
    assert "classes_loaded" not in found
    assert "cpu_per_request_services_ms" in found


def test_what_cannot_be_derived_is_left_out(agent: TrialData) -> None:
    silent = with_streams(agent, requests=agent.requests.ended_in(0, 1))
    found = values(silent)
    assert "cpu_per_request_services_ms" not in found
    assert "latency_p95_ms" not in found
    assert found["requests_per_s"] == 0
    assert found["cpu_services_cores"] > 0


def test_a_window_that_was_not_observed_has_no_counters_metrics(agent: TrialData) -> None:
    end_ns = agent.trial.window_end_ns
    later = Window(load_start_ns=agent.trial.load_start_ns, start_ns=end_ns + 10**10, end_ns=end_ns + 2 * 10**10)
    found = values(replace(agent, trial=agent.trial.model_copy(update={"window": later})))
    assert "memory_services_mean_mib" not in found
    assert "cpu_services_cores" not in found


@pytest.mark.parametrize(
    ("missing", "main", "column"),
    [
        (set(), ["memory_services_rss_mean_mib", "memory_services_page_cache_mean_mib"], "RSS\nMiB"),
        ({"memory_page_cache_bytes"}, ["memory_services_rss_mean_mib"], "RSS\nMiB"),
        ({"memory_page_cache_bytes", "memory_rss_bytes"}, ["memory_services_mean_mib"], "MiB"),
    ],
    ids=["now", "before page cache", "before RSS"],
)
def test_the_headline_has_the_memory_that_was_recorded(
    agent: TrialData, missing: set[str], main: list[str], column: str
) -> None:
    containers = {
        name: {field: fields[field] for field in fields if field not in missing}
        for name, fields in agent.counters.containers.items()
    }
    found = values(with_streams(agent, counters=replace(agent.counters, containers=containers)))
    headline = MESH.declaration.headline(found)
    shown = {one.metric: one.heading for one in headline.columns if one.metric.startswith("memory_")}
    assert shown == {main[0]: column}
    assert [name for name in headline.main if name.startswith("memory_")] == main
    assert found.keys() >= set(main)


def test_the_warm_up_does_not_count(agent: TrialData) -> None:
    requests = window_requests(agent)
    assert 0 < len(requests) < len(agent.requests)
    assert requests.end_ns.min() >= agent.trial.window_start_ns


def jvm(used: list[int], capacity: list[int], young: list[int], full: list[int] | None = None) -> dict[str, Series]:
    t_ns = np.arange(len(used), dtype=np.int64)
    samples = {
        "eden_used_bytes": used,
        "eden_capacity_bytes": capacity,
        "young_gc_count": young,
        "full_gc_count": full or [0] * len(used),
    }
    return {name: Series(t_ns[: len(values)], np.array(values, dtype=np.int64)) for name, values in samples.items()}


@pytest.mark.parametrize(
    ("used", "capacity", "young", "full", "expected"),
    [
        ([10, 30, 90], [100, 100, 100], [0, 0, 0], None, [0, 20, 80]),
        ([90, 5], [100, 100], [3, 4], None, [0, 15]),
        ([90, 5], [100, 100], [3, 6], None, [0, 215]),
        # Eden shrinks from 100 to 60 after the first of two collections.
        ([90, 5], [100, 60], [3, 5], None, [0, 10 + 80 + 5]),
        # A full collection right after a young one empties nothing that was not empty.
        ([90, 5], [100, 100], [3, 4], [0, 1], [0, 15]),
        ([90, 5], [100, 100], [3, 3], [0, 1], [0, 15]),
        # The second sample is taken during a collection: it is counted, and eden still full. The third says no more.
        ([90, 100, 7, 20], [100] * 4, [3, 4, 4, 4], None, [0, 17, 30]),
    ],
)
def test_what_was_allocated_follows_from_eden(
    used: list[int], capacity: list[int], young: list[int], full: list[int] | None, expected: list[int]
) -> None:
    assert allocated(jvm(used, capacity, young, full)).values.tolist() == expected


def test_a_collector_that_reports_only_full_edens_is_believed_to_fill_them_evenly() -> None:
    counter = allocated(jvm([0] * 9, [100] * 9, [0, 0, 1, 1, 1, 1, 2, 2, 2]))
    assert counter.increase(2, 6) == 100
    assert counter.increase(3, 5) == 50
    # Nothing is reported after the sixth second: eden goes on filling as before.
    assert counter.increase(6, 8) == 50


def test_nothing_is_allocated_into_an_eden_that_would_be_full() -> None:
    counter = allocated(jvm([0] * 6, [100] * 6, [0, 0, 2, 2, 2, 2]))
    assert counter.increase(2, 3) == 100
    assert counter.increase(3, 5) == 0


def test_a_jvm_that_began_anew_or_was_read_in_parts_allocated_nobody_knows_what() -> None:
    with pytest.raises(NotDerivableError, match="began anew"):
        allocated(jvm([10, 20], [100, 100], [5, 0]))
    with pytest.raises(NotDerivableError, match="lacks a part"):
        allocated(jvm([10, 20], [100, 100], [5]))


def summary(level: str, block: int, valid: bool = True, **found: float) -> TrialSummary:
    return TrialSummary(trial=f"{block}-{level}", level=level, block=block, valid=valid, reasons=[], values=found)


def test_the_cost_of_a_delivered_span_is_beside_baseline_and_placebo_of_its_block() -> None:
    trials = [
        summary("baseline", 0, cpu_per_request_services_ms=40.0),
        summary("agent", 0, cpu_per_request_services_ms=62.0, spans_accepted_per_request=105.0),
        summary("agent", 1, cpu_per_request_services_ms=62.0, spans_accepted_per_request=105.0),
        summary("agent", 2, cpu_per_request_services_ms=62.0, spans_accepted_per_request=105.0),
        summary("baseline", 1, valid=False),
        summary("baseline", 2, valid=False),
        summary("placebo", 0, cpu_per_request_services_ms=42.0, only_of_this=1.0),
        summary("placebo", 2, cpu_per_request_services_ms=41.0),
        summary("lossy", 0, cpu_per_request_services_ms=62.0, spans_accepted_per_request=0.0),
    ]
    beside = with_paired_values(trials, ("baseline", "placebo"), MESH.judgement.paired)
    found = {
        (trial.level, trial.block): trial.values["cpu_per_delivered_span_us"]
        for trial in beside
        if "cpu_per_delivered_span_us" in trial.values
    }
    assert found == {("agent", 0): pytest.approx(200), ("agent", 2): pytest.approx(200)}
