"""What `lab up` starts of a target if nothing else is set, what can be switched then, and how it is drawn. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from lab.spec.experiment import Experiment
from lab.spec.level import Level

Fields = Mapping[str, object]
"""A part of an experiment, as its file says it."""

Settings = Mapping[str, str]
"""The values of controls, by name."""

NO_FAULT = "none"


@dataclass(frozen=True)
class Control:
    """What can be switched by name while a system runs, and its values."""

    name: str
    label: str
    values: Sequence[str]


@dataclass(frozen=True)
class Switches:
    """The controls of a kind of target.

    `controls`: those of a system with these settings. `read`: the settings that an experiment has. `words`: the
    values of --set for `lab up`. `make`: the same for `make up`, by control, with %s for the value. `per_s`: the load's
    requests per second, about. `sampled`: whether there are traces to sample.
    """

    controls: Callable[[Settings], Sequence[Control]] = lambda _: ()
    read: Callable[[Experiment], Settings] = lambda _: {}
    words: Callable[[Settings], Sequence[str]] = lambda _: ()
    make: Callable[[Settings], Mapping[str, str]] = lambda _: {}
    per_s: Callable[[Settings], float | None] = lambda _: None
    sampled: Callable[[Settings], bool] = lambda _: False


@dataclass(frozen=True)
class Counted:
    """Who counts the requests of an edge: an Envoy behind a container's port; its counters begin with `prefix`.

    `statuses`: errors have a status of their own. Those of gRPC are in the answer, where this Envoy does not look.
    """

    container: str
    port: int
    prefix: str
    statuses: bool


@dataclass(frozen=True)
class Node:
    """A box of the picture, at `x` and `y` from 0 to 1."""

    id: str
    label: str
    kind: Literal["client", "gateway", "service", "sidecar"]
    x: float
    y: float


@dataclass(frozen=True)
class Edge:
    """Who sends requests to whom, and how that is measured.

    `generated`: the load generator records it. `counted`: by an Envoy. `traced`: caller and callee in traces.
    """

    source: str
    target: str
    generated: bool = False
    counted: Counted | None = None
    traced: tuple[str, str] | None = None


@dataclass(frozen=True)
class Picture:
    """A level as a graph. `backend`: where traces can be read, by its name; `entry`: the service of their roots."""

    nodes: Sequence[Node] = ()
    edges: Sequence[Edge] = ()
    backend: str = ""
    entry: str = ""


@dataclass(frozen=True)
class Example:
    """Settings of the target and of one level.

    `loads`: `load` and `protocol` of an experiment. The first that the system takes is sent.
    `faults`: those that a level may have, by name. `switches`, `picture`: of the page.
    """

    target: Fields
    level: Fields
    loads: Sequence[Fields] = ({"load": {"generator": "none"}, "protocol": {"repetitions": 1}},)
    faults: Callable[[Level[Any]], Mapping[str, Fields]] = lambda _: {}
    switches: Switches = field(default_factory=Switches)
    picture: Callable[[Level[Any]], Picture] = lambda _: Picture()
