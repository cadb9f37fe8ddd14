"""A level's profile compared with the baseline's: a tree for the flame graph, and rows that add up to it."""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from lab.analysis.profile.libraries import library, method, owner, path, thread_kind
from lab.analysis.profile.records import NOTHING, Cost, Costs, Stack


@dataclass(frozen=True)
class Pair:
    """CPU time per request of the same code at a level and at the baseline."""

    level: Cost = NOTHING
    baseline: Cost = NOTHING

    def __add__(self, other: "Pair") -> "Pair":
        return Pair(self.level + other.level, self.baseline + other.baseline)

    @property
    def added(self) -> Cost:
        """What the level adds; the two were sampled apart, so their variances add up."""
        return Cost(self.level.ms - self.baseline.ms, self.level.variance + self.baseline.variance)

    @property
    def sure(self) -> bool:
        """Whether sampling alone does not explain the difference."""
        return abs(self.added.ms) > self.added.margin_ms


@dataclass
class Group:
    """Stacks of one name: their cost, and that of each method that is charged for some of them."""

    name: str
    cost: Pair = field(default_factory=Pair)
    methods: defaultdict[str, Pair] = field(default_factory=lambda: defaultdict(Pair))

    def most_added(self, count: int) -> list[tuple[str, Pair]]:
        """Return the methods that add most, most first, of those that add anything."""
        added = [(name, pair) for name, pair in self.methods.items() if pair.added.ms > 0]
        return sorted(added, key=lambda item: (-item[1].added.ms, item[0]))[:count]


@dataclass
class Box(Group):
    """A box of the flame graph, and by name those below it. `methods` are of stacks that end in it."""

    children: dict[str, "Box"] = field(default_factory=dict)


def by_library(level: Costs, baseline: Costs) -> list[Group]:
    """Return a group for each library that is charged for something, the one that adds most first."""
    return _grouped(level, baseline, owner)


def by_thread(level: Costs, baseline: Costs) -> list[Group]:
    """Return a group for each kind of thread, the one that adds most first."""
    return _grouped(level, baseline, lambda stack: thread_kind(stack[0]))


def together(groups: Sequence[Group], name: str) -> Group:
    """Return the sum of several groups, without their methods."""
    return Group(name, sum((group.cost for group in groups), Pair()))


def tree(level: Costs, baseline: Costs, name: str) -> Box:
    """Return both profiles as one tree, whose root is called `name`."""
    known_libraries = {found for stack in baseline for frame in stack[1:] if (found := library(frame))}
    known_threads = {thread_kind(stack[0]) for stack in baseline}
    root = Box(name)
    for stack, cost in _both(level, baseline):
        box = root
        box.cost += cost
        for step in path(stack, known_libraries, known_threads):
            box = box.children.setdefault(step, Box(step))
            box.cost += cost
        if charged := method(stack):
            box.methods[charged] += cost
    return root


def _grouped(level: Costs, baseline: Costs, name_of: Callable[[Stack], str]) -> list[Group]:
    groups: dict[str, Group] = {}
    for stack, cost in _both(level, baseline):
        name = name_of(stack)
        group = groups.setdefault(name, Group(name))
        group.cost += cost
        if charged := method(stack):
            group.methods[charged] += cost
    return sorted(groups.values(), key=lambda group: (-group.cost.added.ms, group.name))


def _both(level: Costs, baseline: Costs) -> Iterator[tuple[Stack, Pair]]:
    yield from ((stack, Pair(level=cost)) for stack, cost in level.items())
    yield from ((stack, Pair(baseline=cost)) for stack, cost in baseline.items())
