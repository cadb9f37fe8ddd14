"""A container engine that takes no time: it writes what containers would have written, and does what it should."""

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path

import numpy as np

from lab.backend import Backend
from lab.engine.driver import Container, Stack
from tests import synthetic
from tests.synthetic.truth import EPOCH_NS

INSTRUMENTS = ("locust", "observer")


class FakeClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.time_s = 0.0

    def now_s(self) -> float:
        return self.time_s

    def sleep(self, seconds: float) -> None:
        self.time_s += seconds


@dataclass
class FakeDriver:
    """A `Driver`. `change` may alter the synthetic trial of an attempt; the other fields make single steps fail.

    `records_at_start`: nobody waits for a load's end, so that its records are there from its start.
    """

    clock: FakeClock = field(default_factory=FakeClock)
    change: Callable[[synthetic.Trial, int], synthetic.Trial] = lambda trial, _: trial
    never_ready: str | None = None
    dies_at_start: str | None = None
    log: str = "line one\nline two"
    fail: dict[str, BaseException] = field(default_factory=dict)
    done: list[str] = field(default_factory=list)
    records_at_start: bool = False
    loads: int = 0
    deployment: Stack | None = None
    running: set[str] = field(default_factory=set)

    def create(self, deployment: Stack) -> None:
        self._do("create")
        self.deployment, self.running = deployment, set()

    def start(self, services: Sequence[str]) -> None:
        self._do("start")
        self.running |= set(services)
        for node in set(services) & set(synthetic.SERVICES):
            if node not in (self.never_ready, self.dies_at_start):
                self._ready(node)
        if self.records_at_start and "locust" in services:
            self.loads += 1
            self._write_records()

    def containers(self) -> dict[str, Container]:
        if self.deployment is None:
            return {}
        return {
            name: Container(
                id=name * 8,
                name=name,
                image="sha256:0",
                running=name in self.running and name != self.dies_at_start,
                exit_code=1 if name == self.dies_at_start else 0,
                restarts=0,
                oom_killed=False,
            )
            for name in self.deployment.services
        }

    def networks(self) -> dict[str, str]:
        return {"app": "172.18.0.0/16", "telemetry": "172.19.0.0/16"}

    def published_port(self, service: str, port: int) -> int:
        return port

    def wait(self, service: str, timeout_s: float) -> int:
        self._do("wait")
        assert timeout_s > 0
        self.loads += 1
        self.clock.sleep(26)
        self._write_records()
        self.running -= {service}
        return 0

    def stop(self, services: Sequence[str]) -> None:
        self._do("stop")
        self.running -= set(services)

    def kill(self, services: Sequence[str]) -> None:
        self._do("kill", *services)
        self.running -= set(services)

    def pause(self, service: str) -> None:
        self._do("pause", service)

    def unpause(self, service: str) -> None:
        self._do("unpause", service)

    def limit_cpus(self, service: str, cpus: float | None) -> None:
        self._do("limit_cpus", service, str(cpus))

    def disconnect(self, service: str, network: str) -> None:
        self._do("disconnect", service, network)

    def connect(self, service: str, network: str, names: Sequence[str]) -> None:
        self._do("connect", service, network, *names)

    def addresses(self, service: str) -> dict[str, str]:
        return {"app": "172.18.0.3"}

    def run_beside(self, service: str, command: Sequence[str]) -> str:
        self._do("run_beside", service, *command)
        return json.dumps([{"kind": "tbf", "packets": 10, "drops": 0, "overlimits": 2}])

    def time_ns(self) -> int:
        return EPOCH_NS + round(self.clock.now_s() * 1e9)

    def save_logs(self, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        for name in self.containers():
            (folder / f"{name}.log").write_text(self.log)

    def last_log_lines(self, service: str, count: int) -> list[str]:
        return self.log.splitlines()[-count:]

    def remove(self) -> None:
        self._do("remove")
        self.deployment, self.running = None, set()

    def _do(self, step: str, *words: str) -> None:
        self.done.append(" ".join((step, *words)))
        self.clock.sleep(1)
        if step in self.fail:
            raise self.fail.pop(step)

    @property
    def _out(self) -> Path:
        assert self.deployment is not None
        return Path(self.deployment.environment["TRIAL_DIR"])

    def _ready(self, node: str) -> None:
        ready = {"format": "tollbooth.ready", "version": 1, "node": node, "t_ns": 2, "process_start_ns": 0,
                 "spring_ready_ns": 7_000_000_000, "versions": {"java": "25.0.3"}}  # fmt: skip
        (self._out / "ready" / f"{node}.json").write_text(json.dumps(ready))

    def _write_records(self) -> None:
        assert self.deployment is not None
        truth = synthetic.QUICK[self.deployment.environment["TELEMETRY"]]
        trial = self.change(synthetic.Trial(self.loads, 0, "x", truth, users=12), self.loads)
        written = _written(replace(trial, level="x"), self.loads)
        for name in ("requests.csv", "counters.jsonl"):
            (self._out / name).write_bytes(written[name])


@lru_cache(maxsize=64)
def _written(trial: synthetic.Trial, seed: int) -> Mapping[str, bytes]:
    """Return the files of a made-up trial by name. Tests make the same trials again and again."""
    with tempfile.TemporaryDirectory() as folder:
        written = synthetic.write_trial(Path(folder), trial, np.random.default_rng(seed))
        return {path.name: path.read_bytes() for path in written.iterdir() if path.is_file()}


class FakeBackend(Backend):
    """A `Backend` that got every span."""

    services = ("jaeger",)
    images = ("jaeger",)
    keeps_traces = True

    def ready(self) -> bool:
        return True

    def accepted_spans(self) -> int | None:
        return 123 * 100

    def newest_trace(self, entry: str) -> dict[str, object] | None:
        trial = synthetic.Trial(1, 0, "x", synthetic.QUICK["otel-manual"])
        trace: dict[str, object] = json.loads(_written(trial, 1)["trace.json"])
        return trace
