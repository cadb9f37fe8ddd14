"""The target proxy: what its experiments may say, Envoy's configuration, and how its trials are judged."""

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.analysis.checks import judge
from lab.analysis.metrics import values
from lab.cli import LAB
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.record.data import TrialData
from lab.record.results import Results, read_results, write_results
from lab.record.trial import ContainerRecord, HeadPart, StartPart, TrialRecord, Window, WindowPart
from lab.spec.experiment import Experiment
from lab.spec.parse import parse_experiment
from lab.spec.problems import SpecError
from lab.target.proxy import configuration, counted, deployment
from lab.target.proxy.settings import ProxyLevel, ProxyLevelSettings
from tests.fake import FakeClock
from tests.observed import SECOND_NS, START_NS, counters

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "experiments" / "proxy-quick.yaml").read_text()
TARGET = LAB.targets["proxy"]
SOURCE = configuration.load(ROOT / "envoy" / "proxy")
MS_NS = 1_000_000
REQUESTS_PER_S = 100
CORES = {"proxy": 0.02, "testserver": 0.01, "collector": 0.1, "sink": 0.01, "open-loop": 0.03, "observer": 0.01}
ROLES = {
    "proxy": "proxy",
    "testserver": "backend",
    "collector": "backend",
    "sink": "backend",
    "open-loop": "generator",
    "observer": "observer",
}
OTEL_GRPC = {"tracer": "opentelemetry-grpc"}
COUNTED = {
    "requests_proxied": 2_000.0,
    "requests_sampled": 2_000.0,
    "requests_at_server": 2_000.0,
    "spans_sent": 1_900.0,
    "spans_dropped": 100.0,
    "timer_flushes": 4.0,
    "exports": 380.0,
    "exports_timed_out": 3.0,
    "exports_overflowed": 0.0,
    "exports_reset": 0.0,
    "exports_canceled": 0.0,
    "exports_failed_5xx": 0.0,
    "export_connections_failed": 0.0,
    "spans_accepted": 1_800.0,
    "spans_refused": 40.0,
    "spans_delivered": 1_800.0,
    "spans_dropped_by_collector": 0.0,
}


def experiment(old: str = "", new: str = "") -> Experiment:
    return parse_experiment(SPEC.replace(old, new), "test", LAB.grammar)


def settings(**given: Any) -> ProxyLevelSettings:
    return ProxyLevelSettings.model_validate(given)


# --- declaration --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("min_flush_spans: 125", "min_flush_spans: 0", "min_flush_spans"),
        ("min_flush_spans: 125", "min_flush_spans: -5", "min_flush_spans"),
        ("min_flush_spans: 125", "min_flush_span: 125", "did you mean 'min_flush_spans'"),
        ("tracer: none, ", "tracer: none, min_flush_spans: 5, ", "min_flush_spans has no effect on the tracer none"),
        ("opentelemetry-grpc, server", "zipkin-json, server", "the Collector takes no Zipkin; expected receiver: sink"),
        ("min_flush_spans: 125", "receiver: sink, sampler_percent: 101.0", "sampler_percent"),
        ("opentelemetry-grpc, server", "opentelemetry, server", "opentelemetry-grpc"),
        (
            "tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125",
            "tracer: opentelemetry-grpc, export_timeout_ms: 250",
            "export_timeout_ms has no effect on the tracer opentelemetry-grpc; it needs one of opentelemetry-http",
        ),
        (
            "tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125",
            "tracer: opentelemetry-http, export_retries: 2",
            "export_retries has no effect on the tracer opentelemetry-http; it needs one of opentelemetry-grpc",
        ),
        (
            "tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125",
            "tracer: zipkin-json, receiver: sink, max_cache_size: 9",
            "max_cache_size has no effect on the tracer zipkin-json",
        ),
        (
            "tracer: opentelemetry-grpc, server_delay_ms: 0, min_flush_spans: 125",
            "tracer: zipkin-json, receiver: sink, traceparent_sampled: true",
            "traceparent_sampled has no effect on the tracer zipkin-json",
        ),
    ],
)
def test_a_mistake_is_named(old: str, new: str, says: str) -> None:
    with pytest.raises(SpecError) as wrong:
        experiment(old, new)
    assert says in "\n".join(f"{problem.path} {problem.text}" for problem in wrong.value.problems)


def test_a_generator_that_sends_no_traceparent_is_rejected() -> None:
    load = SPEC[SPEC.index("  generator:") : SPEC.index("factors:")]
    users = "  generator: visitors\n  schedule: {kind: closed-loop, users: 4, think_time_s: [1.0, 1.0]}\n"
    text = SPEC.replace(load, users).replace("min_flush_spans: 125", "traceparent_sampled: false")
    with pytest.raises(SpecError) as wrong:
        parse_experiment(text, "test", LAB.grammar)
    assert "visitors sends no traceparent, which level 'otel-grpc-125' wants" in wrong.value.problems[0].text


def test_a_generator_that_sends_all_levels_one_load_is_rejected() -> None:
    text = SPEC.replace("generator: open-loop", "generator: fortio")
    text = text.replace("{kind: open-loop, requests_per_s: 300}", "{kind: saturated, connections: 4}")
    with pytest.raises(SpecError) as wrong:
        parse_experiment(text.replace("min_flush_spans: 125", "requests_per_s: 600"), "test", LAB.grammar)
    assert "level 'otel-grpc-125' wants its own rate" in wrong.value.problems[0].text


def test_a_generator_of_another_protocol_is_rejected() -> None:
    load = SPEC[SPEC.index("  generator:") : SPEC.index("factors:")]
    with pytest.raises(SpecError) as wrong:
        experiment(load, "  generator: telemetrygen\n  schedule: {kind: span-rate, spans_per_s: 10, workers: 1}\n")
    assert "telemetrygen sends otlp, a proxy takes http" in wrong.value.problems[0].text


def test_it_needs_the_receivers_of_its_levels() -> None:
    assert TARGET.declaration.needs(experiment()).images == ("envoy", "testserver", "collector", "sink")
    earlier = experiment("min_flush_spans: 125", 'release: "1.36"')
    assert TARGET.declaration.needs(earlier).images == ("envoy", "envoy-1.36", "testserver", "collector", "sink")
    only_sink = experiment("tracer: ", "receiver: sink, tracer: ")
    assert TARGET.declaration.needs(only_sink).images == ("envoy", "testserver", "sink")
    assert TARGET.profiled(experiment().baseline_level(), "-agentpath:x") is None


# --- Envoy's configuration ----------------------------------------------------------------------------------------


def manager(level: ProxyLevelSettings) -> Mapping[str, Any]:
    (listener,) = configuration.configuration(SOURCE, level)["static_resources"]["listeners"]
    found: Mapping[str, Any] = listener["filter_chains"][0]["filters"][0]["typed_config"]
    return found


def provider(level: ProxyLevelSettings) -> Mapping[str, Any]:
    found: Mapping[str, Any] = manager(level)["tracing"]["provider"]["typed_config"]
    return found


def runtime(level: ProxyLevelSettings) -> Mapping[str, Any]:
    layers = configuration.configuration(SOURCE, level)["layered_runtime"]["layers"]
    found: Mapping[str, Any] = layers[0]["static_layer"]
    return found


def test_without_a_tracer_there_is_no_tracing_and_no_receiver() -> None:
    whole = configuration.configuration(SOURCE, settings())
    assert "tracing" not in manager(settings())
    assert [cluster["name"] for cluster in whole["static_resources"]["clusters"]] == ["testserver"]


def test_a_request_makes_one_span_and_all_are_traced() -> None:
    tracing = manager(settings(tracer="opentelemetry-grpc"))["tracing"]
    assert (tracing["random_sampling"], tracing["spawn_upstream_span"]) == ({"value": 100}, False)
    assert manager(settings(tracer="opentelemetry-grpc", random_sampling_percent=0.0))["tracing"][
        "random_sampling"
    ] == {"value": 0}


@pytest.mark.parametrize(
    ("tracer", "port", "http2"),
    [
        ("opentelemetry-grpc", 4317, True),
        ("opentelemetry-http", 4318, False),
        ("zipkin-json", 9411, False),
        ("zipkin-protobuf", 9411, False),
    ],
)
def test_the_receiver_is_where_the_tracer_sends(tracer: str, port: int, http2: bool) -> None:
    level = settings(tracer=tracer, receiver="sink", receiver_max_requests=3)
    cluster = configuration.configuration(SOURCE, level)["static_resources"]["clusters"][1]
    address = cluster["load_assignment"]["endpoints"][0]["lb_endpoints"][0]["endpoint"]["address"]["socket_address"]
    assert address == {"address": "sink", "port_value": port}
    assert ("typed_extension_protocol_options" in cluster) == http2
    assert cluster["circuit_breakers"] == {"thresholds": [{"max_requests": 3}]}


def test_thresholds_are_runtime_values_of_the_tracer() -> None:
    given: dict[str, Any] = {"min_flush_spans": 125, "flush_interval_ms": 700, "export_timeout_ms": 250}
    assert runtime(settings(tracer="opentelemetry-http", **given)) == {
        "tracing.opentelemetry.min_flush_spans": 125,
        "tracing.opentelemetry.flush_interval_ms": 700,
    }
    assert runtime(settings(tracer="zipkin-json", **given)) == {
        "tracing.zipkin.min_flush_spans": 125,
        "tracing.zipkin.flush_interval_ms": 700,
        "tracing.zipkin.request_timeout": 250,
    }
    assert runtime(settings(tracer="opentelemetry-grpc")) == {}


def test_what_only_opentelemetry_has() -> None:
    grpc = provider(settings(tracer="opentelemetry-grpc", export_retries=2, max_cache_size=7))
    assert "timeout" not in grpc["grpc_service"]
    # Without conditions Envoy would accept the policy, and never use it.
    assert grpc["grpc_service"]["retry_policy"] == {"num_retries": 2, "retry_on": configuration.RETRY_ON}
    assert grpc["max_cache_size"] == 7
    http = provider(settings(tracer="opentelemetry-http", export_timeout_ms=250))
    assert http["http_service"]["http_uri"]["timeout"] == "0.25s"
    assert "sampler" not in http


def test_the_tracers_own_sampler() -> None:
    always = provider(settings(tracer="opentelemetry-grpc", sampler_percent=100.0))["sampler"]
    assert always["name"].endswith(".always_on")
    ratio = provider(settings(tracer="opentelemetry-grpc", sampler_percent=12.5))["sampler"]["typed_config"]
    assert ratio["sampling_percentage"] == {"numerator": 125_000, "denominator": "MILLION"}


def test_levels_do_not_share_parts() -> None:
    provider(settings(tracer="opentelemetry-grpc", max_cache_size=7))
    assert "max_cache_size" not in provider(settings(tracer="opentelemetry-grpc"))


# --- deployment ---------------------------------------------------------------------------------------------------


def place(driver: Any = None) -> Place:
    return Place(ROOT, CpuSplit((0,), (1,)), driver, FakeClock(), ROOT / ".lab" / "faults.json")


def test_the_stack_limits_the_receiver_and_sets_delay_and_workers() -> None:
    level = ProxyLevel("x", settings(tracer="opentelemetry-grpc", workers=2, receiver_cpus=0.2))
    made = deployment.stack(level, place())
    assert made.services == ("sink", "collector", "testserver", "proxy")
    pipeline = f"{ROOT}/collector/pipelines/discard.yaml:/etc/otelcol/config.yaml:ro"
    assert made.overlay == {"services": {"collector": {"cpus": 0.2, "volumes": [pipeline]}}}
    assert made.environment == {"PROXY_WORKERS": "2", "SERVER_DELAY": "10ms"}


def test_an_earlier_envoy_has_its_own_image() -> None:
    made = deployment.stack(ProxyLevel("x", settings(release="1.38")), place())
    assert made.overlay["services"]["proxy"] == {"image": "tollbooth/envoy-1.38:${ENVOY_1_38_VERSION}"}


def test_each_release_validates_its_configurations(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: dict[str, set[str]] = {}
    monkeypatch.setattr(
        "lab.engine.envoy_check.reject_invalid", lambda texts, image: checked.update({image: set(texts)})
    )
    TARGET.prepare(experiment("min_flush_spans: 125", 'release: "1.36"'), {"envoy": "new", "envoy-1.36": "old"})
    assert checked == {"new": {"none.json", "otel-grpc-5.json"}, "old": {"otel-grpc-125.json"}}


def test_the_sink_alone_may_be_the_receiver() -> None:
    level = ProxyLevel("x", settings(receiver="sink", server_delay_ms=0))
    made = deployment.stack(level, place())
    assert made.services == ("sink", "testserver", "proxy")
    assert (made.overlay, made.environment["SERVER_DELAY"]) == ({"services": {"sink": {}}}, "0ms")


@pytest.mark.parametrize(
    ("sampled", "carried"), [(None, {}), (False, {"trace_flags": "00"}), (True, {"trace_flags": "01"})]
)
def test_requests_carry_the_clients_flag(sampled: bool | None, carried: Mapping[str, object], tmp_path: Path) -> None:
    level = ProxyLevel("x", settings(tracer="opentelemetry-grpc", traceparent_sampled=sampled))
    assert deployment.ProxyDeployment(SOURCE, level, place(), tmp_path).request(level) == carried


def test_a_level_may_have_a_rate_of_its_own(tmp_path: Path) -> None:
    level = ProxyLevel("x", settings(tracer="opentelemetry-grpc", requests_per_s=600.0, traceparent_sampled=True))
    made = deployment.ProxyDeployment(SOURCE, level, place(), tmp_path)
    assert made.request(level) == {"requests_per_s": 600.0, "trace_flags": "01"}


class Answers:
    """Pages of the containers; Envoy's timers fire once between two readings."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fired = 0

    def get(self, port: str, path: str) -> bytes:
        self.calls.append(port)
        match port:
            case "PROXY_ADMIN_PORT":
                self.fired += 1
                counters = {
                    "http.proxy.downstream_rq_completed": 90,
                    "http.proxy.tracing.random_sampling": 90,
                    "tracing.opentelemetry.spans_sent": 88,
                    "tracing.opentelemetry.timer_flushed": self.fired,
                    "cluster.receiver.upstream_rq_total": 18,
                }
                stats = [{"name": name, "value": value} for name, value in counters.items()]
                return json.dumps({"stats": stats}).encode()
            case "TESTSERVER_PORT":
                return b'{"format":"tollbooth.testserver","version":1,"requests":91}'
            case "COLLECTOR_METRICS_PORT":
                return b"otelcol_receiver_accepted_spans_total 80\notelcol_receiver_refused_spans_total 5\n"
            case _ if path == "/trace":
                return b'{"spans": [{"tags": 13}]}'
            case _:
                return json.dumps(dict.fromkeys(("accepted_spans", "refused_spans", "requests", "bytes"), 80)).encode()


def test_all_count_before_they_end_and_after_every_thread_has_flushed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers = Answers()
    monkeypatch.setattr("lab.backend.http.Http.get", lambda _, port, path: answers.get(port, path))
    driver = SimpleNamespace(stop=lambda names: answers.calls.append(f"stop {' '.join(names)}"))
    level = ProxyLevel("x", settings(tracer="opentelemetry-grpc"))
    made = deployment.ProxyDeployment(SOURCE, level, place(driver), tmp_path)
    made.drain()
    # The first reading, two more until the main thread's timer and the worker's have fired, and the last one.
    assert answers.calls[:3] == ["PROXY_ADMIN_PORT"] * 3
    assert answers.fired == 4
    assert answers.calls[-1] == "stop proxy observer"
    found = read_results(tmp_path / "results-proxy.json").values
    exports = dict.fromkeys(counted.OF_EXPORTS, 0.0) | {"exports": 18.0}
    assert found == {
        "requests_proxied": 90.0,
        "requests_sampled": 90.0,
        "requests_at_server": 91.0,
        "spans_sent": 88.0,
        "spans_dropped": 0.0,
        "timer_flushes": 4.0,
        **exports,
        "spans_accepted": 80.0,
        "spans_refused": 5.0,
        "spans_dropped_by_collector": 0.0,
        "spans_delivered": 80.0,
        "attributes_per_span": 13.0,
    }


def test_a_sink_that_kept_no_trace_says_nothing_of_attributes() -> None:
    assert counted.attribute_values(None) == {}


def test_a_counter_that_envoy_lacks_is_left_out() -> None:
    assert "spans_sent" not in counted.proxy_values({}, "tracing.zipkin.")
    assert counted.proxy_values({"http.proxy.downstream_rq_completed": 3}, None) == {
        "requests_proxied": 3.0,
        "requests_sampled": 0.0,
    }


# --- judgement ----------------------------------------------------------------------------------------------------


def sent_bytes(since_s: int) -> list[Mapping[str, Any]]:
    """95 of 100 requests in a second make a span of 200 bytes that is sent."""
    counted = {"rx_bytes": 0, "tx_bytes": 95 * 200 * since_s}
    return [{"kind": "network", "name": "proxy", "interface": "eth1", "network": "telemetry", **counted}]


def requests_csv(late_ms: float = 0.0, status: int = 200) -> str:
    """Return the generator's record: request i of a second starts on time and takes i % 100 + 1 tenths of a ms."""
    step_ns = SECOND_NS // REQUESTS_PER_S
    lines = ["# tollbooth.requests v1", "user,target,intended_ns,start_ns,end_ns,status,bytes"]
    for index in range(20 * REQUESTS_PER_S):
        intended_ns = START_NS + index * step_ns
        start_ns = intended_ns + round(late_ms * MS_NS)
        end_ns = start_ns + (index % 100 + 1) * MS_NS // 10
        lines.append(f"0,/ten-bytes,{intended_ns},{start_ns},{end_ns},{status},10")
    return "\n".join(lines) + "\n"


Judged = Callable[..., TrialData]


def judged_in(
    folder: Path,
    without: tuple[str, ...] = (),
    cores: Mapping[str, float] = CORES,
    sent: str | None = None,
    given: Mapping[str, object] = OTEL_GRPC,
    **changed: float,
) -> TrialData:
    """Judge a trial whose records are as a good one's, but for what is given."""
    (folder / "counters.jsonl").write_text(counters(cores, throttled=0.25, more=sent_bytes))
    (folder / "requests.csv").write_text(sent or requests_csv())
    found = {name: value for name, value in {**COUNTED, **changed}.items() if name not in without}
    write_results(folder, "proxy", Results(values=found))
    containers = {
        name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=False, exit_code=0)
        for name, role in ROLES.items()
    }
    start_ns, end_ns = START_NS + 4 * SECOND_NS, START_NS + 16 * SECOND_NS
    recorded = settings(**given).model_dump(mode="json")
    record = TrialRecord.of(
        HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings=recorded),
        WindowPart(window=Window(load_start_ns=START_NS, start_ns=start_ns, end_ns=end_ns)),
        StartPart(containers=containers),
    )
    return judge(folder, record, TARGET.judgement)


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Return what judges a trial whose records are as a good one's, but for what is given."""
    return partial(judged_in, tmp_path)


def test_a_good_trial_is_valid_and_has_its_measures(judged: Judged) -> None:
    data = judged()
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    # 0.02 cores at 100 requests per second.
    assert found["cpu_per_request_us"] == pytest.approx(200, rel=1e-3)
    assert found["memory_proxy_mean_mib"] == pytest.approx(40)
    assert found["requests_per_s"] == pytest.approx(100, rel=1e-3)
    assert found["latency_p50_ms"] == pytest.approx(5.05, abs=0.06)
    assert found["latency_p999_ms"] == pytest.approx(10, abs=0.02)
    assert found["receiver_throttled_fraction"] == pytest.approx(0.25)
    assert found["cpu_receiver_cores"] == pytest.approx(0.1)
    # The ledger: 1,900 sent, of which 1,800 were accepted and 40 rejected; 100 more were dropped.
    assert found["spans_lost"] == 60
    assert found["spans_accepted_fraction"] == pytest.approx(0.9)
    assert found["spans_per_export"] == pytest.approx(5)
    assert found["bytes_per_span"] == pytest.approx(200, rel=1e-3)
    assert found["exports_timed_out"] == 3


def test_latency_since_the_intended_start_has_the_generators_delay(judged: Judged) -> None:
    found = values(judged(sent=requests_csv(late_ms=7)), TARGET.judgement.metrics)
    assert found["latency_intended_p999_ms"] - found["latency_p999_ms"] == pytest.approx(7)
    assert found["start_delay_p99_ms"] == pytest.approx(7)


def test_the_size_of_a_span_is_not_known_where_the_client_decides(judged: Judged) -> None:
    found = values(judged(given={**OTEL_GRPC, "traceparent_sampled": True}), TARGET.judgement.metrics)
    assert "bytes_per_span" not in found
    assert found["spans_accepted_fraction"] == pytest.approx(0.9)


def test_a_trial_without_tracing_has_no_spans(judged: Judged) -> None:
    spans = [name for name in COUNTED if "span" in name or "export" in name or name == "timer_flushes"]
    data = judged(without=tuple(spans), given={"tracer": "none"})
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    assert "spans_lost" not in found
    assert "bytes_per_span" not in found
    assert found["cpu_per_request_us"] == pytest.approx(200, rel=1e-3)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"without": ("spans_sent",)}, "not counted: spans_sent"),
        ({"requests_at_server": 1_900.0}, "the proxy counted 2000 requests, the test server answered 1900"),
        ({"sent": requests_csv(late_ms=150)}, "the generator could not hold the load"),
        ({"sent": requests_csv(status=503)}, "requests failed (status 503"),
        ({"cores": {**CORES, "open-loop": 0.95}}, "the generator open-loop used 95 % of a core"),
    ],
)
def test_a_bad_trial_is_rejected_with_its_reason(judged: Judged, wrong: Mapping[str, Any], says: str) -> None:
    assert says in "; ".join(judged(**wrong).trial.reasons)


def test_percentiles_are_named_as_published() -> None:
    names = TARGET.judgement.metrics.keys()
    for since in ("", "intended_"):
        assert {
            f"latency_{since}p{percentile}_ms" for percentile in ("50", "75", "80", "90", "95", "99", "999")
        } <= names
