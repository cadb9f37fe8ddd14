"""What every fault is: declared in an experiment, injected, lifted, and verified from the data path."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Protocol

from pydantic import Field

from lab.engine import Clock, Driver
from lab.fault.planes import ANY, SERVICE, Role, network
from lab.record import Course, Seen, TrialData
from lab.spec import Shape

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]

StartSeconds = Annotated[float, Field(ge=0, le=3600)]
Part = Literal["process", "cpu", "network", "application", "proxy aborts", "proxy delays"]


class CannotInject(Exception):
    """A fault could not be injected (or lifted) here; the text says why."""


class Proxy(Protocol):
    """What a fault needs of a sidecar's administration page. Raises `OSError` without an answer."""

    def set_runtime(self, values: Mapping[str, int | str]) -> None:
        """Sets runtime values; "" removes one."""

    def counters(self) -> Mapping[str, int]:
        """What it counted since its start, by Envoy's names."""


@dataclass(frozen=True)
class Subject:
    """The running system that faults are injected into.

    `ready` is the folder that services see as `/ready`; `sidecars` has the container of each node's sidecar, by node;
    `proxy_of` returns the administration page of a node's sidecar; `roles` has those of containers that are no service;
    `domain` is what callers append to a service's name.
    """

    driver: Driver
    clock: Clock
    ready: Path
    sidecars: Mapping[str, str] = field(default_factory=dict)
    proxy_of: Callable[[str], Proxy] | None = None
    roles: Mapping[str, str] = field(default_factory=dict)
    domain: str = ""

    def proxy(self, node: str) -> Proxy:
        """The node's sidecar; raises `CannotInject` if it has none."""
        if node not in self.sidecars or self.proxy_of is None:
            raise CannotInject(f"{node} has no sidecar")
        # Looked up each time: the engine chooses another port when the node restarts or reconnects.
        return self.proxy_of(node)

    def containers(self, node: str) -> tuple[str, ...]:
        """The node's containers in starting order: its sidecar needs its network namespace."""
        return (node, self.sidecars[node]) if node in self.sidecars else (node,)

    def network(self, target: str) -> str:
        """The network of the target's work."""
        return network(self.roles.get(target, SERVICE))

    def names(self, target: str) -> tuple[str, ...]:
        """The target's names on the network of its work."""
        return target, target + self.domain

    def address(self, target: str) -> str:
        """The target's address on the network of its work; "" while it has none."""
        return self.driver.addresses(target).get(self.network(target), "")


class DeclaredFault(Shape):
    """A fault as an experiment declares it. A kind is a subclass in `lab/fault/kinds/`.

    A kind changes nothing outside the lab's containers: removing them lifts it, even if the runner was killed.
    """

    kind: str
    target: Name = Field(description="a node of the topology, or a container of the level's backend")
    start_s: StartSeconds | Annotated[tuple[StartSeconds, StartSeconds], Field(strict=False)] = Field(
        description="seconds after the window's start; [earliest, latest]: drawn evenly from the trial's seed"
    )
    # Fewer than three seconds are too few samples of a counter that is read once a second.
    length_s: float = Field(ge=3, le=3600, description="how long it lasts")

    part: ClassVar[Part]
    """The part of the target that it changes: two faults never change one part at the same time."""
    stops: ClassVar[bool] = False
    """Whether the target does nothing during the fault: no other fault of it could be verified."""
    needs_sidecar: ClassVar[bool] = False
    roles: ClassVar[frozenset[Role]] = ANY
    """The roles of the containers that it can be a fault of."""
    images: ClassVar[tuple[str, ...]] = ()
    """Further images that it needs: keys of the table of images."""

    @property
    def what(self) -> str:
        """Its name in messages."""
        return f"{self.kind} of {self.target}"

    @property
    def earliest_s(self) -> float:
        """Its earliest start, in seconds after the window's start."""
        return self.start_s[0] if isinstance(self.start_s, tuple) else self.start_s

    @property
    def latest_s(self) -> float:
        """Its latest start, in seconds after the window's start."""
        return self.start_s[1] if isinstance(self.start_s, tuple) else self.start_s

    @abstractmethod
    def inject(self, subject: Subject) -> Seen:
        """Injects the fault, and returns what was seen once it was in force.

        Raises `CannotInject`, `OSError` or the driver's errors.
        """

    @abstractmethod
    def lift(self, subject: Subject) -> Seen:
        """Lifts the fault, and returns what was seen of it. Raises the same errors as `inject`."""

    @abstractmethod
    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the trial's records do not show the fault between its injection and its lifting."""
