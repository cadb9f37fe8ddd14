"""An engine that takes no time and whose generators send at given times: in turns, or side by side."""

import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from lab.engine.driver import Stack
from lab.record import SECOND_NS
from lab.record.requests import REQUESTS_COLUMNS, REQUESTS_FIRST_LINE
from tests import synthetic
from tests.fake import FakeBackend, FakeClock, FakeDriver
from tests.synthetic.counters import beginning, encoded, sample, stopped, times_ns

WORKS_NS = 30_000_000


class Clock(FakeClock):
    """Time that passes when somebody sleeps; containers then do what is due."""

    def __init__(self) -> None:
        super().__init__()
        self.work: list[Callable[[], None]] = []

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        for work in self.work:
            work()


@dataclass
class Turns(FakeDriver):
    """An engine whose generator sends the loads of its folder, and whose observer records until now.

    `cost` multiplies the CPU of a request. `slow_ns`: how long one takes that has a time. `loads_sent`: what was
    answered so far. `samples`: what the observer wrote of each moment, which a later answer may change. `ordered`: the
    loads of the folder by the names of their files, and where their answers go.
    """

    cost: float = 1.0
    slow_ns: int = WORKS_NS
    loads_sent: list[dict[str, object]] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)
    seen: tuple[int, float] = (-1, 0.0)
    samples: dict[int, str] = field(default_factory=dict)
    ordered: dict[str, tuple[dict[str, object], Path]] = field(default_factory=dict)

    def create(self, deployment: Stack) -> None:
        super().create(deployment)
        self.samples, self.ordered = {}, {}

    def work(self) -> None:
        """Answer the loads that are due, and write what the observer saw so far."""
        if self.deployment is None or "open-loop" not in self.running:
            return
        # Ten times a second: each load is read once.
        for name in sorted(entry.name for entry in os.scandir(self._out)):
            if name.startswith("load-") and name.endswith(".json"):
                load, answer = self.ordered.get(name) or self._read(name)
                if load.get("requests") != 0 and not answer.exists():
                    self._send(load, answer)
        if len(self.rows) == self.seen[0] and self.clock.now_s() < self.seen[1] + 5:
            return
        self.seen = len(self.rows), self.clock.now_s()
        self._observe()

    def _read(self, name: str) -> tuple[dict[str, object], Path]:
        """Read a load; return it, and the path of its answer."""
        load = json.loads((self._out / name).read_text())
        number = name.removeprefix("load-").removesuffix(".json")
        self.ordered[name] = load, self._out / f"requests-{number}.csv"
        return self.ordered[name]

    def _observe(self) -> None:
        """Write the record of the observer. A sample that was taken before is not made again."""
        trial = replace(
            synthetic.Trial(0, 0, "x", self._truth(), noise=self.cost, attempt=0, generator_cores=0.01),
            warm_up_s=0,
            window_s=round(self.clock.now_s()),
        )
        ends, times = np.array(sorted(self.rows), dtype=np.int64), times_ns(trial, np.random.default_rng(1))
        for t in times:
            if t not in self.samples:
                self.samples[t] = as_text(sample(trial, t, ends))
        text = as_text(beginning(trial)) + "".join(self.samples[t] for t in times) + as_text([stopped(trial)])
        (self._out / "counters.jsonl").write_text(text)

    def _send(self, load: dict[str, object], answer: Path) -> None:
        count = int(str(load["requests"]))
        if isinstance(starts_ns := load.get("starts_ns"), list):
            every_ns = round(SECOND_NS / float(str(load["requests_per_s"])))
            if self.time_ns() < starts_ns[-1] + count * every_ns + 10 * SECOND_NS:
                return
            starts = [start + number * every_ns for start in starts_ns for number in range(count)]
            self._answer(answer, starts, self.slow_ns)
        else:
            every_ns = min(WORKS_NS, 5 * SECOND_NS // count)  # a large load does not begin before its containers
            starts = [self.time_ns() - (count - number) * every_ns for number in range(count)]
            self._answer(answer, starts, WORKS_NS)
        self.loads_sent.append(load)

    def _answer(self, answer: Path, starts: list[int], takes_ns: int) -> None:
        self.rows += [start + takes_ns for start in starts]
        first_ns = min(starts, default=self.time_ns()) + takes_ns
        self.samples = {t: text for t, text in self.samples.items() if t < first_ns}
        rows = [f"0,a1,{start},{start},{start + takes_ns},200,100" for start in starts]
        answer.write_text("\n".join([REQUESTS_FIRST_LINE, ",".join(REQUESTS_COLUMNS), *rows, ""]))

    def _truth(self) -> synthetic.Level:
        assert self.deployment is not None
        return synthetic.QUICK[self.deployment.environment["TELEMETRY"]]

    def wait(self, service: str, timeout_s: float) -> int:
        self._do("wait")
        self.running -= {service}
        return 0


def as_text(lines: Sequence[Mapping[str, object]]) -> str:
    """Return the observer's lines of a system with this generator."""
    return encoded(lines).replace('"locust"', '"open-loop"')


class SilentBackend(FakeBackend):
    """A backend that cannot say how many spans it got."""

    def accepted_spans(self) -> int | None:
        return None


def systems(count: int) -> list[Turns]:
    """Return the engines of so many systems that run at the same time."""
    clock = Clock()
    drivers = [Turns(clock) for _ in range(count)]
    clock.work = [driver.work for driver in drivers]
    return drivers
