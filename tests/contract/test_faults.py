"""The contract of every kind of fault on real containers: injected, verified, lifted; a sham is not verified.

Each kind takes the same course: first a sham, which does everything but the fault itself, then the fault.
"""

import http.client
import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

import pytest

from lab.command import paths, prepare
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.engine.compose import PROJECT, ComposeDriver
from lab.engine.lock import only_run
from lab.engine.ports import port
from lab.fault.fault import DeclaredFault, Proxy, Subject
from lab.fault.journal import Journal, lift_leftovers
from lab.fault.kinds import KINDS, parse_fault
from lab.fault.planes import SERVICE
from lab.fault.run import injector
from lab.fault.verified import unverified
from lab.record.counters import parse_counters, write_targets
from lab.record.data import TrialData
from lab.record.faults import Injection, read_injections
from lab.record.requests import REQUESTS_COLUMNS, REQUESTS_FIRST_LINE, parse_requests
from lab.record.trial import LOCAL, TrialRecord, Window
from lab.target.mesh.sidecars import ADMIN_PORT, Admin
from lab.target.mesh.topology import DOMAIN
from tests.contract.deployed import QUICK_START, system_with
from tests.contract.test_envoy_patterns import GRPC, running
from tests.fake import FakeDriver
from tests.labs import level

pytestmark = [pytest.mark.containers, pytest.mark.timeout(300)]

TARGET = "a1"
TOPOLOGY = """
format: tollbooth.topology
version: 1
entry: gateway
nodes:
  gateway: {kind: gateway, routes: {a1: a1.work}}
  a1: {kind: svc-a, operations: {work: {}}}
"""
# Seconds: of load before a fault, and of a fault.
BEFORE_S, LENGTH_S = 3.0, 3.0
CLIENTS = 4
# Between an answer and a client's next request, so that what else goes on here has CPU time, too.
THINK_S = 0.03
WARM_REQUESTS = 300
# So many answers distinguish a share of errors from none, some a packet that waits: a slow machine takes longer.
ANSWERS = {"application-error": 150, "envoy-abort": 150, "bandwidth-cap": 40}
SIZES = {
    "application-error": 0.3, "application-latency": 50, "envoy-abort": 0.3, "envoy-delay": 50, "cpu-cut": 0.05,
    "bandwidth-cap": 32, "packet-loss": 0.2, "packet-delay": 200,
}  # fmt: skip
BY_PROXY = [kind for kind, fault in KINDS.items() if fault.needs_sidecar]
OF_CONTAINERS = [kind for kind, fault in KINDS.items() if SERVICE in fault.roles and not fault.needs_sidecar]
NO_NETEM = "not possible: this kernel has no netem (module sch_netem)"


@pytest.fixture(scope="module", autouse=True)
def the_lab() -> Iterator[None]:
    images.ensure(("services", "observer", "sink", "envoy", "nettools"), print)
    with only_run(paths.LOCK):
        yield


@dataclass
class Load:
    """Clients that send one request after the other, each for as long as `send` takes, and write down what they got."""

    send: Callable[[], int]
    rows: list[str] = field(default_factory=list)

    def __enter__(self) -> "Load":
        self.ended = threading.Event()
        self.clients = [threading.Thread(target=self._client) for _ in range(CLIENTS)]
        for client in self.clients:
            client.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        for client in self.clients:
            client.join()

    def answered(self, count: int) -> None:
        """Waits for so many answers more."""
        wanted = len(self.rows) + count
        assert wait_until(lambda: len(self.rows) >= wanted, 60, 0.1, SystemClock())

    def text(self) -> str:
        return "\n".join([REQUESTS_FIRST_LINE, ",".join(REQUESTS_COLUMNS), *self.rows]) + "\n"

    def _client(self) -> None:
        while not self.ended.is_set():
            start_ns = time.time_ns()
            status = self.send()
            self.rows.append(f"1,a1,{start_ns},{start_ns},{time.time_ns()},{status},0")
            self.ended.wait(THINK_S)


def gateway_status() -> int:
    """The status of an answer; 0 where there is none."""
    connection = http.client.HTTPConnection("127.0.0.1", port("GATEWAY_PORT"), timeout=30)
    try:
        connection.request("GET", "/a1")
        return connection.getresponse().status
    except (OSError, http.client.HTTPException):
        return 0
    finally:
        connection.close()


def declared(kind: str, target: str) -> DeclaredFault:
    size = {"size": SIZES[kind]} if kind in SIZES else {}
    return parse_fault({"kind": kind, "target": target, "start_s": BEFORE_S, "length_s": LENGTH_S, **size})


def play(
    faults: Sequence[DeclaredFault], subject: Subject, folder: Path, goes_on: Callable[[], None] = lambda: None
) -> list[Injection]:
    """Injects and lifts faults, each step when `goes_on` returns after its time, and returns what was recorded."""
    folder.mkdir()
    journal = Journal(folder / "journal.json")
    one = injector(subject, journal, folder / "faults.jsonl")

    def wait(seconds: float) -> bool:
        subject.clock.sleep(seconds)
        goes_on()
        return True

    one.play(faults, subject.clock.now_s(), wait)
    assert journal.left() == []
    return list(read_injections(folder / "faults.jsonl"))


def trial(load: Load, counters: str, start_ns: int) -> TrialData:
    """The records as those of a trial; its window is the complete load."""
    record = TrialRecord(
        number=1, attempt=1, block=0, position=0, level="x", settings={"faults": [{}]}, valid=True,
        window=Window(load_start_ns=start_ns, start_ns=start_ns, end_ns=time.time_ns()),
    )  # fmt: skip
    sampled, requests = parse_counters(counters, "counters.jsonl"), parse_requests(load.text(), "requests.csv")
    return TrialData(record, {"counters": {LOCAL: sampled}, "requests": {LOCAL: requests}})


class Sham(ComposeDriver):
    """An engine that takes every command, and does nothing that would be a fault."""

    def __init__(self, real: ComposeDriver) -> None:
        super().__init__(real.root, real.overlay_path.parent)
        self.environment, self.ids = real.environment, real.ids

    def start(self, services: Sequence[str]) -> None: ...

    def kill(self, services: Sequence[str]) -> None: ...

    def pause(self, service: str) -> None: ...

    def unpause(self, service: str) -> None: ...

    def limit_cpus(self, service: str, cpus: float | None) -> None: ...

    def disconnect(self, service: str, network: str) -> None: ...

    def connect(self, service: str, network: str, names: Sequence[str]) -> None: ...

    def run_beside(self, service: str, command: Sequence[str]) -> str:
        return json.dumps([{"packets": 1000, "drops": 0, "overlimits": 0}])


@dataclass(frozen=True)
class Services:
    """Two services and the observer, ready."""

    driver: ComposeDriver
    out: Path

    def counters_until(self, t_ns: int) -> str:
        """The observer's records, as soon as they reach a moment: it writes them out once a second."""
        path = self.out / "counters.jsonl"

        def reached() -> bool:
            whole = path.read_text().rpartition("\n")[0]
            return int(json.loads(whole.splitlines()[-1])["t_ns"]) > t_ns

        assert wait_until(reached, 60, 0.2, SystemClock())
        return path.read_text().rpartition("\n")[0] + "\n"


@pytest.fixture(scope="module")
def services(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Services]:
    folder = tmp_path_factory.mktemp("faults")
    (folder / "tiny.yaml").write_text(TOPOLOGY)
    of, out = level("baseline", environment={**QUICK_START, "WATCH_FAULTS": "1"}), folder / "out"
    system = system_with(folder / "tiny.yaml", of, prepare.place(), out)
    assert isinstance(system.driver, ComposeDriver)
    system.driver.remove()
    try:
        system.deploy({"OBSERVER_INTERVAL": "250ms"}, ("observer",))
        names = {container.id: name for name, container in system.driver.containers().items()}
        write_targets(out / "targets.json", names, system.driver.networks())
        system.ready(("observer",))
        assert wait_until(lambda: gateway_status() == 200, 30, 0.2, SystemClock())
        # A JVM that has just started answers so seldom that a share of errors could not be distinguished from none.
        with Load(gateway_status) as load:
            load.answered(WARM_REQUESTS)
        yield Services(system.driver, out)
    finally:
        system.driver.remove()


@pytest.fixture(scope="module")
def doubts_of_shams(services: Services, tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Sequence[str]]:
    """What is said against each kind's sham, by kind. They do nothing, so all of them can do it at once."""
    folder = tmp_path_factory.mktemp("shams")
    nobody_reads = folder / "ready"
    nobody_reads.mkdir()
    subject = Subject(Sham(services.driver), SystemClock(), nobody_reads)
    start_ns = time.time_ns()
    with pytest.MonkeyPatch.context() as patch, Load(gateway_status) as load:
        # The service will not confirm these, so there is nothing to wait for.
        patch.setattr("lab.fault.application.ANSWER_BOUND_S", 0.5)
        shams = play([declared(kind, TARGET) for kind in OF_CONTAINERS], subject, folder / "sham")
        counters = services.counters_until(time.time_ns())
    return doubts(trial(load, counters, start_ns), shams)


def doubts(data: TrialData, injections: Sequence[Injection]) -> Mapping[str, Sequence[str]]:
    """What is said against each of several injections, by the kind of its fault."""
    return {str(injection.fault["kind"]): list(unverified(data, [injection])) for injection in injections}


def names_on_app(driver: ComposeDriver) -> Sequence[str]:
    """The target's names on the network of requests."""
    shown = subprocess.run(["docker", "inspect", driver.ids[TARGET]], capture_output=True, check=True)
    (found,) = json.loads(shown.stdout)
    names: list[str] = found["NetworkSettings"]["Networks"][f"{driver.project}_app"]["Aliases"]
    return names


@pytest.mark.parametrize("kind", OF_CONTAINERS)
def test_a_fault_of_a_service(
    kind: str, services: Services, doubts_of_shams: Mapping[str, Sequence[str]], tmp_path: Path
) -> None:
    fault, clock = declared(kind, TARGET), SystemClock()
    start_ns = time.time_ns()
    with Load(gateway_status) as load:
        subject = Subject(services.driver, clock, services.out / "ready", domain=DOMAIN)
        real = play([fault], subject, tmp_path / "real", partial(load.answered, ANSWERS.get(kind, 0)))
        # A JVM that was killed starts anew.
        assert wait_until(lambda: gateway_status() == 200, 60, 0.2, clock)
        counters = services.counters_until(time.time_ns())
    # Its callers know no other name.
    assert TARGET + DOMAIN in names_on_app(services.driver)
    assert len(doubts_of_shams[kind]) == 1, doubts_of_shams
    found = list(unverified(trial(load, counters, start_ns), real))
    if fault.kind in {"packet-loss", "packet-delay"} and found:
        assert found == [f"fault {fault.what}: {NO_NETEM}"]
    else:
        assert found == []
    is_as_before(services.driver)


def is_as_before(driver: ComposeDriver) -> None:
    """The target has what it had: it runs, with all CPUs, and as fast an interface as ever, at its address."""
    shown = subprocess.run(["docker", "inspect", driver.ids[TARGET]], capture_output=True, check=True)
    (described,) = json.loads(shown.stdout)
    state, limits = described["State"], described["HostConfig"]
    assert (state["Running"], state["Paused"]) == (True, False)
    assert limits["CpuQuota"] in {0, -1}
    assert set(driver.addresses(TARGET)) == {"app", "telemetry"}
    queues = json.loads(driver.run_beside(TARGET, ["tc", "-j", "qdisc", "show"]))
    assert {queue["kind"] for queue in queues} <= {"noqueue", "pfifo_fast", "fq_codel"}


class RealTime(FakeDriver):
    """The part of an engine that a proxy's fault needs."""

    def time_ns(self) -> int:
        return time.time_ns()


class Deaf:
    """An administration page that does not obey."""

    def __init__(self, proxy: Proxy) -> None:
        self.proxy = proxy

    def set_runtime(self, values: Mapping[str, int | str]) -> None: ...

    def counters(self) -> Mapping[str, int]:
        return self.proxy.counters()


def test_faults_by_a_proxy(tmp_path: Path) -> None:
    clock, out = SystemClock(), tmp_path / "out"
    out.mkdir()
    start_ns = time.time_ns()
    with (
        running(out, "passthrough", GRPC, faults=True, project=PROJECT) as tiny,
        Load(lambda: tiny.send(1, 1)[0].status) as load,
    ):
        proxy = tiny.sidecars["s1"]
        heard = Subject(RealTime(), clock, out, {"s1": "s1-envoy"}, lambda _: proxy)
        deaf = Subject(RealTime(), clock, out, {"s1": "s1-envoy"}, lambda _: Deaf(proxy))
        shams = play([declared(kind, "s1") for kind in BY_PROXY], deaf, tmp_path / "shams")
        reals = [
            play([declared(kind, "s1")], heard, tmp_path / kind, partial(load.answered, ANSWERS.get(kind, 0)))
            for kind in BY_PROXY
        ]
        assert {answer.status for answer in tiny.send(20, 2)} == {200}
    data = trial(load, '{"format": "tollbooth.counters", "version": 1, "interval_ns": 1}\n', start_ns)
    assert all("not verified: 0 of " in doubt for (doubt,) in doubts(data, shams).values())
    assert [list(unverified(data, real)) for real in reals] == [[]] * len(BY_PROXY)


@pytest.mark.parametrize("kind", ["killed", "cut-off"])
def test_a_sidecar_comes_back_with_its_service(kind: str, tmp_path: Path) -> None:
    """It lives in the network namespace of its service; the engine publishes other ports afterwards."""
    fault, out = declared(kind, "s1"), tmp_path / "out"
    out.mkdir()
    with running(out, "passthrough", GRPC, project=PROJECT) as tiny:
        driver = ComposeDriver(paths.ROOT, out)
        driver.ids = {name: id_of(name) for name in ("s1", "s1-envoy")}
        subject = Subject(driver, SystemClock(), out, {"s1": "s1-envoy"})
        fault.inject(subject)
        with pytest.raises((OSError, http.client.HTTPException)):
            tiny.send(1, 1)
        fault.lift(subject)
        again = replace(tiny, port=driver.published_port("s1", 9090))
        page = Admin(driver.published_port("s1", ADMIN_PORT))
        assert wait_until(page.ready, 60, 0.1, SystemClock())
        # Envoy may be ready before the service listens.
        assert wait_until(lambda: again.send(1, 1)[0].status == 200, 60, 0.1, SystemClock())
        assert {answer.status for answer in again.send(20, 2)} == {200}


def id_of(service: str) -> str:
    """The id of a Compose service's container."""
    labels = {"project": PROJECT, "service": service}
    filters = [f"--filter=label=com.docker.compose.{name}={value}" for name, value in labels.items()]
    listed = subprocess.run(["docker", "ps", "--quiet", *filters], capture_output=True, text=True, check=True)
    return listed.stdout.strip()


RUNNER = """
import sys
from pathlib import Path
from lab.command import paths, prepare
from lab.engine.clock import SystemClock
from lab.engine.driver import Stack
from lab.engine.compose import ComposeDriver
from lab.fault.fault import Subject
from lab.fault.journal import Journal
from lab.fault.kinds import parse_fault
from lab.fault.run import injector

folder = Path(sys.argv[1])
driver, clock = ComposeDriver(paths.ROOT, folder), SystemClock()
driver.create(Stack(("sink",), {"services": {"sink": {"networks": ["app", "telemetry"]}}}))
driver.start(["sink"])
faults = [parse_fault({"kind": sys.argv[2], "target": "sink", "start_s": 0, "length_s": 600})]
one = injector(Subject(driver, clock, folder), Journal(folder / "journal.json"), folder / "faults.jsonl")

def wait(seconds):
    if seconds > 1:
        print("in mid-fault", flush=True)
    clock.sleep(seconds)
    return True

one.play(faults, clock.now_s(), wait)
"""


@pytest.mark.parametrize("kind", ["frozen", "cut-off", "killed"])
def test_a_runner_that_is_killed_in_mid_fault_leaves_what_the_next_start_lifts(kind: str, tmp_path: Path) -> None:
    words = [sys.executable, "-c", RUNNER, str(tmp_path), kind]
    runner = subprocess.Popen(words, stdout=subprocess.PIPE, text=True, cwd=paths.ROOT)
    assert runner.stdout is not None
    assert runner.stdout.readline() == "in mid-fault\n"
    runner.send_signal(signal.SIGKILL)
    runner.communicate(timeout=10)
    said: list[str] = []
    lift_leftovers(Journal(tmp_path / "journal.json"), ComposeDriver(paths.ROOT, tmp_path), said.append)
    assert said == [f"an earlier run ended during a fault ({kind} of sink): its containers are removed, which lifts it"]
    label = f"label=com.docker.compose.project={PROJECT}"
    for what in (["ps", "--all"], ["network", "ls"]):
        left = subprocess.run(["docker", *what, "--quiet", "--filter", label], capture_output=True, check=True)
        assert left.stdout == b""
    lift_leftovers(Journal(tmp_path / "journal.json"), ComposeDriver(paths.ROOT, tmp_path), said.append)
    assert len(said) == 1
