"""A release of the lab's Collector on real containers, between the generator `traces` and where its pipeline sends."""

import csv
import json
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from lab.command import paths
from lab.engine import images
from lab.engine.clock import SystemClock, wait_until

PIPELINES = paths.ROOT / "collector" / "pipelines"
RELEASES = ("collector", "collector-earlier")
NAME = "tollbooth-collected-contract"
GENERATOR, SINK = "traces", "sink"
NETWORK_PORTS = {"collector": 4318, SINK: 8888}
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
STARTS_WITHIN_S = 30.0
ENDS_WITHIN_S = 60.0


@dataclass(frozen=True)
class Collected:
    """One Collector, with a generator and a sink in its network. `out` is the generator's folder."""

    out: Path

    def returned(self, traces_per_s: float, duration_s: float) -> list[dict[str, str]]:
        """Send traces and let them come back; return the generator's record of each."""
        return self._send(traces_per_s, duration_s, returns=True)

    def delivered(self, duration_s: float) -> list[int]:
        """Send traces to the sink; return the number of attributes of each span of one of them, fewest first."""
        self._send(4, duration_s, returns=False)
        assert wait_until(lambda: self._trace() is not None, STARTS_WITHIN_S, 0.2, SystemClock())
        trace = self._trace()
        assert trace is not None
        return sorted(span["tags"] for span in trace["spans"])

    def _send(self, traces_per_s: float, duration_s: float, *, returns: bool) -> list[dict[str, str]]:
        load = {
            "format": "tollbooth.load",
            "version": 1,
            "duration_s": duration_s,
            "seed": 1,
            "plan": PLAN,
            "transport": "grpc",
            "compression": "gzip",
            "send_timeout_ms": 5000,
            "receive_timeout_ms": 4000,
            "returns": returns,
            "decoupled": {"traces_per_s": traces_per_s, "arrivals": "fixed", "connections": 2, "traces_per_request": 1},
        }
        (self.out / "load").write_text(json.dumps(load))
        (self.out / "load").rename(self.out / "load-0.json")
        ended = wait_until((self.out / "generator-0.jsonl").exists, ENDS_WITHIN_S, 0.1, SystemClock())
        assert ended, docker("logs", f"{NAME}-{GENERATOR}")
        _, *lines = (self.out / "traces-0.csv").read_text().splitlines()
        return list(csv.DictReader(lines))

    def _trace(self) -> dict[str, list[dict[str, int]]] | None:
        found: dict[str, list[dict[str, int]]] | None = json.loads(_get(SINK, "/trace")[1])
        return found


@contextmanager
def collecting(release: str, pipeline: str, out: Path, environment: Mapping[str, str]) -> Iterator[Collected]:
    """A Collector that is ready, with the generator and the sink; all removed afterwards."""
    references = images.references([release, GENERATOR, SINK])
    out.mkdir()
    out.chmod(0o777)
    given = [word for name, value in environment.items() for word in ("--env", f"{name}={value}")]
    config = f"{PIPELINES}/{pipeline}.yaml:/etc/otelcol/config.yaml:ro"
    remove()
    docker("network", "create", NAME)
    try:
        # First those that the Collector connects to when it starts.
        start(SINK, references[SINK])
        start(GENERATOR, references[GENERATOR], "--volume", f"{out}:/out", "--env", "TARGET=collector:4317")
        start("collector", references[release], "--volume", config, *given)
        ready = wait_until(lambda: _answer("collector", "/v1/traces") < 500, STARTS_WITHIN_S, 0.1, SystemClock())
        assert ready, docker("logs", f"{NAME}-collector")
        yield Collected(out)
    finally:
        remove()


def start(name: str, image: str, *options: str) -> None:
    """Start a container whose host name is `name`."""
    ports = ["--publish", f"127.0.0.1::{NETWORK_PORTS[name]}"] if name in NETWORK_PORTS else []
    place = ["--name", f"{NAME}-{name}", "--network", NAME, "--network-alias", name]
    docker("run", "--detach", *place, *ports, *options, image)


def remove() -> None:
    """Remove what an earlier test left."""
    names = [f"{NAME}-{name}" for name in ("collector", GENERATOR, SINK)]
    for words in (("rm", "--force", "--volumes", *names), ("network", "rm", NAME)):
        subprocess.run(["docker", *words], capture_output=True, check=False)


def docker(*words: str) -> str:
    """Return what `docker` wrote on both streams."""
    command = ["docker", *words]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True).stdout


def _answer(name: str, path: str) -> int:
    """Return the status of `GET path`, 599 without an answer."""
    try:
        return _get(name, path)[0]
    except urllib.error.HTTPError as error:
        return error.code
    except OSError:
        return 599


def _get(name: str, path: str) -> tuple[int, bytes]:
    address = docker("port", f"{NAME}-{name}", str(NETWORK_PORTS[name])).split()[0]
    # These requests must not go through the user's proxy.
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{address}{path}", timeout=10) as answer:
        return answer.status, answer.read()
