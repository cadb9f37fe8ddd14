"""`profiles/<level>/`: what is written of a profiled trial, and a level's profile as CPU time per request."""

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from lab.analysis.profile.stacks import FIX_HINT, Stack, Stacks, read_collapsed
from lab.errors import UserError
from lab.record import Record, TrialRecord, read_json, read_trial_record

MS_NS = 1e6
# Of the normal distribution: the half width of a 95 % interval in standard deviations.
Z_95 = 1.96


class NodeProfile(Record):
    """What a service's profile was taken from: `slices` that span `start_ns` to `end_ns`.

    `requests` were served meanwhile, by all services, and `cpu_ns` used by the service, as the kernel counted it.
    """

    start_ns: int
    end_ns: int
    slices: int
    samples: int
    requests: float
    cpu_ns: float

    @property
    def cpu_per_request_ms(self) -> float:
        """The service's CPU time per request."""
        return self.cpu_ns / MS_NS / self.requests


class ProfileRecord(Record):
    """`profile.json`."""

    format: Literal["tollbooth.profile"] = "tollbooth.profile"
    version: Literal[1] = 1
    level: str
    nodes: Mapping[str, NodeProfile]

    @property
    def samples(self) -> int:
        """How many samples were taken, of all services."""
        return sum(node.samples for node in self.nodes.values())

    @property
    def cpu_per_request_ms(self) -> float:
        """The services' CPU time per request."""
        return sum(node.cpu_per_request_ms for node in self.nodes.values())


@dataclass(frozen=True)
class Cost:
    """CPU time per request, and the variance that sampling gives it."""

    ms: float = 0.0
    variance: float = 0.0

    def __add__(self, other: "Cost") -> "Cost":
        return Cost(self.ms + other.ms, self.variance + other.variance)

    @property
    def margin_ms(self) -> float:
        """Half of the 95 % interval that sampling alone leaves; differences between trials come on top."""
        return Z_95 * math.sqrt(self.variance)


NOTHING = Cost()
Costs = Mapping[Stack, Cost]


@dataclass(frozen=True)
class Profile:
    """A level's profile: its record, its trial's, and the cost of each stack over all services."""

    record: ProfileRecord
    trial: TrialRecord
    costs: Costs


def level_folder(level: str) -> str:
    """Return the name of a level's folder: several factors' levels are joined with "/", which it cannot have."""
    return level.replace("/", "+")


def read_profile(folder: Path) -> Profile:
    """Read a level's folder; raises `UserError` where something is missing or broken."""
    path = folder / "profile.json"
    data = read_json(path, "tollbooth.profile", 1)
    try:
        record = ProfileRecord.model_validate(data)
    except ValidationError as error:
        raise UserError(f"{path}: {error.errors()[0]['msg']}", FIX_HINT) from error
    stacks = {node: read_collapsed(folder / f"{node}.collapsed") for node in record.nodes}
    return Profile(record, read_trial_record(folder), costs(record, stacks))


def costs(record: ProfileRecord, stacks: Mapping[str, Stacks]) -> Costs:
    """Share out the CPU time that the kernel counted of each service among its samples, and add up the services.

    Samples say where CPU time went, the kernel says how much it was: that the profiler pauses to write changes no
    total. Ticks know nothing of what runs, so the number of samples of a stack is taken as Poisson distributed: its
    variance is the number.
    """
    total: defaultdict[Stack, Cost] = defaultdict(lambda: NOTHING)
    for name, node in record.nodes.items():
        per_sample_ms = node.cpu_per_request_ms / node.samples
        for stack, count in stacks[name].items():
            total[stack] += Cost(count * per_sample_ms, count * per_sample_ms**2)
    return total
