"""`profiles/<level>/`: what is written of a profiled trial, and a level's profile as CPU time per request.

async-profiler writes collapsed stacks, a line `thread;frame;...;frame count` for each stack, and a file every few
seconds, so that those of the window can be separated from start and warm-up.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from lab.errors import UserError
from lab.record import MS_NS, Record, TrialRecord, read_json, read_trial_record

FIX_HINT = "it was cut or changed after it was written: delete the profile's folder, the rest of the run stays as it is"

# At least so many in a window: what is lost at its edges, one slice on average, then stays below a fifth.
SLICES_PER_WINDOW = 5

Stack = tuple[str, ...]
"""The thread, then frames from the outermost to the one that ran."""

Stacks = Mapping[Stack, int]
"""How many samples were taken of each stack."""

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


def parse_collapsed(text: str, source: str) -> Counter[Stack]:
    """Read collapsed stacks; raises `UserError` that names `source` and the line that is none."""
    found: Counter[Stack] = Counter()
    for number, line in enumerate(text.splitlines(), start=1):
        # A frame's name may hold spaces.
        stack, _, count = line.rpartition(" ")
        if not stack or not count.isdecimal():
            raise UserError(f"{source}, line {number}: not a collapsed stack", FIX_HINT)
        found[tuple(stack.split(";"))] += int(count)
    return found


def read_collapsed(path: Path) -> Counter[Stack]:
    """Read a file of collapsed stacks; raises `UserError` where it is missing or broken."""
    try:
        return parse_collapsed(path.read_text(), str(path))
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path} cannot be read: {error}", FIX_HINT) from error


def collapsed(stacks: Stacks) -> str:
    """Return the text that `parse_collapsed` reads, which flame graph tools read too; sorted, so that it is stable."""
    return "".join(f"{';'.join(stack)} {count}\n" for stack, count in sorted(stacks.items()))


def added_up(parts: Iterable[Stacks]) -> Counter[Stack]:
    """Return the samples of all parts together."""
    return sum((Counter(part) for part in parts), Counter[Stack]())


@dataclass(frozen=True)
class Slice:
    """A file with what was sampled from `start_ns` to `end_ns` (Unix time of the kernel that the containers run on)."""

    path: Path
    start_ns: int
    end_ns: int


def slice_s(window_s: float) -> int:
    """Return how many seconds a slice is to last: whole seconds, as the profiler requires."""
    return max(1, int(window_s // SLICES_PER_WINDOW))


def slices(folder: Path, node: str) -> list[Slice]:
    """Return a node's slices in their order; one begins where the one before it was written.

    The first is left out: the profiler does not say when it began.
    """
    written = sorted((path.stat().st_mtime_ns, path) for path in folder.glob(f"{node}.*.collapsed"))
    return [Slice(path, start_ns, end_ns) for (start_ns, _), (end_ns, path) in pairwise(written)]


def within(found: Sequence[Slice], start_ns: int, end_ns: int) -> list[Slice]:
    """Return the slices that lie in a window with all that they hold."""
    return [one for one in found if one.start_ns >= start_ns and one.end_ns <= end_ns]
