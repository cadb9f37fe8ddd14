"""Profiles: what a collapsed file says, whom a stack is charged to, what a level adds, and how profiles are taken."""

import io
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest
from rich.console import Console

from lab.analysis.profile.compare import by_library, by_thread, together, tree
from lab.analysis.profile.libraries import (
    GC,
    JIT,
    NATIVE,
    RUNTIME,
    VIRTUAL,
    library,
    method,
    owner,
    path,
    thread_kind,
)
from lab.analysis.profile.records import (
    Cost,
    Costs,
    NodeProfile,
    ProfileRecord,
    added_up,
    collapsed,
    costs,
    parse_collapsed,
    read_profile,
    slice_s,
    slices,
    within,
)
from lab.backend import BACKENDS
from lab.engine.driver import EngineGone
from lab.errors import UserError
from lab.record.requests import read_requests
from lab.run import runner
from lab.run.profiles import LIBRARY, agent_option
from lab.run.progress import Progress
from lab.run.start import Context
from tests import benches, synthetic
from tests.fake import FakeBackend, FakeDriver
from tests.labs import MESH, level

ROOT = Path(__file__).resolve().parents[2]
CARRIER = "[ForkJoinPool-1-worker-2 tid=39]"
EXPORTER = "[BatchSpanProcessor_WorkerThread-1 tid=50]"
TOMCAT = "org/apache/catalina/core/StandardWrapperValve.invoke"
SPRING = "org/springframework/web/servlet/DispatcherServlet.doGet"
WRAPPER = "tollbooth/telemetry/otel/TracingFilter.doFilter"
SDK = "io/opentelemetry/sdk/trace/SdkSpan.end"
QUEUE = "java/util/concurrent/ArrayBlockingQueue.offer"


def test_collapsed_text_is_read_and_written_alike() -> None:
    text = "[C2 CompilerThre tid=9];Compile::Optimize 4\n[VM Thread tid=1];f(a b) 1\n"
    stacks = parse_collapsed(text, "x")
    assert stacks == {("[C2 CompilerThre tid=9]", "Compile::Optimize"): 4, ("[VM Thread tid=1]", "f(a b)"): 1}
    assert collapsed(stacks) == text
    assert parse_collapsed("", "x") == {}


@pytest.mark.parametrize("line", ["[a];b", "3", "[a];b 1.5", " 3"])
def test_a_line_that_is_no_stack_is_named(line: str) -> None:
    with pytest.raises(UserError, match=r"a1.collapsed, line 2: not a collapsed stack"):
        parse_collapsed(f"[t];f 1\n{line}\n", "a1.collapsed")


def test_stacks_of_several_files_add_up() -> None:
    assert added_up([{("a", "b"): 1, ("a",): 2}, {("a", "b"): 3}]) == {("a", "b"): 4, ("a",): 2}


def written(folder: Path, node: str, end_s: Mapping[int, float]) -> None:
    for number, seconds in end_s.items():
        path = folder / f"{node}.{number}.collapsed"
        path.write_text(f"{CARRIER};{SPRING} {number}\n")
        os.utime(path, ns=(0, round(seconds * 1e9)))


def test_a_slice_begins_where_the_one_before_it_ended(tmp_path: Path) -> None:
    written(tmp_path, "a", {0: 1, 1: 2.1, 2: 3, 10: 4})
    written(tmp_path, "a-b", {0: 1, 1: 9})
    found = slices(tmp_path, "a")
    assert [(one.path.name, one.start_ns, one.end_ns) for one in found] == [
        ("a.1.collapsed", 1_000_000_000, 2_100_000_000),
        ("a.2.collapsed", 2_100_000_000, 3_000_000_000),
        ("a.10.collapsed", 3_000_000_000, 4_000_000_000),
    ]
    assert within(found, 2_000_000_000, 3_999_999_999) == found[1:2]
    assert within(found, 0, 1_500_000_000) == []


@pytest.mark.parametrize(("window_s", "seconds"), [(2, 1), (6, 1), (15, 3), (60, 12)])
def test_a_window_holds_at_least_four_whole_slices(window_s: float, seconds: int) -> None:
    assert slice_s(window_s) == seconds


@pytest.mark.parametrize(
    ("frame", "kind"),
    [
        ("[C1 CompilerThre tid=22]", JIT),
        ("[VM Thread tid=15]", GC),
        ("[ForkJoinPool-1-worker-12 tid=38]", VIRTUAL),
        ("[ForkJoinPool.commonPool-worker-1 tid=38]", "ForkJoinPool.commonPool-worker-#"),
        ("[http-nio-8080-Acceptor tid=35]", "http-nio-#-Acceptor"),
        ("[OkHttp http://jaeger:4317/... tid=8]", "OkHttp http://jaeger:#/..."),
    ],
)
def test_threads_are_classified_by_what_they_are_for(frame: str, kind: str) -> None:
    assert thread_kind(frame) == kind


@pytest.mark.parametrize(
    ("frame", "name"),
    [
        (SPRING, "org.springframework.web"),
        ("okio/Buffer.write", "okio"),
        ("tollbooth/web/Peers$$Lambda.apply", "tollbooth.web"),
        ("io/opentelemetry/javaagent/shaded/io/opentelemetry/api/trace/Span.end", "io.opentelemetry.api"),
        ("io/opentelemetry/javaagent/shaded/instrumentation/api/Cache.get", "io.opentelemetry.instrumentation"),
        ("jdk/internal/net/http/HttpClientImpl.send", "java.net.http"),
        ("java/net/http/HttpRequest.newBuilder", "java.net.http"),
        ("java/net/Socket.connect", None),
        ("kotlin/text/StringsKt.trim", None),
        ("/usr/lib/x86_64-linux-gnu/libc.so.6", None),
        ("Compile::Optimize", None),
        ("itable stub", None),
        ("Main.main", None),
    ],
)
def test_a_frame_belongs_to_the_library_of_its_package(frame: str, name: str | None) -> None:
    assert library(frame) == name


def test_a_stack_is_charged_to_the_library_nearest_to_what_ran() -> None:
    assert owner((CARRIER, TOMCAT, SPRING, SDK, QUEUE, "malloc")) == "io.opentelemetry.sdk"
    assert method((CARRIER, TOMCAT, SPRING, SDK, QUEUE, "malloc")) == "SdkSpan.end"
    assert owner((CARRIER, QUEUE)) == RUNTIME
    assert method((CARRIER, QUEUE)) is None
    assert owner(("[C2 CompilerThre tid=9]", "Compile::Optimize")) == JIT
    assert owner(("[VM Thread tid=9]",)) == GC


def test_frames_of_one_library_are_one_box_and_the_jdk_shows_only_at_the_end() -> None:
    stack = (
        CARRIER,
        "java/lang/Thread.run",
        TOMCAT,
        QUEUE,
        TOMCAT,
        SPRING,
        SPRING,
        QUEUE,
        QUEUE,
        "sun/nio/ch/N.w",
        "w",
    )
    assert path(stack, (), ()) == (
        VIRTUAL, "org.apache.catalina", "org.springframework.web", "java.util", "sun.nio", NATIVE
    )  # fmt: skip


def test_a_library_that_only_passes_a_call_on_is_left_out_of_its_way() -> None:
    known = {"org.apache.catalina", "org.springframework.web"}
    way = (VIRTUAL, "org.apache.catalina", "org.springframework.web")
    assert path((CARRIER, TOMCAT, WRAPPER, TOMCAT, SPRING), known, {VIRTUAL}) == way
    assert path((CARRIER, TOMCAT, WRAPPER, SDK), known, {VIRTUAL}) == (
        VIRTUAL, "org.apache.catalina", "tollbooth.telemetry.otel", "io.opentelemetry.sdk"
    )  # fmt: skip
    # On a thread that the baseline does not have it is what the thread is there for.
    assert "tollbooth.telemetry.otel" in path((EXPORTER, WRAPPER, SPRING), known, {VIRTUAL})


def node(samples: int, requests: float = 10, cpu_ms: float = 400) -> NodeProfile:
    return NodeProfile(start_ns=0, end_ns=1, slices=4, samples=samples, requests=requests, cpu_ns=cpu_ms * 1e6)


def test_the_cpu_time_that_the_kernel_counted_is_shared_out_among_samples() -> None:
    record = ProfileRecord(level="x", nodes={"a1": node(20), "a2": node(10, requests=5, cpu_ms=100)})
    found = costs(record, {"a1": {("t", "f"): 15, ("t", "g"): 5}, "a2": {("t", "f"): 10}})
    assert found[("t", "f")].ms == pytest.approx(30 + 20)
    assert found[("t", "g")].ms == pytest.approx(10)
    assert sum(cost.ms for cost in found.values()) == pytest.approx(record.cpu_per_request_ms)
    # 5 samples of 2 ms each: the standard deviation of their number is sqrt(5).
    assert found[("t", "g")].margin_ms == pytest.approx(1.96 * 5**0.5 * 2)
    assert record.samples == 30


BASELINE: Costs = {
    (CARRIER, TOMCAT): Cost(4, 0.1),
    (CARRIER, TOMCAT, SPRING): Cost(10, 0.1),
    ("[C1 CompilerThre tid=1]",): Cost(6, 0.1),
}
TRACED: Costs = {
    (CARRIER, TOMCAT): Cost(4.2, 0.1),
    (CARRIER, TOMCAT, WRAPPER, TOMCAT, SPRING): Cost(10, 0.1),
    (CARRIER, TOMCAT, WRAPPER, SDK, QUEUE): Cost(3, 0.1),
    (EXPORTER, SDK): Cost(2, 0.1),
    ("[C1 CompilerThre tid=7]",): Cost(5, 0.1),
}


def test_what_libraries_and_threads_add_is_the_whole_difference() -> None:
    for groups in (by_library(TRACED, BASELINE), by_thread(TRACED, BASELINE)):
        assert together(groups, "all").cost.added.ms == pytest.approx(4.2)
    libraries = by_library(TRACED, BASELINE)
    assert [group.name for group in libraries] == [
        "io.opentelemetry.sdk", "org.apache.catalina", "org.springframework.web", JIT
    ]  # fmt: skip
    sdk, tomcat, *_, jit = libraries
    assert sdk.cost.added.ms == pytest.approx(5)
    assert sdk.cost.sure
    assert [name for name, _ in sdk.most_added(2)] == ["SdkSpan.end"]
    assert not tomcat.cost.sure
    assert jit.cost.added.ms == pytest.approx(-1)
    assert jit.most_added(2) == []
    added = {group.name: group.cost.added.ms for group in by_thread(TRACED, BASELINE)}
    assert added["BatchSpanProcessor_WorkerThread-#"] == pytest.approx(2)


def test_the_tree_compares_the_same_way_at_both() -> None:
    root = tree(TRACED, BASELINE, "all")
    assert root.cost.level.ms == pytest.approx(24.2)
    assert root.cost.baseline.ms == pytest.approx(20)
    spring = root.children[VIRTUAL].children["org.apache.catalina"].children["org.springframework.web"]
    assert spring.cost.added.ms == pytest.approx(0)
    wrapper = root.children[VIRTUAL].children["org.apache.catalina"].children["tollbooth.telemetry.otel"]
    assert list(wrapper.children["io.opentelemetry.sdk"].children) == ["java.util"]
    for box in (root, root.children[VIRTUAL]):
        below = sum(child.cost.level.ms for child in box.children.values())
        assert below <= box.cost.level.ms + 1e-9


# --- profiled trials on an engine that takes no time

SPEC = """
format: tollbooth.experiment
version: 2
title: Test
question: Where does it go?
target: {kind: mesh, topology: mesh}
load: {generator: locust, schedule: {kind: closed-loop, users: 12, think_time_s: [1.0, 1.1]}}
factors:
  telemetry:
    manual: {telemetry: otel-manual}
    none: {telemetry: baseline, environment: {JAVA_OPTS: "-Xss512k"}}
baseline: none
protocol: {warm_up_s: 10, window_s: 15, repetitions: 1, budget_min: 2, seed: 7}
profile: true
"""


@pytest.fixture(autouse=True)
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BACKENDS, "jaeger", FakeBackend)
    benches.without_images(monkeypatch)


@dataclass
class ProfilingDriver(FakeDriver):
    """Writes a slice every 3 s, as the profiler would; `silent` services write none."""

    silent: tuple[str, ...] = ()

    @property
    def java_opts(self) -> Mapping[str, str]:
        assert self.deployment is not None
        services = self.deployment.overlay["services"]
        assert isinstance(services, dict)
        return {name: service["environment"].get("JAVA_OPTS", "") for name, service in services.items()}

    @property
    def profiling(self) -> bool:
        return all(LIBRARY in options for options in self.java_opts.values())

    def _write_records(self) -> None:
        super()._write_records()
        start_s = int(read_requests(self._out / "requests.csv").start_ns.min()) / 1e9
        for name in synthetic.SERVICES if self.profiling else ():
            if name not in self.silent:
                written(self._out / "ready", name, {number: start_s - 4 + 3 * number for number in range(1, 12)})


def bench(driver: FakeDriver, spec: str = SPEC) -> Context:
    return benches.context(driver, spec)


def complete(on: Context, results: Path, run: runner.Run | None = None) -> tuple[runner.Run, str]:
    said = io.StringIO()
    run = run or runner.new_run(on, results, ["lab", "run", "test"], {})
    runner.complete(on, run, Progress(Console(file=said, width=200)))
    return run, said.getvalue()


def test_every_level_but_the_placebo_is_profiled_once_after_the_measured_trials(tmp_path: Path) -> None:
    driver = ProfilingDriver()
    run, said = complete(bench(driver), tmp_path)
    assert sorted(folder.name for folder in run.folder.glob("profiles/*")) == ["manual", "none"]
    assert len(list(run.folder.glob("trials/*/trial.json"))) == 3
    assert driver.loads == 5
    assert said.index("2 profiles to make") > said.index("[  3/3]")
    assert said.index("profiling none") < said.index("profiling manual")
    assert not list(run.folder.glob("trials/*/ready/*.collapsed"))
    # Two minutes are the budget of the measured trials alone.
    assert driver.clock.now_s() > 120
    assert run.manifest["durations_s"]["profiles"] > 0


def test_a_profile_holds_the_slices_of_its_window_and_what_they_cost(tmp_path: Path) -> None:
    run, _ = complete(bench(ProfilingDriver()), tmp_path)
    folder = run.folder / "profiles" / "none"
    profile = read_profile(folder)
    # The window is from 10 s to 25 s after the first request; slices end at 2, 5, 8, 11, ... 26 s, each 3 s long.
    for node in synthetic.SERVICES:
        assert profile.record.nodes[node].slices == 4
        assert parse_collapsed((folder / f"{node}.collapsed").read_text(), "")[CARRIER, SPRING] == 6 + 7 + 8 + 9
        assert profile.record.nodes[node].end_ns - profile.record.nodes[node].start_ns == pytest.approx(12e9)
    assert profile.record.cpu_per_request_ms == pytest.approx(synthetic.QUICK["baseline"].cpu_ms, rel=0.1)
    assert list(profile.costs) == [(CARRIER, SPRING)]
    assert profile.trial.valid
    assert profile.trial.level == "none"
    assert LIBRARY in profile.trial.settings["environment"]["JAVA_OPTS"]
    assert not list((folder / "ready").glob("*.collapsed"))


def test_the_profiler_comes_beside_the_options_that_a_level_has() -> None:
    given = level("x", environment={"A": "1", "JAVA_OPTS": "-Xss512k -Xint"})
    environment = MESH.profiled(given, agent_option(3)).settings.environment
    assert environment["A"] == "1"
    options = environment["JAVA_OPTS"].split()
    assert options[:2] == ["-Xss512k", "-Xint"]
    assert re.fullmatch(r"-agentpath:/app/profiler/libasyncProfiler\.so=start,event=ctimer,\S*loop=3s\S*", options[2])
    alone = MESH.profiled(level("x"), agent_option(1)).settings.environment
    assert alone["JAVA_OPTS"].startswith("-agentpath:")


def test_without_the_field_nothing_is_profiled(tmp_path: Path) -> None:
    driver = ProfilingDriver()
    run, said = complete(bench(driver, SPEC.replace("profile: true", "")), tmp_path)
    assert driver.loads == 3
    assert not (run.folder / "profiles").exists()
    assert "profil" not in said


def test_a_profile_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    driver = ProfilingDriver()
    on = bench(driver)
    run = runner.new_run(on, tmp_path, ["lab"], {})
    driver.change = lambda trial, load: (driver.fail.update(wait=EngineGone("gone")) or trial) if load == 4 else trial
    with pytest.raises(EngineGone):
        complete(on, tmp_path, run)
    assert [folder.name for folder in run.folder.glob("profiles/*")] == ["none"]
    kept = (run.folder / "profiles" / "none" / "profile.json").stat().st_mtime_ns

    resumed, said = complete(on, tmp_path, runner.unfinished_run(on, tmp_path, {}))
    assert "1 profiles to make" in said
    assert driver.loads == 5
    assert (resumed.folder / "profiles" / "none" / "profile.json").stat().st_mtime_ns == kept
    assert (resumed.folder / "profiles" / "manual" / "profile.json").exists()


def test_a_profile_without_samples_is_one_line_and_the_study_goes_on(tmp_path: Path) -> None:
    run, said = complete(bench(ProfilingDriver(silent=("a2",))), tmp_path)
    assert "no profile of none: the profiler of a2 wrote no sample of the window" in said.splitlines()
    assert "no profile of manual: the profiler of a2 wrote no sample of the window" in said.splitlines()
    assert not (run.folder / "profiles").exists()
    assert not (run.folder / ".in-progress").exists()
    assert json.loads((run.folder / "manifest.json").read_text())["finished"]


def test_an_image_without_the_profiler_is_said_once_and_the_study_goes_on(tmp_path: Path) -> None:
    class Old(ProfilingDriver):
        def start(self, services: object) -> None:
            self.dies_at_start = "a1" if self.profiling else None
            super().start(services)  # type: ignore[arg-type]

    log = f"Error occurred during initialization of VM\nCould not find agent library {LIBRARY} in absolute path"
    run, said = complete(bench(Old(log=log)), tmp_path)
    assert said.count("no profile of") == 1
    assert f"no profile of none: the services' image has no {LIBRARY}" in said
    assert "build the image again" in said
    assert json.loads((run.folder / "manifest.json").read_text())["finished"]


@pytest.mark.parametrize(
    ("broken", "message"),
    [
        (lambda folder: (folder / "profile.json").write_text('{"format":"tollbooth.profile","version":2}'), "version"),
        (lambda folder: (folder / "profile.json").write_text('{"format":"tollbooth.profile","version":1}'), "profile"),
        (lambda folder: (folder / "a1.collapsed").unlink(), "a1.collapsed cannot be read"),
    ],
)
def test_a_broken_profile_is_named(tmp_path: Path, broken: object, message: str) -> None:
    run, _ = complete(bench(ProfilingDriver()), tmp_path)
    folder = run.folder / "profiles" / "none"
    broken(folder)  # type: ignore[operator]
    with pytest.raises(UserError, match=message):
        read_profile(folder)
