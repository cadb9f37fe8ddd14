"""The target jmh: what its experiments may say, what is put on the engine, its record, and its judgement."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from lab.analysis.checks import judge
from lab.analysis.metrics import values
from lab.cli import LAB
from lab.engine.driver import StartFailed
from lab.engine.machine import CpuSplit
from lab.engine.place import Place
from lab.errors import UserError
from lab.record import Window
from lab.record.data import TrialData
from lab.record.jmh import read_jmh
from lab.record.trial import ContainerRecord, HeadPart, StartPart, TrialRecord, WindowPart
from lab.spec.experiment import Experiment
from lab.spec.parse import parse_experiment
from lab.spec.problems import SpecError
from lab.target.jmh import deployment
from lab.target.jmh.settings import JmhLevel, JmhLevelSettings
from tests.fake import FakeClock
from tests.observed import SECOND_NS, START_NS, counters
from tests.repository import ROOT

SPEC = (ROOT / "experiments" / "span-jmh.yaml").read_text()
FIXTURE = ROOT / "fixtures" / "jmh.v1.json"
TARGET = LAB.targets["jmh"]
PARAMETERS = {"tracer": "sdk-discard", "attributes": "10"}


def experiment(old: str = "", new: str = "") -> Experiment:
    return parse_experiment(SPEC.replace(old, new), "test", LAB.grammar)


# --- declaration --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "benchmark: BurstBenchmark",
            "benchmark: BrustBenchmark",
            "no benchmark is called 'BrustBenchmark'; did you mean",
        ),
        (
            "parameters: {tracer: late,",
            "parameters: {trace: late,",
            "CallerBenchmark has no parameter 'trace'; did you",
        ),
        (
            "parameters: {tracer: late,",
            "parameters: {trace: late,",
            "CallerBenchmark needs a value of its parameter 'tracer'",
        ),
        ("tracer: mutex,", 'tracer: "mutex,late",', "parameters"),
        ("compiler: c1", "compiler: c3", "c1"),
    ],
)
def test_a_mistake_is_named(old: str, new: str, says: str) -> None:
    with pytest.raises(SpecError) as wrong:
        experiment(old, new)
    assert says in "\n".join(f"{problem.path} {problem.text}" for problem in wrong.value.problems)


def test_a_load_is_rejected() -> None:
    load = "{generator: open-loop, schedule: {kind: open-loop, requests_per_s: 10}}"
    times = "protocol:\n  warm_up_s: 1\n  window_s: 5\n"
    with pytest.raises(SpecError) as wrong:
        parse_experiment(SPEC.replace("{generator: none}", load).replace("protocol:\n", times), "test", LAB.grammar)
    assert [problem.text for problem in wrong.value.problems] == [
        "open-loop sends a load, and benchmarks take none; expected none"
    ]


def test_the_parameters_are_those_of_the_sources() -> None:
    known = TARGET.declaration.benchmarks()
    assert {name: list(known[name]) for name in ("CallerBenchmark", "LastByteBenchmark", "BurstBenchmark")} == {
        "CallerBenchmark": ["tracer", "attributes"],
        "LastByteBenchmark": ["tracer", "attributes"],
        "BurstBenchmark": ["tracer", "threads"],
    }


def test_it_needs_the_memory_of_its_largest_level() -> None:
    needs = TARGET.declaration.needs(experiment())
    assert (needs.services, needs.images, needs.own_cpus) == (("benchmark",), ("benchmarks",), False)
    assert needs.system_bytes == 1 << 30
    assert TARGET.profiled(experiment().baseline_level(), "-agentpath:x") is None


def test_a_level_has_the_iterations_of_the_target() -> None:
    settings = experiment("iteration_ms: 1000", "iteration_ms: 20").baseline_level().settings
    assert (settings.warm_up_iterations, settings.iterations, settings.iteration_ms) == (8, 5, 20)


# --- deployment ---------------------------------------------------------------------------------------------------


def place(driver: Any = None) -> Place:
    return Place(ROOT, CpuSplit((0,), (1,)), driver, FakeClock(), ROOT / ".lab" / "faults.json")


def level(**settings: Any) -> JmhLevel:
    given = {"benchmark": "CallerBenchmark", "parameters": PARAMETERS, **settings}
    return JmhLevel("x", JmhLevelSettings.model_validate(given))


@pytest.mark.parametrize(
    ("compiler", "flags"), [("c2", "-Xms400m -Xmx400m"), ("c1", "-Xms400m -Xmx400m -XX:TieredStopAtLevel=1")]
)
def test_jmh_gets_the_levels_options(compiler: str, flags: str) -> None:
    made = deployment.stack(level(compiler=compiler, memory_mib=800, iterations=3, environment={"A": "$1"}))
    assert (made.services, made.environment) == (("benchmark",), {})
    (found,) = made.overlay["services"].values()  # type: ignore[attr-defined]
    assert (found["mem_limit"], found["environment"]) == ("800m", {"A": "$$1"})
    assert found["command"] == [
        *("[.]CallerBenchmark[.]", "-f", "1", "-foe", "true"),
        *("-wi", "8", "-w", "1000ms", "-i", "3", "-r", "1000ms"),
        *("-prof", "gc", "-prof", "tollbooth.benchmarks.IterationProfiler"),
        *("-jvmArgsAppend", f"{flags} --enable-native-access=ALL-UNNAMED"),
        *("-p", "tracer=sdk-discard", "-p", "attributes=10"),
    ]


def driver(running: bool, on_start: Callable[[], object] = lambda: None) -> Any:
    return SimpleNamespace(
        start=lambda names: on_start(),
        containers=lambda: {"benchmark": SimpleNamespace(running=running, exit_code=1)},
        last_log_lines=lambda name, count: ["Error: no such class"],
    )


def test_a_fork_runs_to_its_end_and_its_iterations_are_the_window(tmp_path: Path) -> None:
    record = {"format": "tollbooth.jmh", "version": 1, "failed": None, "results": [measured()]}
    fork = driver(True, lambda: (tmp_path / "jmh.json").write_text(json.dumps(record)))
    deployed = deployment.JmhDeployment(level(), place(fork), tmp_path)
    (tmp_path / "counters.jsonl").write_text(counters({"benchmark": 0.5}))
    assert deployed.ready(("observer",)) == {}
    assert deployed.endpoint() is None
    with deployed.measuring(deployed.level, 1, 0.0) as measuring:
        (part,) = measuring.parts()
    start_ns, end_ns = START_NS + 4 * SECOND_NS, START_NS + 16 * SECOND_NS
    assert part == WindowPart(window=Window(load_start_ns=start_ns, start_ns=start_ns, end_ns=end_ns))
    assert deployed.place.clock.now_s() == 0


def test_a_benchmark_that_failed_has_no_window(tmp_path: Path) -> None:
    (tmp_path / "jmh.json").write_text('{"format":"tollbooth.jmh","version":1,"failed":"x","results":[]}')
    deployed = deployment.JmhDeployment(level(), place(driver(True)), tmp_path)
    with deployed.measuring(deployed.level, 1, 0.0) as measuring:
        assert measuring.parts() == (WindowPart(window=None),)


@pytest.mark.parametrize(
    ("running", "says"), [(False, "ended with exit code 1"), (True, "had left no record after 159 s")]
)
def test_a_fork_without_a_record_is_named(running: bool, says: str, tmp_path: Path) -> None:
    deployed = deployment.JmhDeployment(level(), place(driver(running)), tmp_path)
    with pytest.raises(StartFailed, match=f"benchmark {says}"):
        deployed.ready(())


# --- record -------------------------------------------------------------------------------------------------------


def test_the_fixture_is_read() -> None:
    record = read_jmh(FIXTURE)
    (run,) = record.results
    assert (record.failed, run.parameters) == (None, {"attributes": "10", "tracer": "sdk-discard"})
    assert run.primary.unit == "ns/op"
    assert len(run.primary.iterations) == len(run.secondary["operations"].iterations) == 2
    assert set(run.versions) == {"jmh-core", "java"}


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"version":1', '"version":2', "version 2"),
        ('"scoreUnit" : "ns/op",', "", "primaryMetric.scoreUnit"),
        ('"failed":null,', "", "failed"),
    ],
)
def test_another_record_is_rejected(old: str, new: str, says: str, tmp_path: Path) -> None:
    (tmp_path / "jmh.json").write_text(FIXTURE.read_text().replace(old, new))
    with pytest.raises(UserError, match=says):
        read_jmh(tmp_path / "jmh.json")


def test_the_versions_are_those_that_ran(tmp_path: Path) -> None:
    assert TARGET.versions(tmp_path) == {}
    (tmp_path / "jmh.json").write_text(FIXTURE.read_text())
    assert TARGET.versions(tmp_path)["jmh-core"] == "1.37"


# --- judgement ----------------------------------------------------------------------------------------------------

Judged = Callable[..., TrialData]
LAST_BYTE = {"spans": 4e4, "cpuNs": 8e7, "bodyBytes": 1.6e7, "backendCpuNs": 2e7, "plannedNs": 2e9, "takenNs": 2.02e9}
WARM_UP_S = 4


def measured(**counted: float) -> dict[str, Any]:
    """Return one of JMH's results: two iterations of which each counted a half, from 4 to 16 s after the start."""
    start_ns, half_ns = START_NS + WARM_UP_S * SECOND_NS, 6 * SECOND_NS
    of_iterations = {
        "startNs": [start_ns, start_ns + half_ns],
        "endNs": [start_ns + half_ns, start_ns + 2 * half_ns],
        "operations": [10, 30],
        "processCpuNs": [1e4, 3e4],
        "gc.alloc.rate.norm": [100.0, 200.0],
        **{name: [value / 2, value / 2] for name, value in counted.items()},
    }
    return {
        "jmhVersion": "1.37",
        "jdkVersion": "25",
        "benchmark": "tollbooth.benchmarks.spans.CallerBenchmark.spans",
        "jvmArgs": ["-Xmx512m"],
        "params": PARAMETERS,
        "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[400.0, 500.0]]},
        "secondaryMetrics": {name: {"scoreUnit": "#", "rawData": [one]} for name, one in of_iterations.items()},
    }


@pytest.fixture
def judged(tmp_path: Path) -> Judged:
    """Return what judges a fork whose records are as a good one's, but for what is given."""

    def made(
        *results: Mapping[str, Any],
        failed: str | None = None,
        settings: Mapping[str, Any] | None = None,
        steal: float = 0.0,
        oom_killed: bool = False,
    ) -> TrialData:
        content = {"format": "tollbooth.jmh", "version": 1, "failed": failed, "results": list(results)}
        (tmp_path / "jmh.json").write_text(json.dumps(content))
        (tmp_path / "counters.jsonl").write_text(counters({"benchmark": 0.5, "observer": 0.01}, steal=steal))
        containers = {
            name: ContainerRecord(role=role, image="x", restarts=0, oom_killed=oom_killed, exit_code=0)
            for name, role in {"benchmark": "benchmark", "observer": "observer"}.items()
        }
        window = read_jmh(tmp_path / "jmh.json").results[0].window if results else None
        record = TrialRecord.of(
            HeadPart(
                number=1,
                attempt=1,
                block=0,
                position=0,
                level="x",
                settings={**level().recorded(), **(settings or {})},
            ),
            WindowPart(window=window),
            StartPart(containers=containers),
        )
        return judge(tmp_path, record, TARGET.judgement)

    return made


def test_of_a_calling_thread_operations_are_spans(judged: Judged) -> None:
    data = judged(measured())
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    assert found["caller_ns_per_span"] == 450
    assert found["cpu_per_span_ns"] == 1000
    # 10 operations of 100 B, and 30 of 200 B.
    assert found["allocated_bytes_per_span"] == 175
    assert found["spans_measured"] == 40
    assert found["cpu_benchmark_cores"] == pytest.approx(0.5)
    assert not {"burst_us", "spans_per_s", "body_bytes_per_span", "spans_dropped_fraction"} & found.keys()


def test_a_paced_benchmark_costs_what_it_used_until_the_last_byte(judged: Judged) -> None:
    data = judged(measured(**LAST_BYTE))
    assert data.trial.reasons == []
    found = values(data, TARGET.judgement.metrics)
    assert found["cpu_per_span_ns"] == 2000
    assert (found["body_bytes_per_span"], found["backend_cpu_per_span_ns"]) == (400, 500)
    assert found["allocated_bytes_per_span"] == pytest.approx(7000 / 4e4)
    assert found["spans_per_s"] == pytest.approx(4e4 / 2.02)
    assert found["pace_late_fraction"] == pytest.approx(0.01)
    assert not {"caller_ns_per_span", "burst_us"} & found.keys()


def test_a_burst_has_a_time_and_the_cpu_time_of_its_threads(judged: Judged) -> None:
    found = values(judged(measured(bursts=2, spans=8000, cpuNs=4e6)), TARGET.judgement.metrics)
    assert (found["burst_us"], found["caller_cpu_per_span_ns"]) == (450, 500)
    assert found["cpu_per_span_ns"] == 5


def test_drops_are_a_result_where_they_are_counted(judged: Judged) -> None:
    data = judged(measured(spans=300, dropped=100, takenNs=1e9))
    assert data.trial.valid
    found = values(data, TARGET.judgement.metrics)
    assert (found["spans_dropped_fraction"], found["spans_per_s"]) == (0.25, 300)


def test_an_iteration_whose_allocation_is_not_known_leaves_none(judged: Judged) -> None:
    one = measured()
    one["secondaryMetrics"]["gc.alloc.rate.norm"]["rawData"] = [[100.0]]
    found = values(judged(one), TARGET.judgement.metrics)
    assert "allocated_bytes_per_span" not in found
    assert found["cpu_per_span_ns"] == 1000


def test_the_compiler_is_that_of_the_level(judged: Judged) -> None:
    c1 = {**measured(), "jvmArgs": ["-Xmx512m", "-XX:TieredStopAtLevel=1"]}
    assert judged(c1, settings={"compiler": "c1"}).trial.valid
    assert "compiler was not c2" in "; ".join(judged(c1).trial.reasons)
    assert "compiler was not c1" in "; ".join(judged(measured(), settings={"compiler": "c1"}).trial.reasons)


@pytest.mark.parametrize(
    ("results", "given", "says"),
    [
        ((), {"failed": "4080 of 5000 spans were delivered"}, "the benchmark failed: 4080 of 5000 spans"),
        ((measured(), measured()), {}, "JMH measured 2 benchmarks, one was wanted"),
        ((measured(spans=0, dropped=10, takenNs=1e9),), {}, "every span was dropped"),
        ((measured(**{**LAST_BYTE, "takenNs": 2.3e9}),), {}, "15% longer than planned (limit 10%): saturated"),
        ((measured(),), {"settings": {"benchmark": "BurstBenchmark"}}, "not BurstBenchmark"),
        ((measured(),), {"settings": {"parameters": {"tracer": "late"}}}, "tracer was sdk-discard, not late"),
        ((measured(),), {"steal": 0.2}, "the host stole 20 %"),
        ((measured(),), {"oom_killed": True}, "ran out of memory"),
    ],
)
def test_a_bad_fork_is_rejected_with_its_reason(
    results: tuple[Mapping[str, Any], ...], given: Mapping[str, Any], says: str, judged: Judged
) -> None:
    assert says in "; ".join(judged(*results, **given).trial.reasons)
