"""The observer's counters against other readings of the same containers: their own, and the engine's.

Each container does one job of known size when it gets SIGUSR1, prints what it says it has used, and is idle otherwise.
Needs only the `docker` command, its socket, and the images tollbooth/debian and tollbooth/observer.
"""

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from socket import AF_UNIX, socket
from typing import Any

import pytest

pytestmark = [pytest.mark.containers, pytest.mark.beside, pytest.mark.timeout(180)]

DEBIAN = f"tollbooth/debian:{os.environ.get('DEBIAN_RELEASE', 'trixie')}"
OBSERVER = "tollbooth/observer:dev"
PREFIX = f"tollbooth-truth-{os.getpid()}"
SOCKET = os.environ.get("DOCKER_HOST", "unix:///var/run/docker.sock").removeprefix("unix://")

MIB = 1 << 20
BURN_NS = 2_000_000_000
EATEN_BYTES = 64 * MIB
SENT_BYTES = 32 * MIB

PERL = """
use IO::Socket::INET; $| = 1; my $go = 0; my $kept; $SIG{USR1} = sub { $go = 1 };
sub text { local $/; open my $f, "<", $_[0] or die; <$f> }
sub cpu_ns { (split " ", text("/proc/self/schedstat"))[0] }
sub switches { my $sum = 0; $sum += $_ for text("/proc/self/status") =~ /ctxt_switches:\\s+(\\d+)/g; $sum }
sub job { JOB }
SETUP
print "ready\\n"; sleep 1 until $go; print "done ", job(), " ", switches(), "\\n"; sleep 1 while 1;
"""
BURN = f"""my $from = cpu_ns(); my $x = 0; while (cpu_ns() < $from + {BURN_NS}) {{ $x += $_ for 1 .. 1e5 }}
    cpu_ns() - $from"""
EAT = f"vec($kept, {EATEN_BYTES - 1}, 8) = 1; length $kept"
LISTEN = 'our $server = IO::Socket::INET->new(LocalPort => 7000, Listen => 1) or die "no server: $@";'
RECEIVE = "my $s = $server->accept; my $n = 0; while (my $k = sysread $s, my $b, 65536) { $n += $k } $n"
SEND = f"""my $s = IO::Socket::INET->new("{PREFIX}-receiver:7000") or die "no connection: $@"; my $b = "x" x 65536;
    my $n = 0; while ($n < {SENT_BYTES}) {{ $n += syswrite($s, $b) // die }} close $s; $n"""
JOBS = {"burner": (BURN, ""), "eater": (EAT, ""), "receiver": (RECEIVE, LISTEN), "sender": (SEND, "")}


def docker(*words: str) -> str:
    done = subprocess.run(["docker", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"docker {words[0]}: {done.stderr}"
    return done.stdout.strip()


def until(what: str, condition: Callable[[], Any], limit_s: float = 60) -> Any:
    """Waits until a condition holds and returns its value."""
    end = time.monotonic() + limit_s
    while not (value := condition()):
        assert time.monotonic() < end, f"waited {limit_s} s for {what}"
        time.sleep(0.1)
    return value


def engine_stats(container: str) -> dict[str, Any]:
    """One reading of a container's counters by the engine itself."""
    connection = HTTPConnection("engine")
    connection.sock = socket(AF_UNIX)
    connection.sock.connect(SOCKET)
    connection.request("GET", f"/v1.41/containers/{container}/stats?stream=false&one-shot=true")
    stats: dict[str, Any] = json.load(connection.getresponse())
    connection.close()
    return stats


@dataclass
class Seen:
    """What the observer recorded, what the containers said of themselves, and what the engine said of them."""

    lines: list[dict[str, Any]] = field(default_factory=list)
    own: dict[str, tuple[int, int]] = field(default_factory=dict)
    engine: dict[str, dict[str, Any]] = field(default_factory=dict)
    exit_code: str = ""

    def samples(self, kind: str, name: str) -> list[dict[str, Any]]:
        return [line for line in self.lines if line.get("kind") == kind and line.get("name") == name]

    def rise(self, kind: str, name: str, counter: str) -> int:
        """How much a counter rose over the whole record; the job is all that a container does."""
        values = [sample[counter] for sample in self.samples(kind, name)]
        assert values == sorted(values), f"{counter} of {name} fell"
        return int(values[-1] - values[0])

    def around(self, kind: str, name: str, counter: str) -> tuple[int, int]:
        """A counter's values half a second before and after the engine's reading, on the engine's clock.

        A counter only rises, so the engine's value lies between them, without any tolerance.
        """
        read_ns = datetime.fromisoformat(self.engine[name]["read"]).timestamp() * 1e9
        samples = self.samples(kind, name)
        before = [s[counter] for s in samples if s["t_ns"] < read_ns - 5e8]
        after = [s[counter] for s in samples if s["t_ns"] > read_ns + 5e8]
        return before[-1], after[0]


def read_record(folder: Path) -> list[dict[str, Any]]:
    """The record so far; its last line may still be on its way."""
    path = folder / "counters.jsonl"
    text = path.read_text() if path.exists() else ""
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def start_worker(name: str, network: str) -> str:
    job, setup = JOBS[name]
    program = PERL.replace("JOB", job).replace("SETUP", setup)
    return docker("run", "--detach", "--name", f"{PREFIX}-{name}", "--network", network, DEBIAN, "perl", "-e", program)


def start_observer(folder: Path) -> None:
    docker(
        *("run", "--detach", "--name", f"{PREFIX}-observer", "--pid", "host", "--network", "none"),
        *("--user", "65532:65532", "--read-only", "--cap-drop", "ALL", "--security-opt", "no-new-privileges"),
        *("--volume", "/sys/fs/cgroup:/host/cgroup:ro", "--volume", f"{folder}:/out", OBSERVER),
        *("--targets", "/out/targets.json", "--out", "/out/counters.jsonl", "--interval", "100ms"),
    )


def is_ready(name: str) -> bool:
    return "ready" in docker("logs", f"{PREFIX}-{name}")


def run_job(name: str) -> None:
    docker("kill", "--signal", "USR1", f"{PREFIX}-{name}")


def answer(name: str) -> tuple[int, int]:
    """What a container said when its job was done: the job's size, and how often it was switched so far."""

    def done() -> list[int]:
        words = docker("logs", f"{PREFIX}-{name}").split()
        return [int(word) for word in words[words.index("done") + 1 :]] if "done" in words else []

    size, switches = until(f"{name}'s job", done)
    return size, switches


def has_event(folder: Path, name: str, event: str) -> Callable[[], bool]:
    return lambda: any(line.get("event") == event and line.get("name") == name for line in read_record(folder))


def perform(folder: Path, network: str, seen: Seen) -> None:
    """Runs all containers through their jobs, one after the other, then restarts one and removes it."""
    ids = {name: start_worker(name, network) for name in JOBS}
    for name in JOBS:
        until(f"{name} to be ready", partial(is_ready, name))
    subnet = docker("network", "inspect", network, "--format", "{{(index .IPAM.Config 0).Subnet}}")
    targets = {"format": "tollbooth.targets", "version": 1, "containers": {i: n for n, i in ids.items()}}
    (folder / "targets.json").write_text(json.dumps({**targets, "networks": {"app": subnet}}))
    start_observer(folder)
    kinds = {(kind, name) for kind in ("container", "network", "slow") for name in JOBS}
    until("first samples", lambda: kinds <= {(s.get("kind"), s.get("name")) for s in read_record(folder)})
    for name in JOBS:
        run_job(name)
    seen.own = {name: answer(name) for name in JOBS}
    seen.engine = {name: engine_stats(ids[name]) for name in JOBS}
    observed_until = max(datetime.fromisoformat(stats["read"]).timestamp() for stats in seen.engine.values())
    until("samples after the engine's", lambda: read_record(folder)[-1]["t_ns"] > (observed_until + 2) * 1e9)
    seen.lines = read_record(folder)
    docker("restart", "--time", "0", f"{PREFIX}-eater")
    until("the restart to be seen", has_event(folder, "eater", "restarted"))
    docker("rm", "--force", f"{PREFIX}-burner")
    until("the end to be seen", has_event(folder, "burner", "gone"))
    docker("stop", f"{PREFIX}-observer")
    seen.exit_code = docker("inspect", "--format", "{{.State.ExitCode}}", f"{PREFIX}-observer")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("observer")
    folder.chmod(0o777)  # the observer is another user
    return folder


@pytest.fixture(scope="module")
def seen(folder: Path) -> Iterator[Seen]:
    seen = Seen()
    docker("network", "create", PREFIX)
    try:
        perform(folder, PREFIX, seen)
        yield seen
    finally:
        names = [f"{PREFIX}-{name}" for name in (*JOBS, "observer")]
        subprocess.run(["docker", "rm", "--force", "--volumes", *names], capture_output=True, check=False)
        docker("network", "rm", PREFIX)


def test_cpu_is_what_the_process_used_by_its_own_account(seen: Seen) -> None:
    burned_ns = seen.own["burner"][0]
    assert burned_ns >= BURN_NS
    # Both come from the scheduler's exact run time. 1 % and 20 ms: what the process does around its job (waking,
    # printing, and then waking once per second).
    assert seen.rise("container", "burner", "cpu_usage_ns") == pytest.approx(burned_ns, rel=0.01, abs=20e6)
    # The kernel splits that time by what each clock tick hit: the split is coarse, its sum is not (10 ms on cgroup v1).
    user_ns = seen.rise("container", "burner", "cpu_user_ns")
    system_ns = seen.rise("container", "burner", "cpu_system_ns")
    assert user_ns + system_ns == pytest.approx(burned_ns, rel=0.01, abs=40e6)
    assert user_ns > 0.8 * burned_ns


@pytest.mark.parametrize("name", JOBS)
def test_cpu_is_what_the_engine_reads(seen: Seen, name: str) -> None:
    before, after = seen.around("container", name, "cpu_usage_ns")
    assert before <= seen.engine[name]["cpu_stats"]["cpu_usage"]["total_usage"] <= after


def test_memory_rises_by_what_is_written_to(seen: Seen) -> None:
    assert seen.own["eater"][0] == EATEN_BYTES
    counters = {"memory_usage_bytes": "container", "memory_rss_bytes": "slow", "memory_working_set_bytes": "slow"}
    for counter, kind in counters.items():
        values = [sample[counter] for sample in seen.samples(kind, "eater")]
        # The kernel charges memory in batches of up to 64 pages per CPU; the interpreter itself needs a little more.
        assert values[-1] - values[0] == pytest.approx(EATEN_BYTES, abs=2 * MIB), counter
    last = seen.samples("slow", "eater")[-1]
    assert last["memory_peak_bytes"] >= last["memory_working_set_bytes"] >= EATEN_BYTES


def test_bytes_are_the_payload_and_its_headers(seen: Seen) -> None:
    assert seen.own["sender"][0] == seen.own["receiver"][0] == SENT_BYTES
    sent = seen.rise("network", "sender", "tx_bytes")
    received = seen.rise("network", "receiver", "rx_bytes")
    # At most 66 bytes of Ethernet, IP and TCP headers to each 1448 of payload (fewer where segments are joined),
    # and 10 kB for the handshake and neighbour discovery.
    for counted in (sent, received):
        assert SENT_BYTES <= counted <= SENT_BYTES * (1 + 66 / 1448) + 10_000
    assert sent == pytest.approx(received, abs=10_000)
    assert seen.rise("network", "receiver", "tx_bytes") < 0.05 * SENT_BYTES


@pytest.mark.parametrize("name", JOBS)
@pytest.mark.parametrize("counter", ["rx_bytes", "rx_packets", "tx_bytes", "tx_packets"])
def test_the_network_is_what_the_engine_reads(seen: Seen, name: str, counter: str) -> None:
    before, after = seen.around("network", name, counter)
    assert before <= seen.engine[name]["networks"]["eth0"][counter] <= after


def test_interfaces_carry_their_networks_name(seen: Seen) -> None:
    for name in JOBS:
        assert {(s["interface"], s.get("network")) for s in seen.samples("network", name)} == {("eth0", "app")}


@pytest.mark.parametrize("name", JOBS)
def test_threads_and_context_switches(seen: Seen, name: str) -> None:
    last = seen.samples("slow", name)[-1]
    assert (last["processes"], last["threads"]) == (1, 1)
    counted = last["context_switches_voluntary"] + last["context_switches_involuntary"]
    # After its own count a container still prints, and wakes once per second for the few seconds to the last sample.
    assert seen.own[name][1] <= counted <= seen.own[name][1] + 60


def test_samples_keep_to_the_schedule(seen: Seen) -> None:
    times = [sample["t_ns"] for sample in seen.samples("container", "burner")]
    missed = [line for line in seen.lines if line.get("kind") == "observer"][-1]["missed_ticks"]
    elapsed = (times[-1] - times[0]) / 1e8
    assert len(times) - 1 + missed == pytest.approx(elapsed, abs=2)


def test_restart_end_and_stop_are_events_and_no_errors(seen: Seen, folder: Path) -> None:
    lines = read_record(folder)
    events = [(line.get("name"), line["event"]) for line in lines if line.get("kind") == "event"]
    assert sorted(events[: len(JOBS)]) == sorted((name, "appeared") for name in JOBS)
    assert events[len(JOBS) :] == [("eater", "gone"), ("eater", "restarted"), ("burner", "gone"), (None, "stopped")]
    assert seen.exit_code == "0"
    assert [line for line in lines if line.get("kind") == "observer"][-1]["errors"] == 0
