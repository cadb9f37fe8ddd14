"""What a topology is: a call graph over operations of nodes (format: docs/reference/formats.md).

Only the lab reads and validates topology files. The services read what `resolved` returns.
"""

import graphlib
import math
import statistics
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field

from lab.spec import Path as ProblemPath
from lab.spec import (
    Problem,
    Shape,
    SpecError,
    Version1,
    dotted,
    parse_yaml,
    read_text,
    suggestion,
    user_error,
    validate,
)
from lab.target.mesh.spantree import ExpectedSpan

MAX_CALLS_PER_REQUEST = 10_000
NS_PER_MS = 1_000_000
ENTRY_KINDS = ("gateway", "svc-b")

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]
Reference = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}\.[a-z][a-z0-9-]{0,30}$", description="node.operation")]

# What callers add to a node's name. By its bare name a container is found in every network, so that one that starts
# again may be called over the telemetry's; by this name it is found in the application's alone. Nobody outside can own
# the domain.
DOMAIN = ".internal"

_HINT = "docs/reference/formats.md describes the format; experiments/topologies/ has examples"


class Calls(Shape):
    """Calls to other operations, one after the other or all at the same time."""

    to: list[Reference] = Field(min_length=1, description="who is called; the calls alternate over these")
    times: int = Field(
        default_factory=lambda fields: len(fields["to"]),
        ge=1,
        le=MAX_CALLS_PER_REQUEST,
        description="calls in all; one to each where it is left out",
    )
    order: Literal["sequence", "parallel"] = "sequence"

    def callees(self) -> tuple[str, ...]:
        """Return the operation of each call, in order."""
        return tuple(self.to[index % len(self.to)] for index in range(self.times))

    def share(self, index: int) -> int:
        """Return how many of the calls go to `to[index]`."""
        return (self.times - index + len(self.to) - 1) // len(self.to)


class Operation(Shape):
    """What a service does for a call."""

    latency_ms: float = Field(default=0, ge=0, le=60_000, description="time that it waits")
    error_probability: float = Field(
        default=0, ge=0, le=1, description="share of answers that are errors, drawn from the seed"
    )
    calls: list[Calls] = Field(default_factory=list)

    def stages(self) -> list[tuple[str, ...]]:
        """Return the calls in stages: calls of one stage run at the same time, the next stage waits for all of them."""
        stages: list[tuple[str, ...]] = []
        for calls in self.calls:
            made = calls.callees()
            stages += [made] if calls.order == "parallel" else [(to,) for to in made]
        return stages


class Gateway(Shape):
    """A node that routes a request to the operation that the client names."""

    kind: Literal["gateway"]
    routes: Mapping[Name, Reference] = Field(min_length=1, description="the client's name -> operation")


class Service(Shape):
    """A node with operations: svc-a is called by REST, svc-b by gRPC."""

    kind: Literal["svc-a", "svc-b"]
    operations: Mapping[Name, Operation] = Field(min_length=1)


class Topology(Shape):
    """A call graph. The client sends a gateway `GET /<route>`, or calls an operation of a svc-b by gRPC."""

    format: Literal["tollbooth.topology"]
    version: Version1
    entry: Name = Field(description="the node that the client calls: a gateway or a svc-b")
    nodes: Mapping[Name, Annotated[Gateway | Service, Field(discriminator="kind")]] = Field(min_length=1)

    @property
    def entry_protocol(self) -> Literal["http", "grpc"]:
        """What the client speaks to the entry node."""
        return "http" if isinstance(self.nodes[self.entry], Gateway) else "grpc"

    def kinds(self) -> list[str]:
        """Return the kinds of its nodes, which are Compose services."""
        return sorted({node.kind for node in self.nodes.values()})

    def routes(self) -> tuple[str, ...]:
        """Return what the client can request: a gateway's routes, a service's operations."""
        entry = self.nodes[self.entry]
        return tuple(entry.routes if isinstance(entry, Gateway) else entry.operations)

    def expected_spans(self, route: str) -> int:
        """Return how many spans a traced request makes: the entry's own, and two for each call."""
        return 1 + 2 * calls_of_routes(self)[self.entry, route]

    def mean_spans_per_request(self) -> float:
        """Return how many spans a traced request makes on average, if every route is requested equally often."""
        return statistics.fmean(self.expected_spans(route) for route in self.routes())

    def expected_error_fraction(self, route: str, requested: float | None = None) -> float:
        """Return the share of requests for `route` that drawn errors make fail without retries.

        An operation succeeds if it and all calls below it do. `requested`: the error probability that requests set
        for every operation, which holds over the topology's.
        """
        operations, succeeds = _operations(self), dict[str, float]()
        for reference in _callees_first(self).static_order():
            operation = operations[reference]
            below = (
                succeeds[to] ** calls.share(index) for calls in operation.calls for index, to in enumerate(calls.to)
            )
            own = 1 - (operation.error_probability if requested is None else requested)
            succeeds[reference] = own * math.prod(below)
        entry = self.nodes[self.entry]
        return 1 - succeeds[entry.routes[route] if isinstance(entry, Gateway) else f"{self.entry}.{route}"]

    def mean_error_fraction(self, requested: float | None) -> float:
        """Return the expected share of errors among all requests, if every route is requested equally often."""
        return statistics.mean(self.expected_error_fraction(route, requested) for route in self.routes())

    def expected_tree(self, route: str) -> ExpectedSpan:
        """Return the spans that a traced request makes when no call fails."""
        entry, spans = self.nodes[self.entry], _server_spans(self)
        if isinstance(entry, Service):
            return spans[f"{self.entry}.{route}"]
        call = ExpectedSpan(self.entry, "client", ((spans[entry.routes[route]],),))
        return ExpectedSpan(self.entry, "server", ((call,),))


def load_topology(path: Path) -> Topology:
    """Return the topology in a file. Raises `UserError`, with a line for each of the first few faults."""
    try:
        return parse_topology(read_text(path))
    except SpecError as error:
        raise user_error(str(path), error.problems, _place, _HINT) from None


def parse_topology(text: str) -> Topology:
    """Return the topology that a YAML text describes. Raises `SpecError`."""
    topology = validate(Topology, parse_yaml(text))
    for find_faults in (_dangling, _cycles, _excesses):  # each needs what the ones before it make sure of
        if problems := list(find_faults(topology)):
            raise SpecError(problems)
    return topology


def resolved(topology: Topology) -> dict[str, Any]:
    """Return the topology as the services read it: defaults filled in, calls in stages (docs/reference/formats.md)."""
    return {
        "format": "tollbooth.resolved-topology",
        "version": 1,
        "nodes": {
            name: {
                "kind": node.kind,
                "routes": dict(node.routes) if isinstance(node, Gateway) else {},
                "operations": {key: _resolved(operation) for key, operation in node.operations.items()}
                if isinstance(node, Service)
                else {},
            }
            for name, node in topology.nodes.items()
        },
    }


def _resolved(operation: Operation) -> dict[str, Any]:
    return {
        "latency_ns": round(operation.latency_ms * NS_PER_MS),
        "error_probability": operation.error_probability,
        "stages": [list(stage) for stage in operation.stages()],
    }


def _place(path: ProblemPath) -> str:
    """Name the node and the field in it."""
    fields = tuple(step for step in path if isinstance(step, str))
    if fields[:1] == ("nodes",) and len(fields) > 1:
        return f"{dotted(fields[1:2])}: {dotted(fields[2:]) or 'nodes'}"
    return f"topology: {dotted(fields)}".removesuffix(": ")


def _operations(topology: Topology) -> dict[str, Operation]:
    """Return all operations by reference."""
    return {
        f"{name}.{operation_name}": operation
        for name, node in topology.nodes.items()
        if isinstance(node, Service)
        for operation_name, operation in node.operations.items()
    }


def _routes(topology: Topology) -> Iterator[tuple[str, str, str]]:
    """Yield gateway, route and operation, for every gateway."""
    for name, node in topology.nodes.items():
        if isinstance(node, Gateway):
            yield from ((name, route, operation) for route, operation in node.routes.items())


def _dangling(topology: Topology) -> Iterator[Problem]:
    """Yield the references to what there is not."""
    entry = topology.nodes.get(topology.entry)
    if entry is None or entry.kind not in ENTRY_KINDS:
        possible = [name for name, node in topology.nodes.items() if node.kind in ENTRY_KINDS]
        what = f"is not a {' or '.join(ENTRY_KINDS)}" if entry else "is not a node"
        yield Problem(("nodes", topology.entry, "entry"), f"{what}; {suggestion(topology.entry, possible)}")
    operations = _operations(topology)
    for gateway, route, to in _routes(topology):
        if to not in operations:
            yield Problem(("nodes", gateway, "routes", route), _missing(topology, operations, to))
    yield from (
        Problem((*_calls_path(reference), "to"), _missing(topology, operations, to))
        for reference, operation in operations.items()
        for calls in operation.calls
        for to in calls.to
        if to not in operations
    )


def _missing(topology: Topology, operations: Mapping[str, Operation], to: str) -> str:
    node = to.partition(".")[0]
    if node not in topology.nodes:
        return f"'{to}' is of a node that there is not; {suggestion(node, topology.nodes)}"
    return f"there is no operation '{to}'; {suggestion(to, operations)}"


def _calls_path(reference: str) -> ProblemPath:
    node, _, operation = reference.partition(".")
    return ("nodes", node, "operations", operation, "calls")


def _callees_first(topology: Topology) -> graphlib.TopologicalSorter[str]:
    graph = {
        reference: [to for calls in operation.calls for to in calls.to]
        for reference, operation in _operations(topology).items()
    }
    return graphlib.TopologicalSorter(graph)


def _cycles(topology: Topology) -> Iterator[Problem]:
    """Yield a cycle of operations, if there is any: its request would never end."""
    try:
        _callees_first(topology).prepare()
    except graphlib.CycleError as error:
        backwards: list[str] = error.args[1][1:]  # its first node is its last
        cycle = backwards[::-1]
        start = cycle.index(min(cycle, key=list(_operations(topology)).index))
        around = [*cycle[start:], *cycle[:start], cycle[start]]
        yield Problem(_calls_path(cycle[start]), f"calls itself without end: {' -> '.join(around)}")


def calls_of_routes(topology: Topology) -> dict[tuple[str, str], int]:
    """Return how many calls a request makes in all, by the node that it is sent to and its route or operation.

    A gateway forwards each route, which is one more call. An entry without routes has operations instead.
    """
    operations = _operations(topology)
    below: dict[str, int] = {}
    for reference in _callees_first(topology).static_order():
        below[reference] = sum(
            calls.share(index) * (1 + below[to])
            for calls in operations[reference].calls
            for index, to in enumerate(calls.to)
        )
    found = {(gateway, route): 1 + below[to] for gateway, route, to in _routes(topology)}
    entry = topology.nodes[topology.entry]
    if isinstance(entry, Service):
        found |= {(topology.entry, name): below[f"{topology.entry}.{name}"] for name in entry.operations}
    return found


def _excesses(topology: Topology) -> Iterator[Problem]:
    """Yield the routes, or the entry's operations, whose requests make too many calls."""
    for (name, route), calls in calls_of_routes(topology).items():
        if calls > MAX_CALLS_PER_REQUEST:
            is_gateway = isinstance(topology.nodes[name], Gateway)
            yield Problem(
                ("nodes", name, "routes", route) if is_gateway else _calls_path(f"{name}.{route}"),
                f"a request makes {calls if calls < 10**9 else 'more than a billion'} calls, "
                f"at most {MAX_CALLS_PER_REQUEST} are possible",
            )


def _server_spans(topology: Topology) -> dict[str, ExpectedSpan]:
    """Return the server span of each operation, with all below it."""
    operations = _operations(topology)
    spans: dict[str, ExpectedSpan] = {}
    for reference in _callees_first(topology).static_order():
        node = reference.partition(".")[0]
        steps = tuple(
            tuple(ExpectedSpan(node, "client", ((spans[to],),)) for to in stage)
            for stage in operations[reference].stages()
        )
        spans[reference] = ExpectedSpan(node, "server", steps)
    return spans
