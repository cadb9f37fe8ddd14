"""Faults on an engine that takes no time: the schedule, the journal, and that whatever ends a trial lifts them."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from lab.engine.clock import SystemClock, wait_until
from lab.engine.driver import EngineGone, EngineRejected, Stack
from lab.fault.fault import DeclaredFault, Subject
from lab.fault.journal import Journal, lift_leftovers
from lab.fault.kinds import parse_fault
from lab.fault.run import ContainerTime, Injector, injector
from lab.fault.sink import Receiver
from lab.record.faults import Injection, read_injections
from tests.fake import FakeClock, FakeDriver
from tests.synthetic.truth import EPOCH_NS


def fault(kind: str, start_s: float, length_s: float = 5, target: str = "a1", **size: float) -> DeclaredFault:
    return parse_fault({"kind": kind, "target": target, "start_s": start_s, "length_s": length_s, **size})


class FakeProxy:
    """A sidecar's administration page. It aborts as set, from a load of 100 requests between two looks."""

    def __init__(self) -> None:
        self.set: list[dict[str, int | str]] = []
        self.requests = 0

    def set_runtime(self, values: Mapping[str, int | str]) -> None:
        self.set.append(dict(values))

    def counters(self) -> Mapping[str, int]:
        self.requests += 100
        aborts = self.requests // 5
        return {"http.inbound.downstream_rq_total": self.requests, "http.inbound.fault.aborts_injected": aborts}


class Bench:
    """An injector on a fake engine."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.clock = FakeClock()
        self.driver = FakeDriver(clock=self.clock, deployment=Stack(("a1", "a2"), {}, {"TRIAL_DIR": str(folder)}))
        self.proxy = FakeProxy()
        self.journal = Journal(folder / "journal.json")
        (folder / "ready").mkdir()
        subject = Subject(
            self.driver, self.clock, folder / "ready", {"a2": "a2-envoy"}, lambda _: self.proxy, domain=".internal"
        )
        self.injector: Injector = injector(subject, self.journal, folder / "faults.jsonl")

    def play(self, *faults: DeclaredFault) -> list[str]:
        """Plays faults and returns what was done to the engine."""
        self.injector.play(faults, self.clock.now_s(), self._wait)
        return self.driver.done

    def _wait(self, seconds: float) -> bool:
        self.clock.sleep(seconds)
        return True

    def injections(self) -> list[Injection]:
        return list(read_injections(self.folder / "faults.jsonl"))


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_faults_come_and_go_at_their_times_in_the_containers_time(bench: Bench) -> None:
    done = bench.play(fault("frozen", 10), fault("cpu-cut", 2, 20, "a3", size=0.25))
    assert done == ["limit_cpus a3 0.25", "pause a1", "unpause a1", "limit_cpus a3 None"]
    frozen, cut = bench.injections()
    assert frozen.fault == {"kind": "frozen", "target": "a1", "start_s": 10.0, "length_s": 5.0}
    assert frozen.injected is not None
    assert frozen.lifted is not None
    # The fake engine takes a second for each command.
    assert (frozen.injected.begin_ns, frozen.injected.end_ns) == (EPOCH_NS + 10 * 10**9, EPOCH_NS + 11 * 10**9)
    assert frozen.lifted.begin_ns == EPOCH_NS + 15 * 10**9
    assert cut.injected is not None
    assert cut.injected.begin_ns == EPOCH_NS + 2 * 10**9
    assert not bench.journal.path.exists()


def test_a_process_is_started_again_with_its_sidecar(bench: Bench) -> None:
    done = bench.play(fault("killed", 0, target="a2"))
    assert done == ["kill a2 a2-envoy", "start"]
    assert bench.driver.running >= {"a2", "a2-envoy"}
    (killed,) = bench.injections()
    assert killed.injected is not None
    assert killed.injected.seen == {"address": "172.18.0.3", "ended": "a2 a2-envoy"}


def test_the_network_is_taken_and_given_back(bench: Bench) -> None:
    assert bench.play(fault("cut-off", 0)) == ["disconnect a1 app", "connect a1 app a1 a1.internal"]


def test_a_bandwidth_is_capped_on_the_network_of_requests(bench: Bench) -> None:
    assert bench.play(fault("bandwidth-cap", 0, size=80)) == [
        "run_beside a1 shape 172.18.0.0/16 tbf rate 80000bit burst 2000 latency 400ms",
        "run_beside a1 shape 172.18.0.0/16 off",
    ]
    (capped,) = bench.injections()
    assert capped.lifted is not None
    assert capped.lifted.seen == {"packets": 10, "drops": 0, "overlimits": 2}


def test_a_proxy_is_configured_and_its_counters_are_kept(bench: Bench) -> None:
    bench.play(fault("envoy-abort", 0, target="a2", size=0.2))
    key = "fault.http.abort.abort_percent"
    assert bench.proxy.set == [{key: '{"numerator": 200000, "denominator": "MILLION"}'}, {key: ""}]
    (abort,) = bench.injections()
    assert abort.injected is not None
    assert abort.lifted is not None
    assert abort.injected.seen == {"faults": 20, "requests": 100}
    assert abort.lifted.seen == {"faults": 40, "requests": 200}


def test_a_proxys_fault_of_a_node_without_one_is_recorded_as_not_possible(bench: Bench) -> None:
    bench.play(fault("envoy-delay", 0, size=10))
    assert [one.rejected for one in bench.injections()] == ["a1 has no sidecar"]


class Service:
    """A service that takes its fault over as soon as somebody waits for that."""

    def __init__(self, bench: Bench) -> None:
        self.wishes: list[dict[str, object]] = []
        ready, sleep = bench.folder / "ready", bench.clock.sleep

        def answer(seconds: float) -> None:
            sleep(seconds)
            wish = json.loads((ready / "a1.fault.json").read_text())
            self.wishes.append(wish)
            counted = {"operations": 10 * len(self.wishes), "errors": len(self.wishes), "waited_ns": 5, "given_up": 0}
            taken = {"format": "tollbooth.fault-taken", "version": 1, "number": wish["number"], **counted}
            (ready / "a1.fault-taken.json").write_text(json.dumps(taken))

        bench.clock.sleep = answer  # type: ignore[method-assign]


def test_a_service_is_configured_by_a_file_and_answers_with_its_counters(bench: Bench) -> None:
    service = Service(bench)
    bench.injector.play([fault("application-error", 0, size=0.5)], bench.clock.now_s(), lambda _: True)
    head = {"format": "tollbooth.fault", "version": 1}
    assert service.wishes == [{**head, "number": 1, "error_probability": 0.5}, {**head, "number": 2}]
    (error,) = bench.injections()
    assert error.lifted is not None
    assert error.lifted.seen == {"operations": 20, "errors": 2, "waited_ns": 5, "given_up": 0}


def test_a_service_that_does_not_answer_is_recorded_as_not_possible(bench: Bench) -> None:
    bench.play(fault("application-latency", 0, size=50))
    assert [one.rejected for one in bench.injections()] == ["a1 did not apply a1.fault.json within 5 s"]


@pytest.mark.parametrize(
    ("said", "reason"),
    [
        ("`docker` failed: Error: Specified qdisc kind is unknown.", "this kernel has no netem (module sch_netem)"),
        ("`docker` failed: RTNETLINK answers: No such file or directory", "this kernel has no netem"),
        ("`docker` failed: no interface to 172.18.0.0/16", "no interface to 172.18.0.0/16"),
    ],
)
def test_a_kernel_without_netem_is_named_and_the_other_faults_go_on(bench: Bench, said: str, reason: str) -> None:
    bench.driver.fail["run_beside"] = EngineRejected(said)
    bench.play(fault("packet-loss", 0, size=0.1), fault("frozen", 2))
    loss, frozen = bench.injections()
    assert loss.rejected is not None
    assert reason in loss.rejected
    assert frozen.lifted is not None
    assert not bench.journal.path.exists()


def test_a_fault_is_in_the_journal_before_it_is_there(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[list[str]] = []
    monkeypatch.setattr(bench.driver, "pause", lambda _: noted.append(Journal(bench.journal.path).left()))
    bench.play(fault("cpu-cut", 0, 20, "a3", size=0.25), fault("frozen", 5))
    assert noted == [["cpu-cut of a3", "frozen of a1"]]


@pytest.mark.parametrize("error", [KeyboardInterrupt(), SystemExit(1), RuntimeError("a mistake")])
def test_whatever_ends_a_trial_in_mid_fault_lifts_what_is_in_force(
    bench: Bench, monkeypatch: pytest.MonkeyPatch, error: BaseException
) -> None:
    sleep = bench.clock.sleep

    def until_the_12th_second(seconds: float) -> None:
        sleep(seconds)
        if bench.clock.now_s() >= 12:
            monkeypatch.setattr(bench.clock, "sleep", sleep)
            raise error

    monkeypatch.setattr(bench.clock, "sleep", until_the_12th_second)
    with pytest.raises(type(error)):
        bench.play(fault("cpu-cut", 2, 20, "a3", size=0.25), fault("frozen", 10), fault("killed", 40))
    assert bench.driver.done == ["limit_cpus a3 0.25", "pause a1", "unpause a1", "limit_cpus a3 None"]
    assert not bench.journal.path.exists()
    assert all(one.lifted for one in bench.injections())


def test_an_interruption_within_a_command_lifts_what_it_was_about_to_do(bench: Bench) -> None:
    bench.driver.fail["pause"] = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        bench.play(fault("frozen", 0))
    assert bench.driver.done == ["pause a1", "unpause a1"]
    assert not bench.journal.path.exists()


def test_a_fault_that_cannot_be_lifted_is_recorded(bench: Bench) -> None:
    bench.driver.fail["unpause"] = EngineRejected("it is not paused")
    bench.play(fault("frozen", 0))
    assert [one.rejected for one in bench.injections()] == ["it could not be lifted: it is not paused"]


def test_a_fault_that_could_not_be_lifted_stays_in_the_journal(bench: Bench) -> None:
    bench.driver.fail["unpause"] = EngineRejected("it is not paused")
    bench.play(fault("frozen", 0), fault("cpu-cut", 2, 20, "a3", size=0.25))
    frozen, cut = bench.injections()
    assert (frozen.lifted, cut.rejected) == (None, None)
    assert Journal(bench.journal.path).left() == ["frozen of a1"]


def test_an_engine_that_goes_leaves_the_fault_in_the_journal_for_the_next_start(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(_: str) -> None:
        raise EngineGone("gone")

    monkeypatch.setattr(bench.driver, "unpause", gone)
    with pytest.raises(EngineGone):
        bench.play(fault("frozen", 0))
    assert Journal(bench.journal.path).left() == ["frozen of a1"]


def test_what_a_killed_runner_left_is_lifted_at_the_next_start_and_said(tmp_path: Path) -> None:
    journal, driver = Journal(tmp_path / "scratch" / "faults.json"), FakeDriver()
    journal.add(0, fault("frozen", 10, target="a2"))
    journal.add(1, fault("cut-off", 12))
    said: list[str] = []
    for _ in range(2):
        lift_leftovers(Journal(journal.path), driver, said.append)
    assert driver.done == ["remove"]
    assert said == [
        "an earlier run ended during a fault (frozen of a2, cut-off of a1): its containers are removed, which lifts it"
    ]
    assert not journal.path.exists()


@pytest.mark.parametrize("text", ["", "{}", '{"format": "tollbooth.fault-journal", "version": 9, "faults": {}}', "[1]"])
def test_a_journal_that_cannot_be_read_stops_nobody(tmp_path: Path, text: str) -> None:
    path, driver, said = tmp_path / "faults.json", FakeDriver(), list[str]()
    path.write_text(text)
    lift_leftovers(Journal(path), driver, said.append)
    assert driver.done == ["remove"]
    assert "a fault that another version of the lab recorded" in said[0]
    assert not path.exists()


def test_beside_a_load_the_faults_are_lifted_when_the_load_ends(bench: Bench) -> None:
    with bench.injector.during_load([fault("frozen", 0, 3600)], bench.clock.now_s()):
        assert wait_until(lambda: "pause a1" in bench.driver.done, 10, 0.01, SystemClock())
    assert bench.driver.done == ["pause a1", "unpause a1"]


def test_beside_a_load_that_is_interrupted_the_faults_are_lifted_first(bench: Bench) -> None:
    with (
        pytest.raises(KeyboardInterrupt),
        bench.injector.during_load([fault("frozen", 0, 3600)], bench.clock.now_s()),
    ):
        assert wait_until(lambda: "pause a1" in bench.driver.done, 10, 0.01, SystemClock())
        raise KeyboardInterrupt
    assert bench.driver.done == ["pause a1", "unpause a1"]
    assert not bench.journal.path.exists()


def test_beside_a_load_a_mistake_in_the_faults_is_not_lost(bench: Bench) -> None:
    bench.driver.fail["pause"] = RuntimeError("a mistake")
    with (
        pytest.raises(RuntimeError, match="a mistake"),
        bench.injector.during_load([fault("frozen", 0)], bench.clock.now_s()),
    ):
        assert wait_until(lambda: "unpause a1" in bench.driver.done, 10, 0.01, SystemClock())


class LateDriver(FakeDriver):
    """An engine whose answers take a while: the second is the quickest."""

    readings = 0

    def time_ns(self) -> int:
        took_s = (0.4, 0.02, 0.2)[self.readings]
        self.readings += 1
        self.clock.sleep(took_s / 2)
        now_ns = super().time_ns()
        self.clock.sleep(took_s / 2)
        return now_ns


def test_the_containers_time_is_believed_from_the_quickest_answer() -> None:
    clock = FakeClock()
    time = ContainerTime(LateDriver(clock=clock), clock)
    assert time.error_ns == pytest.approx(0.01 * 1e9)
    clock.sleep(5)
    assert time.now_ns() == pytest.approx(EPOCH_NS + clock.now_s() * 1e9, abs=1000)


def test_a_backends_fault_is_one_of_its_network(bench: Bench) -> None:
    subject = Subject(bench.driver, bench.clock, bench.folder, roles={"sink": "backend"})
    for of, network, subnet in (("a1", "app", "172.18.0.0/16"), ("sink", "telemetry", "172.19.0.0/16")):
        bench.driver.done.clear()
        fault("cut-off", 0, target=of).inject(subject)
        fault("bandwidth-cap", 0, target=of, size=64).inject(subject)
        assert bench.driver.done[0] == f"disconnect {of} {network}"
        assert bench.driver.done[1].startswith(f"run_beside {of} shape {subnet} tbf rate 64000bit")


def test_the_sink_is_set_to_answer_one_endpoint_late(bench: Bench) -> None:
    behaviours: list[Mapping[str, object]] = []
    subject = Receiver(
        bench.driver,
        bench.clock,
        bench.folder,
        behave=behaviours.append,
        counted=lambda: {"delayed_requests": len(behaviours)},
    )
    late = fault("answer-delay", 0, target="collector-a", size=500)
    assert (late.inject(subject), late.lift(subject)) == ({"delayed_requests": 0}, {"delayed_requests": 1})
    assert behaviours == [{"behaviour": "slow", "delay_ms": 500, "sender": "collector-a"}, {"behaviour": "accept"}]
