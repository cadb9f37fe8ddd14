"""The target collector: what its experiments may say, what is put on the engine, and how its trials are judged."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

import pytest

from lab.analysis.checks import judge
from lab.analysis.metrics import values
from lab.cli import LAB
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.load.generator import LoadPlan, Stage
from lab.load.telemetrygen import Telemetrygen
from lab.record.data import TrialData
from lab.record.results import Results, read_results, write_results
from lab.record.trial import ContainerRecord, HeadPart, StartPart, TrialRecord, Window, WindowPart
from lab.report.source import observe
from lab.spec.experiment import Experiment
from lab.spec.parse import parse_experiment
from lab.spec.problems import SpecError
from lab.target.collector import deployment
from lab.target.collector.counted import HOLDING
from lab.target.collector.settings import CollectorLevel, CollectorLevelSettings
from tests.fake import FakeClock
from tests.observed import SECOND_NS, START_NS, counters

ROOT = Path(__file__).resolve().parents[2]
SPEC = (ROOT / "experiments" / "collector-quick.yaml").read_text().replace("workers: 20", "workers: 2")
TARGET = LAB.targets["collector"]
CORES = {"collector": 0.2, "sink": 0.1, "telemetrygen": 0.3, "observer": 0.01}
ROLES = {"collector": "collector", "sink": "backend", "telemetrygen": "generator", "observer": "observer"}
LOAD_S = 19
GENERATED = {"load_s": 19.0, "spans_planned": 19_000.0, "spans_generated": 19_000.0}
PASSED_ON = {
    "accepted_spans": 19_000,
    "refused_spans": 0,
    "send_failed_spans": 0,
    "dropped_spans": 0,
    "delivered": 19_000,
}
# A full queue rejected some spans, and nobody knows what became of others that were accepted.
LOST = {**PASSED_ON, "accepted_spans": 15_000, "refused_spans": 4_000, "dropped_spans": 4_000, "delivered": 11_000}


def experiment(old: str = "", new: str = "") -> Experiment:
    return parse_experiment(SPEC.replace(old, new), "test", LAB.grammar)


# --- declaration --------------------------------------------------------------------------------------------------


def test_levels_have_the_targets_pipeline_or_their_own() -> None:
    levels = {level.name: level.settings for level in experiment().levels()}
    assert {name: level.pipeline_name for name, level in levels.items()} == {
        "batched": "discard",
        "unbatched": "discard-unbatched",
    }


def test_where_each_pipeline_sends_is_read_from_its_file() -> None:
    pipelines = TARGET.declaration.pipelines()  # type: ignore[attr-defined]
    assert {name for name, to in pipelines.items() if "collector" in to} == {"edge", "edge-tail-sampling"}
    assert pipelines["basic"] == pipelines["basic-http"] == ["sink", "traces"]
    # It sends to Jaeger.
    assert [name for name, to in pipelines.items() if not to] == ["recommended"]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("pipeline: discard}", "pipeline: discart}", "no pipeline 'discart' sends to the sink; did you mean 'discard'"),
        ("discard-unbatched", "recommended", "no pipeline 'recommended' sends to the sink"),
        ("warm_up_s: 4", "warm_up_requests: 4", "expected warm_up_s"),
        ("{pipeline: discard-unbatched}", "{memory_mb: 64}", "memory_mib"),
        ("kind: collector", "kind: colector", "collector"),
        ("workers: 2", "workers: 0", "workers"),
        (
            "unbatched: {",
            "unbatched: {spans: [5, 5], attributes: [8, 8], ",
            "level unbatched: attributes, spans: telemetrygen cannot do that; leave it out",
        ),
        ("unbatched: {", "unbatched: {transport: http, ", "level unbatched: transport: telemetrygen cannot do that"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, says: str) -> None:
    with pytest.raises(SpecError) as wrong:
        experiment(old, new)
    assert says in "\n".join(f"{problem.path} {problem.text}" for problem in wrong.value.problems)


def test_a_generator_of_another_protocol_is_rejected() -> None:
    load = SPEC[SPEC.index("  generator:") : SPEC.index("factors:")]
    with pytest.raises(SpecError) as wrong:
        experiment(load, "  generator: open-loop\n  schedule: {kind: open-loop, requests_per_s: 10}\n")
    assert "open-loop sends http, a Collector takes otlp" in wrong.value.problems[0].text


def test_a_target_without_profiler_and_with_its_own_needs() -> None:
    assert TARGET.profiled(experiment().baseline_level(), "-agentpath:x") is None
    assert TARGET.declaration.needs(experiment()).images == ("collector", "sink")


# --- deployment ---------------------------------------------------------------------------------------------------


def place(driver: Any = None) -> Place:
    return Place(ROOT, CpuSplit((0,), (1,)), driver, FakeClock(), ROOT / ".lab" / "faults.json")


def level(**settings: Any) -> CollectorLevel:
    return CollectorLevel("x", CollectorLevelSettings(pipeline="discard", **settings))


def test_the_stack_gives_the_collector_its_pipeline_limits_and_cpus() -> None:
    made = deployment.stack(level(memory_mib=64, environment={"A": "$1"}), place())
    assert made.services == ("sink", "collector", "scraper")
    assert made.overlay["services"] == {
        "collector": {
            "image": "tollbooth/collector:${COLLECTOR_VERSION}",
            "cpuset": "${SERVICE_CPUS:-}",
            "mem_limit": "64m",
            "volumes": [f"{ROOT}/collector/pipelines/discard.yaml:/etc/otelcol/config.yaml:ro"],
            "environment": {
                "GOMAXPROCS": "1",
                "GOMEMLIMIT": "40MiB",
                "RETURN_ENDPOINT": "sink:4317",
                "RETURN_URL": "http://sink:4318",
                "SAMPLING_PERCENT": "25",
                "A": "$$1",
            },
        }
    }
    assert made.environment == {"COLLECTORS": "collector=http://collector:8888/metrics"}


def test_the_first_of_two_stages_gets_the_load_and_both_are_measured() -> None:
    staged = level(edges=2, returns=True, cpus=1.5, release="earlier")
    made = deployment.stack(staged, place())
    assert made.services == ("edge-1", "edge-2", "collector", "scraper")
    edge, last = made.overlay["services"]["edge-1"], made.overlay["services"]["collector"]  # type: ignore[index]
    assert edge["extends"] == {"file": f"{ROOT}/compose.yaml", "service": "edge"}
    assert edge["volumes"] == [f"{ROOT}/collector/pipelines/edge.yaml:/etc/otelcol/config.yaml:ro"]
    assert last["environment"]["RETURN_ENDPOINT"] == "traces:4317"
    assert last["environment"]["RETURN_URL"] == "http://traces:4318"
    assert (last["environment"]["GOMAXPROCS"], last["cpus"]) == ("2", 1.5)
    assert last["image"] == "tollbooth/collector-earlier:${COLLECTOR_EARLIER_VERSION}"
    deployed = deployment.CollectorDeployment(staged, place(), Path("/out"))
    assert (deployed.endpoint().host, deployed.endpoint().port) == ("edge-1,edge-2", 4317)
    assert deployed.roles() == {**dict.fromkeys(("edge-1", "edge-2", "collector"), "collector"), "scraper": "scraper"}


# --- generator ----------------------------------------------------------------------------------------------------


class Generating:
    """An engine whose generator ends with what its workers generated in its log."""

    def __init__(self, *traces: int, exit_code: int = 0) -> None:
        self.log = [f'x INFO traces/worker.go traces generated {{"worker": 0, "traces": {count}}}' for count in traces]
        self.exit_code = exit_code

    def start(self, services: object) -> None: ...

    def time_ns(self) -> int:
        return START_NS

    def wait(self, service: str, timeout_s: float) -> int:
        return self.exit_code

    def last_log_lines(self, service: str, count: int) -> list[str]:
        return [*self.log, "x INFO stopping the exporter"]


def loaded(out: Path, engine: Generating) -> tuple[LoadPlan, Stage]:
    of = experiment()
    endpoint = deployment.CollectorDeployment(level(), place(), out).endpoint()
    stage = Stage(engine, FakeClock(), out, lambda name, what: RuntimeError(f"{name} {what}"))  # type: ignore[arg-type]
    return LoadPlan(of.load, of.protocol, endpoint, 0, 1), stage


def test_the_generator_is_given_each_workers_rate_and_counts_its_spans(tmp_path: Path) -> None:
    plan, stage = loaded(tmp_path, Generating(100, 101))
    assert Telemetrygen().environment(plan) == {
        "LOAD_TARGET": "collector:4317",
        "LOAD_WORKERS": "2",
        "LOAD_SPANS_PER_WORKER_S": "2000",
        "LOAD_BOUND_S": "19",
    }
    found = Telemetrygen().measure(plan, stage, {})
    assert found.requests is None
    assert (found.window_start_ns - START_NS, found.window_end_ns - START_NS) == (4 * SECOND_NS, 16 * SECOND_NS)
    counted = read_results(tmp_path / "results-generator.json").values
    assert counted == {"load_s": 19.0, "spans_planned": 76_000.0, "spans_generated": 402.0}


@pytest.mark.parametrize(
    ("engine", "says"),
    [
        (Generating(1, 2, exit_code=1), "telemetrygen ended with exit code 1"),
        (Generating(1), "telemetrygen reported the traces of 1 workers"),
    ],
)
def test_a_generator_that_fails_is_named(engine: Generating, says: str, tmp_path: Path) -> None:
    plan, stage = loaded(tmp_path, engine)
    with pytest.raises(RuntimeError, match=says):
        Telemetrygen().measure(plan, stage, {})


# --- judgement ----------------------------------------------------------------------------------------------------


def scraped(counted: Mapping[str, int], seconds: int = LOAD_S + 2) -> str:
    """Return the scraper's record of a Collector whose counters rise evenly over the load to what is given."""
    header = {"format": "tollbooth.collector", "version": 1, "interval_ns": SECOND_NS, "t_ns": START_NS}
    lines: list[dict[str, Any]] = [header]
    for second in range(seconds + 1):
        share = min(1.0, second / LOAD_S)
        values = {name: round(share * value) for name, value in counted.items() if name != "delivered"}
        lines.append({"t_ns": START_NS + second * SECOND_NS, "name": "collector", "failed_scrapes": 0, **values})
    return "".join(json.dumps(line) + "\n" for line in lines)


Judged = Callable[..., TrialData]


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Return what judges a trial whose records are as a good one's, but for what is given."""

    def made(
        generated: Mapping[str, float] = GENERATED,
        passed_on: Mapping[str, float] = PASSED_ON,
        cores: Mapping[str, float] = CORES,
        text: str | None = None,
        oom_killed: bool = False,
        settings: Mapping[str, object] = MappingProxyType({"pipeline": "discard"}),
        **observed: Any,
    ) -> TrialData:
        (tmp_path / "counters.jsonl").write_text(counters(cores, **observed) if text is None else text)
        write_results(tmp_path, "generator", Results(values=generated))
        (tmp_path / "collector.jsonl").write_text(scraped(passed_on))
        write_results(tmp_path, "sink", Results(values={"spans_delivered": float(passed_on["delivered"])}))
        containers = {
            name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=oom_killed, exit_code=0)
            for name, role in ROLES.items()
        }
        start_ns, end_ns = START_NS + 4 * SECOND_NS, START_NS + 16 * SECOND_NS
        record = TrialRecord.of(
            HeadPart(number=1, attempt=1, block=0, position=0, level="x", settings=dict(settings)),
            WindowPart(window=Window(load_start_ns=START_NS, start_ns=start_ns, end_ns=end_ns)),
            StartPart(containers=containers),
        )
        return judge(tmp_path, record, TARGET.judgement)

    return made


def test_a_good_trial_is_valid_and_its_spans_have_a_cost(judged: Judged) -> None:
    data = judged()
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    # 0.2 cores at 1,000 spans per second.
    assert found["cpu_per_span_us"] == pytest.approx(200)
    assert found["memory_collector_mean_mib"] == pytest.approx(40)
    assert found["spans_per_s"] == pytest.approx(1000)
    assert found["spans_lost_fraction"] == 0
    assert found["cpu_generator_cores"] == pytest.approx(0.3)


def test_bytes_have_a_cost_where_the_generator_counts_them(judged: Judged, tmp_path: Path) -> None:
    assert not {"span_bytes", "cpu_per_mb_ms"} & values(judged(), TARGET.judgement.metrics).keys()
    header = {"format": "tollbooth.generator", "version": 1, "t_ns": START_NS, "interval_ns": SECOND_NS}
    reading = {"t_ns": START_NS + 19 * SECOND_NS, "spans_sent": 19_000, "bytes_sent": 400 * 19_000}
    (tmp_path / "generator-0.jsonl").write_text(f"{json.dumps(header)}\n{json.dumps(reading)}\n")
    found = values(judged(), TARGET.judgement.metrics)
    assert (found["span_bytes"], found["cpu_per_mb_ms"]) == (400, pytest.approx(500))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"generated": {}}, "not counted: load_s, spans_generated"),
        ({"passed_on": dict.fromkeys(PASSED_ON, 0)}, "the Collector accepted no span"),
        ({"generated": {**GENERATED, "spans_planned": 25_000.0}}, "generated 19000 spans, planned were 25000"),
        (
            {"passed_on": {**PASSED_ON, "accepted_spans": 18_000, "delivered": 18_000}},
            "the generator generated 19000 spans, of which 18000 accepted and 0 refused",
        ),
        (
            {"passed_on": {**PASSED_ON, "delivered": 15_000, "dropped_spans": 10}},
            "the Collector accepted 19000 spans, of which 15000 delivered and 10 dropped",
        ),
        ({"text": counters(CORES)[:-20]}, "the observer was killed"),
        ({"cores": {**CORES, "telemetrygen": 0.95}}, "the generator telemetrygen used 95 % of a core"),
        ({"steal": 0.2}, "the host stole 20 %"),
        ({"seconds": 10}, "do not cover the window"),
        ({"oom_killed": True}, "ran out of memory"),
    ],
)
def test_a_bad_trial_is_rejected_with_its_reason(judged: Judged, wrong: Mapping[str, Any], says: str) -> None:
    assert says in "; ".join(judged(**wrong).trial.reasons)


def test_what_the_collector_counted_as_dropped_is_a_result(judged: Judged) -> None:
    data = judged(passed_on={**PASSED_ON, "delivered": 15_200, "dropped_spans": 3_800})
    assert data.trial.valid
    assert values(data, TARGET.judgement.metrics)["spans_lost_fraction"] == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("settings", "counted", "dropped"),
    [
        # Nothing is held between receiver and queue: what found the queue full was rejected.
        ({"pipeline": "basic"}, LOST, 0),
        ({"pipeline": "memory-limited"}, {**LOST, "send_failed_spans": 1_000, "dropped_spans": 5_000}, 1_000),
        # Batches were accepted before they found the queue full. The memory limiter rejected the others.
        ({"pipeline": "discard"}, LOST, 4_000),
        ({"pipeline": "group-route"}, {**LOST, "refused_spans": 0}, 4_000),
    ],
)
def test_what_a_full_queue_rejected_does_not_account_for_what_was_accepted(
    settings: Mapping[str, object], counted: Mapping[str, float], dropped: int, judged: Judged
) -> None:
    lost = f"the Collector accepted 15000 spans, of which 11000 delivered and {dropped} dropped"
    reasons = "; ".join(judged(passed_on=counted, settings=settings).trial.reasons)
    assert (lost in reasons) == (dropped < 4_000)


def test_which_pipelines_hold_spans_is_as_in_their_files() -> None:
    files = {path.stem: path.read_text() for path in (ROOT / "collector" / "pipelines").glob("*.yaml")}
    processors = {name: re.findall(r"processors: \[(.*)\]", text) for name, text in files.items()}
    holding = re.compile(r"\b(batch|groupbytrace|tail_sampling)\b")
    assert {name for name, each in processors.items() if holding.search(str(each))} == HOLDING


def test_the_report_shows_a_trial_without_requests(judged: Judged) -> None:
    shown = observe(judged())
    assert len(shown.from_start_ms) == 0
    assert shown.cpu.services == pytest.approx(0.2)


def test_the_sink_and_the_collector_are_read_before_they_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[str] = []
    seconds = 1
    driver = SimpleNamespace(
        stop=lambda names: done.append(f"stop {' '.join(names)}"), time_ns=lambda: START_NS + seconds * SECOND_NS
    )
    (tmp_path / "collector.jsonl").write_text(scraped(PASSED_ON, seconds))

    def get(self: object, port: str, path: str) -> bytes:
        done.append(path)
        return json.dumps(dict.fromkeys(SINK_COUNTERS, 86)).encode()

    def awaited(reached: Callable[[], bool], *args: object) -> bool:
        nonlocal seconds
        done.append(f"scraped {reached()}")
        (tmp_path / "collector.jsonl").write_text(scraped(PASSED_ON, seconds := seconds + 1))
        done.append(f"scraped {reached()}")
        return True

    monkeypatch.setattr("lab.backend.http.Http.get", get)
    monkeypatch.setattr("lab.engine.scraped.wait_until", awaited)
    deployment.CollectorDeployment(level(), place(driver), tmp_path).drain()
    last = ["scraped False", "scraped True"]
    assert done == [*last, "/counters", "/counters", *last, "stop collector scraper observer"]
    assert read_results(tmp_path / "results-sink.json").values == {"spans_delivered": 86}


class Retrying(FakeClock):
    """A clock in whose pauses a Collector is scraped. It sends its last request, of 6 spans, again after `retry_s`."""

    def __init__(self, record: Path, queued: bool, retry_s: float) -> None:
        super().__init__()
        self.record, self.queued, self.retry_s = record, queued, retry_s
        self.sleep(0)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        size = 1 if self.queued and self.time_s < self.retry_s else 0
        self.record.write_text(scraped({**PASSED_ON, "queue_size": LOAD_S * size}, seconds=int(self.time_s)))

    def time_ns(self) -> int:
        return START_NS + int(self.time_s * SECOND_NS)

    def counters(self) -> bytes:
        return json.dumps(dict.fromkeys(SINK_COUNTERS, 86 if self.time_s >= self.retry_s else 80)).encode()


@pytest.mark.parametrize(
    ("release", "queued", "retry_s", "delivered", "ends_s"),
    [
        ("current", True, 7.4, 86, (8, 12)),
        # An earlier Collector does not show a request that it will send again.
        ("earlier", False, 12.4, 86, (26, 29)),
        # Not for ever.
        ("current", True, 100, 80, (20, 24)),
        ("current", False, 0, 86, (1, 4)),
    ],
)
def test_a_request_that_is_sent_again_is_waited_for(
    release: str,
    queued: bool,
    retry_s: float,
    delivered: int,
    ends_s: tuple[float, float],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Retrying(tmp_path / "collector.jsonl", queued, retry_s)
    monkeypatch.setattr("lab.backend.http.Http.get", lambda *_: clock.counters())
    driver = SimpleNamespace(stop=lambda names: None, time_ns=clock.time_ns)
    at = replace(place(driver), clock=clock)
    deployment.CollectorDeployment(level(release=release), at, tmp_path).drain()
    assert read_results(tmp_path / "results-sink.json").values == {"spans_delivered": delivered}
    assert ends_s[0] <= clock.now_s() <= ends_s[1]


# --- docs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["adding-a-target", "adding-a-generator"])
def test_the_pages_show_the_files_as_they_are(page: str) -> None:
    """Each block is from a file that the page names (`# ...`: lines left out); of a diff, the new lines are."""
    text = (ROOT / "docs" / "how-to" / f"{page}.md").read_text().replace("    # ...\n", "")
    parts = re.split(r"^```", text, flags=re.MULTILINE)
    named = {name for prose in parts[::2] for name in re.findall(r"`([\w./-]+\.(?:py|yaml))`", prose)}
    files = "".join((ROOT / name).read_text() for name in named if (ROOT / name).is_file())
    for kind, _, code in (block.partition("\n") for block in parts[1::2]):
        shown = re.findall(r"^\+(.*)$", code, re.MULTILINE) if kind == "diff" else code.split("\n\n")
        assert kind == "sh" or all(part.strip("\n") in files for part in shown)


SINK_COUNTERS = ("accepted_spans", "refused_spans", "requests", "bytes")
