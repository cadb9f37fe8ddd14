"""A target with no containers, no window and no requests, imported results and two machines.

It represents a benchmark that another program ran on two machines: each trial imports the rate that was reached, which
is only a bound where the search for it ended first, and the counters of both machines.
"""

import json
import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from lab.contract import Declaration, Deployment, Judgement, Measuring, Metric, Needs, PairedMetric, Target
from lab.engine.place import Place
from lab.record.data import TrialData
from lab.record.files import write_json_atomic
from lab.record.results import FORMAT, VERSION, Censoring
from lab.record.series import NotDerivableError
from lab.record.summary import Column, Headline
from lab.record.trial import TrialPart
from lab.spec.example import Example
from lab.spec.experiment import Experiment
from lab.spec.level import Level, LevelSettings, TargetSettings
from lab.spec.problems import Problem

CAPACITY, CPU = "capacity_per_s", "cpu_per_operation_us"
MACHINES = ("east", "west")
START_NS, END_NS = 1_000_000_000_000, 1_010_000_000_000


class FakeSettings(TargetSettings):
    """An imported benchmark."""

    kind: Literal["fake"]
    operations: int = Field(default=1000, gt=0, description="of each trial")


class FakeLevelSettings(LevelSettings):
    """What a level of it may set."""

    capacity_per_s: float = Field(default=100, gt=0, description="the rate that is reached, but for noise")
    searched_up_to: float | None = Field(default=None, description="where the search for the rate ends")
    broken: bool = Field(default=False, description="imports no result")


FakeLevel = Level[FakeLevelSettings]


class FakeDeclaration(Declaration):
    """See `lab.contract.Declaration`."""

    kind = "fake"
    containers = False
    settings = FakeSettings
    level = FakeLevelSettings
    example = Example({"operations": 10}, {"capacity_per_s": 50})

    def headline(self, metrics: Collection[str]) -> Headline:
        """See `Declaration.headline`."""
        return Headline(
            primary=CAPACITY,
            what="capacity",
            columns=[Column(metric=CPU, heading="CPU\nµs/op.")],
            main=[CAPACITY, CPU],
        )

    def problems(self, experiment: Experiment) -> Iterator[Problem]:
        """See `Declaration.problems`."""
        for level in experiment.levels():
            if level.settings.searched_up_to is not None and level.settings.searched_up_to <= 0:
                yield Problem(("factors", level.name, "searched_up_to"), "wanted more than 0")

    def needs(self, experiment: Experiment) -> Needs:
        """See `Declaration.needs`."""
        return Needs()

    def start_group(self, level: Level[Any]) -> str:
        """See `Declaration.start_group`."""
        return "fake"

    def manifest(self, experiment: Experiment) -> Mapping[str, Any]:
        """See `Declaration.manifest`."""
        return {"benchmark": {"machines": list(MACHINES)}}


@dataclass(frozen=True)
class FakeDeployment(Deployment):
    """See `lab.contract.Deployment`."""

    level: FakeLevel
    out: Path

    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        """See `Deployment.deploy`."""
        assert not instruments
        self.out.mkdir(parents=True)

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """See `Deployment.ready`."""
        return {}

    def endpoint(self) -> None:
        """See `Deployment.endpoint`."""

    def measuring(self, level: FakeLevel, seed: int, lead_s: float) -> AbstractContextManager[Measuring]:
        """See `Deployment.measuring`."""
        if not level.settings.broken:
            imported(self.out, level, seed)
        return super().measuring(level, seed, lead_s)

    def drain(self) -> TrialPart:
        """See `Deployment.drain`."""
        return TrialPart()

    def roles(self) -> Mapping[str, str]:
        """See `Deployment.roles`."""
        return {}

    def pages(self) -> Sequence[str]:
        """See `Deployment.pages`."""
        return ["read the benchmark's own report"]


def imported(out: Path, level: FakeLevel, seed: int) -> None:
    """Write what the other program and the two machines' observers left."""
    reached = level.settings.capacity_per_s * random.Random(f"{seed} {level.name}").uniform(0.99, 1.01)
    end = level.settings.searched_up_to
    censored: dict[str, Censoring] = {}
    if end is not None and end < reached:
        reached, censored[CAPACITY] = end, "at least"
    values = {CAPACITY: reached, "operations": 1000.0}
    write_json_atomic(
        out / "results.json", {"format": FORMAT, "version": VERSION, "values": values, "censored": censored}
    )
    for number, machine in enumerate(MACHINES, start=1):
        head = {"format": "tollbooth.counters", "version": 1, "interval_ns": 1_000_000_000}
        samples = [
            {"kind": "container", "name": f"bench-{machine}", "t_ns": t_ns, "cpu_usage_ns": used_ns}
            for t_ns, used_ns in ((START_NS, 0), (END_NS, number * 1_000_000_000))
        ]
        lines = [json.dumps(line) for line in (head, *samples)]
        (out / f"counters-{machine}.jsonl").write_text("\n".join([*lines, ""]))


def _capacity(data: TrialData) -> float:
    return data.results.values[CAPACITY]


def _cpu(data: TrialData) -> float:
    """Add up what both machines used."""
    used = [
        counters.containers[f"bench-{machine}"]["cpu_usage_ns"].increase(START_NS, END_NS)
        for machine, counters in data.counters_by_machine().items()
    ]
    return sum(used) / data.results.values["operations"] / 1000


def results_present(data: TrialData) -> Iterator[str]:
    """Reject trials without a result, or without a machine's counters."""
    try:
        _ = data.results
    except NotDerivableError as missing:
        yield str(missing)
    if absent := [machine for machine in MACHINES if machine not in data.counters_by_machine()]:
        yield f"no counters of {', '.join(absent)}"


JUDGEMENT = Judgement(
    checks=((results_present,),),
    metrics={
        CAPACITY: Metric(CAPACITY, "Capacity", "1/s", "higher", compute=_capacity),
        CPU: Metric(CPU, "CPU per operation, both machines", "µs", compute=_cpu),
    },
    paired={
        "gained_per_s": PairedMetric(
            "gained_per_s",
            "Capacity beyond the baseline's",
            "1/s",
            "higher",
            compute=lambda values, baseline: values[CAPACITY] - baseline[CAPACITY],
        )
    },
)


class Fake(Target[Place]):
    """See `lab.contract.Target`."""

    declaration = FakeDeclaration()
    judgement = JUDGEMENT

    def deployment(self, level: FakeLevel, place: Place, out: Path) -> FakeDeployment:
        """See `Target.deployment`."""
        return FakeDeployment(level, out)

    def versions(self, trial: Path) -> Mapping[str, str]:
        """See `Target.versions`."""
        return {"benchmark": "1.0"}
