"""What every fault is: declared in an experiment, injected, lifted, and proved from the data path."""

from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Protocol

from pydantic import Field

from lab.engine.clock import Clock
from lab.engine.driver import Driver
from lab.record.data import TrialData
from lab.record.faults import Course, Seen
from lab.spec.model import Shape

# The network that requests take: faults leave the telemetry's alone.
APP = "app"

Name = Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")]

StartSeconds = Annotated[float, Field(ge=0, le=3600)]
Part = Literal["process", "cpu", "network", "application", "proxy aborts", "proxy delays"]


class CannotInject(Exception):
    """A fault could not be brought about (or lifted) here; the text says why."""


class Proxy(Protocol):
    """What a fault asks of a sidecar's administration page. Raises `OSError` where there is no answer."""

    def set_runtime(self, values: Mapping[str, int | str]) -> None:
        """Sets runtime values; "" takes one back."""

    def counters(self) -> Mapping[str, int]:
        """What it counted since it started, by Envoy's names."""


@dataclass(frozen=True)
class Subject:
    """The running system that faults are injected into.

    `ready` is the folder that services see as `/ready`; `sidecars` has the container of each node's sidecar, by node;
    `proxy_of` returns the administration page of a node's sidecar.
    """

    driver: Driver
    clock: Clock
    ready: Path
    sidecars: Mapping[str, str] = field(default_factory=dict)
    proxy_of: Callable[[str], Proxy] | None = None

    def proxy(self, node: str) -> Proxy:
        """The node's sidecar; raises `CannotInject` where it has none."""
        if node not in self.sidecars or self.proxy_of is None:
            raise CannotInject(f"{node} has no sidecar")
        # Found anew each time: the engine chooses another port when the node starts or is connected again.
        return self.proxy_of(node)

    def containers(self, node: str) -> tuple[str, ...]:
        """The node's containers in the order in which they can start: its sidecar needs its network namespace."""
        return (node, self.sidecars[node]) if node in self.sidecars else (node,)

    def address(self, node: str) -> str:
        """The node's address on the network that requests take; "" while it has none."""
        return self.driver.addresses(node).get(APP, "")


class DeclaredFault(Shape):
    """A fault as an experiment declares it. A kind is a subclass in `lab/injection/kinds/`.

    A kind changes nothing outside the lab's containers: removing these lifts it, whatever became of the runner.
    """

    kind: str
    target: Name = Field(description="a node of the topology")
    start_s: StartSeconds | Annotated[tuple[StartSeconds, StartSeconds], Field(strict=False)] = Field(
        description="seconds after the window's start; [earliest, latest]: drawn evenly from the trial's seed"
    )
    # Fewer than three seconds are too few samples of a counter that is read once a second.
    length_s: float = Field(ge=3, le=3600, description="how long it lasts")

    part: ClassVar[Part]
    """What of the target it changes: two faults never change one part at the same time."""
    stops: ClassVar[bool] = False
    """Whether the target does nothing meanwhile, so that no other fault of it could be proved."""
    needs_sidecar: ClassVar[bool] = False
    images: ClassVar[tuple[str, ...]] = ()
    """Images that it needs besides the system's: keys of the table of images."""

    @property
    def what(self) -> str:
        """How messages call it."""
        return f"{self.kind} of {self.target}"

    @property
    def earliest_s(self) -> float:
        """When it begins at the earliest, in seconds after the window's start."""
        return self.start_s[0] if isinstance(self.start_s, tuple) else self.start_s

    @property
    def latest_s(self) -> float:
        """When it begins at the latest, in seconds after the window's start."""
        return self.start_s[1] if isinstance(self.start_s, tuple) else self.start_s

    @abstractmethod
    def inject(self, subject: Subject) -> Seen:
        """Brings the fault about, and returns what was seen once it was in force.

        Raises `CannotInject`, `OSError` or the driver's errors.
        """

    @abstractmethod
    def lift(self, subject: Subject) -> Seen:
        """Takes the fault away, and returns what was seen of it. Raises as `inject` does."""

    @abstractmethod
    def doubts(self, data: TrialData, course: Course) -> Iterator[str]:
        """Yield why the trial's records do not prove that the fault was there, from its inject's end to its lift."""
