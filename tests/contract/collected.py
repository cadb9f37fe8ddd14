"""Releases of the lab's Collector on real containers, between the generator `traces` and where their pipelines send."""

import csv
import gzip
import json
import random
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from lab.analysis.collector.sampling import kept, trace_ids
from lab.command import paths
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until
from lab.record.files import complete_lines

PIPELINES = paths.ROOT / "collector" / "pipelines"
RELEASES = ("collector", "collector-earlier")
MEASURED, GENERATOR, SINK = "measured", "traces", "sink"
# Where a first stage sends to. The generator takes the place of the second stage.
SECOND_STAGE = "collector"
OTLP_GRPC, OTLP_HTTP, SINK_HTTP = 4317, 4318, 8888
OK, BAD_REQUEST = 200, 400
JSON, PROTOBUF = {"Content-Type": "application/json"}, {"Content-Type": "application/x-protobuf"}
# What the generator answers where it cannot read a message.
UNREADABLE = b"not an OTLP request: "
# HTTP/2 begins with so many bytes that never change.
PREFACE_BYTES = 24
# Where every Collector has all pipelines.
MOUNTED = "/etc/otelcol"
SPANS = 4
PLAN = {
    "spans": {"min": SPANS, "max": SPANS},
    "span_duration_ms": {"min": 1, "max": 5},
    "attributes": {"min": 3, "max": 3},
    "attribute_bytes": {"min": 16, "max": 16},
    "clients": {"min": 2, "max": 2},
    "sibling_probability": 0.5,
    "incomplete_probability": 0,
    "risky_probability": 1,
    "error_probability": 0.5,
}
LOAD = {
    "format": "tollbooth.load",
    "version": 1,
    "seed": 1,
    "plan": PLAN,
    "transport": "grpc",
    "compression": "gzip",
    "send_timeout_ms": 5000,
    "receive_timeout_ms": 4000,
    "returns": True,
}
# Of the pipeline `sample`, unless it is given another one.
SAMPLING_PERCENT = 25
WITHIN_S = 60.0
OUTCOMES = {"success", "send timeout", "send error", "receive timeout", "shutdown"}

Rows = list[dict[str, str]]


def decoupled(traces_per_s: float, connections: int = 2, traces_per_request: int = 1) -> Mapping[str, Any]:
    """Return what a load says of an open loop."""
    fixed = {"traces_per_s": traces_per_s, "arrivals": "fixed"}
    return {"decoupled": {**fixed, "connections": connections, "traces_per_request": traces_per_request}}


@dataclass(frozen=True)
class Surroundings:
    """A network for Collectors, by its name, with a generator in it. `out` is the generator's folder."""

    network: str
    out: Path

    @contextmanager
    def collector(
        self, release: str, pipeline: str, environment: Mapping[str, str], name: str = MEASURED
    ) -> Iterator[None]:
        """A Collector that is ready; removed afterwards."""
        image = images.references([release])[release]
        given = [word for variable in environment.items() for word in ("--env", "=".join(variable))]
        options = ("--publish", f"127.0.0.1::{OTLP_HTTP}", "--volume", f"{PIPELINES}:{MOUNTED}:ro", *given)
        try:
            self.start(name, image, options, ("--config", f"{MOUNTED}/{pipeline}.yaml"))
            self.await_ready(name)
            yield
        finally:
            self.do("rm", name, "--force")

    def await_ready(self, name: str = MEASURED) -> None:
        """Waits until a Collector takes requests."""
        # The address is looked up once: each look is a process of `docker`.
        address = self._address(name, OTLP_HTTP)
        ready = wait_until(lambda: answer(address) < 500, WITHIN_S, 0.05, SystemClock())
        assert ready, self.do("logs", name)

    def answer(self, name: str = MEASURED, body: bytes | None = None) -> int:
        """See `answer`."""
        return answer(self._address(name, OTLP_HTTP), body)

    def sent(self, duration_s: float, how: Mapping[str, Any]) -> Rows:
        """Send a load, and return the generator's record of each trace. `how`: what differs from `LOAD`."""
        load = self.order(duration_s, how)
        ended = wait_until(load.ended, WITHIN_S, 0.05, SystemClock())
        assert ended, self.do("logs", GENERATOR)
        return load.rows()

    def delivered(self, duration_s: float) -> list[int]:
        """Send traces to the sink; return the number of attributes of each span of one of them, fewest first."""
        rows = self.sent(duration_s, {**decoupled(20), "returns": False})
        ids = {row["trace_id"] for row in rows}
        # The sink still has the traces of earlier loads.
        address = self._address(SINK, SINK_HTTP)
        assert wait_until(lambda: shown(address).get("trace_id") in ids, WITHIN_S, 0.1, SystemClock())
        return sorted(span["tags"] for span in shown(address)["spans"])

    @contextmanager
    def sending(self, how: Mapping[str, Any]) -> "Iterator[Load]":
        """A load that is sent until the block ends. It ends the generator too."""
        load = self.order(3600, how)
        yield load
        self.do("stop", GENERATOR)
        assert load.ended(), self.do("logs", GENERATOR)

    def order(self, duration_s: float, how: Mapping[str, Any]) -> "Load":
        """Writes the generator's next load."""
        number = len(list(self.out.glob("load-*.json")))
        (self.out / "load").write_text(json.dumps({**LOAD, "duration_s": duration_s, **how}))
        (self.out / "load").rename(self.out / f"load-{number}.json")
        return Load(self.out, number)

    def garble(self, lasts_s: float) -> Mapping[str, int]:
        """Send random bytes to the ports where traces come back; return how many were rejected, by how they came."""
        over_grpc, over_http = self._address(GENERATOR, OTLP_GRPC), self._address(GENERATOR, OTLP_HTTP)
        ways: Mapping[str, Callable[[bytes], bool]] = {
            "plain": lambda garbage: unreadable(over_http, garbage),
            "gzip": lambda garbage: unreadable(over_http, garbage, packed=True),
            "raw": lambda garbage: cut_off(over_grpc, garbage),
        }
        draw, end_s, rejected = random.Random(1), time.monotonic() + lasts_s, dict.fromkeys(ways, 0)
        while time.monotonic() < end_s:
            for way, send in ways.items():
                rejected[way] += send(draw.randbytes(draw.randrange(1, 1000)))
        return rejected

    def start(self, name: str, image: str, options: Sequence[str], command: Sequence[str] = ()) -> None:
        """Start a container whose host name is `name`."""
        place = ("--name", f"{self.network}-{name}", "--network", self.network, "--network-alias", name)
        docker("run", "--detach", *place, *options, image, *command)

    def do(self, command: str, name: str, *more: str) -> str:
        """Return what a command of the engine wrote about one of the containers."""
        return docker(command, f"{self.network}-{name}", *more)

    def pause(self, name: str) -> None:
        """Pause a container. With cgroup v1 on a busy machine, the engine needs more than one attempt to freeze it."""
        assert wait_until(lambda: engine("pause", f"{self.network}-{name}").returncode == 0, 60, 0.2, SystemClock())

    def remove(self) -> None:
        """Remove the network and all containers in it, where there are any."""
        left = docker("ps", "--all", "--quiet", "--filter", f"network={self.network}").split()
        subprocess.run(["docker", "rm", "--force", "--volumes", *left], capture_output=True, check=False)
        subprocess.run(["docker", "network", "rm", self.network], capture_output=True, check=False)

    def _address(self, name: str, port: int) -> str:
        """Return where a running container's port is published. Another start may have another one."""
        return self.do("port", name, str(port)).split()[0]


def answer(address: str, body: bytes | None = None) -> int:
    """Return the status that a Collector answers a GET, or a POST of OTLP in JSON; 599 without an answer."""
    try:
        return _http(f"http://{address}/v1/traces", body)[0]
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 599


def unreadable(address: str, message: bytes, *, packed: bool = False) -> bool:
    """Return whether a receiver rejects a POST of OTLP. The only reason may be that its message is none."""
    encoding = {"Content-Encoding": "gzip"} if packed else {}
    try:
        body = gzip.compress(message) if packed else message
        status, _ = _http(f"http://{address}/v1/traces", body, {**PROTOBUF, **encoding})
    except urllib.error.HTTPError as error:
        said = error.read()
        assert (error.code, said[: len(UNREADABLE)]) == (BAD_REQUEST, UNREADABLE), said
        return True
    # Random bytes may be OTLP.
    assert status == OK
    return False


def cut_off(address: str, garbage: bytes) -> bool:
    """Write bytes that are no HTTP/2 to a receiver's port for gRPC; return True when it has ended the connection."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=10) as connection, suppress(ConnectionResetError):
        # It looks at them when it has as many as its protocol begins with. That begins with a letter.
        connection.sendall(b"\0" + garbage.ljust(PREFACE_BYTES, b"\0"))
        while connection.recv(4096):
            pass
    return True


def shown(address: str) -> dict[str, Any]:
    """Return the trace that a sink shows; nothing while it has none."""
    return json.loads(_http(f"http://{address}/trace")[1]) or {}


def _http(url: str, body: bytes | None = None, headers: Mapping[str, str] = JSON) -> tuple[int, bytes]:
    request = urllib.request.Request(url, body, dict(headers))
    # These requests must not go through the user's proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=10) as answered:
        return answered.status, answered.read()


@dataclass(frozen=True)
class Load:
    """A load of a generator, by its number in the generator's folder."""

    out: Path
    number: int

    def ended(self) -> bool:
        """Whether its records are complete."""
        return self._counters.exists()

    def rows(self) -> Rows:
        """Return the record of each trace. Each that was sent has one outcome."""
        _, *lines = (self.out / f"traces-{self.number}.csv").read_text().splitlines()
        rows = list(csv.DictReader(lines))
        assert {row["outcome"] for row in rows} <= OUTCOMES
        assert len({row["trace_id"] for row in rows}) == len(rows) == self.counted("traces_sent")
        return rows

    def counted(self, counter: str) -> int:
        """Return a counter at the load's end."""
        return self._readings(self._counters)[-1][counter]

    def until(self, counter: str, since_ns: int = 0) -> None:
        """Waits until a counter of the generator has grown after a Unix time. It is read once a second."""
        part = self._counters.with_name(f"{self._counters.name}.part")

        def grown() -> bool:
            values = [line[counter] for line in self._readings(part) if line["t_ns"] >= since_ns]
            return bool(values) and values[-1] > values[0]

        assert wait_until(grown, WITHIN_S, 0.05, SystemClock()), counter

    @property
    def _counters(self) -> Path:
        return self.out / f"generator-{self.number}.jsonl"

    def _readings(self, path: Path) -> list[dict[str, int]]:
        lines = complete_lines(path.read_text())[0] if path.exists() else []
        return [json.loads(line) for line in lines[1:]]


def sampled(rows: Rows) -> list[bool]:
    """Return which traces the pipeline `sample` keeps, predicted from their IDs."""
    sampler = yaml.safe_load((PIPELINES / "sample.yaml").read_text())["processors"]["probabilistic_sampler"]
    ids = trace_ids([row["trace_id"] for row in rows])
    return kept(ids, sampler["mode"], SAMPLING_PERCENT, sampler["hash_seed"]).tolist()


@contextmanager
def surroundings(name: str, out: Path, *, sink: bool = False) -> Iterator[Surroundings]:
    """A generator, and a sink if wanted, in a network of this name; all removed afterwards."""
    references = images.references([GENERATOR, SINK])
    around = Surroundings(f"tollbooth-{name}-contract", out)
    out.mkdir()
    out.chmod(0o777)
    around.remove()
    docker("network", "create", around.network)
    try:
        # First those that a Collector connects to when it starts.
        if sink:
            around.start(SINK, references[SINK], ("--publish", f"127.0.0.1::{SINK_HTTP}"))
        target = ("--volume", f"{out}:/out", "--env", f"TARGET={MEASURED}:4317")
        ports = [word for port in (OTLP_GRPC, OTLP_HTTP) for word in ("--publish", f"127.0.0.1::{port}")]
        around.start(GENERATOR, references[GENERATOR], ("--network-alias", SECOND_STAGE, *ports, *target))
        yield around
    finally:
        around.remove()


def docker(*words: str) -> str:
    """Return what `docker` wrote on both streams."""
    done = engine(*words)
    assert done.returncode == 0, done.stdout
    return done.stdout


def engine(*words: str) -> subprocess.CompletedProcess[str]:
    """Return how a command of the engine ended, and what it wrote on both streams."""
    return subprocess.run(["docker", *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
