"""How one system of a target is started, loaded and stopped. These are its effects."""

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from lab.record import TrialPart
from lab.spec import Level


@dataclass(frozen=True)
class Endpoint:
    """Where load goes: a host and port inside the application's network, and what can be requested there."""

    host: str
    port: int
    protocol: Literal["http", "grpc", "otlp"]
    routes: tuple[str, ...] = ()


class Measuring(Protocol):
    """What a target adds to the measurement of one trial."""

    def parts(self) -> Sequence[TrialPart]:
        """Return the target's parts of the trial's `trial.json`, after its window has ended."""


class Deployment(Protocol):
    """One start of one system. The methods are called in this order.

    They raise `StartFailed` if a container does not do its part, and the engine's errors.
    """

    def deploy(self, variables: Mapping[str, str], instruments: Sequence[str]) -> None:
        """Create the containers, and those of the lab's `instruments`; start none."""

    def ready(self, instruments: Sequence[str]) -> Mapping[str, float]:
        """Start everything but the load and wait until it is ready; return start-up times by part, in seconds."""

    def endpoint(self) -> Endpoint | None:
        """Return where load goes; None if the target takes no load."""

    def request(self, level: Level[Any]) -> Mapping[str, object]:
        """Return what each request of a trial of `level` carries, by the generator's names."""

    def settled(self, level: Level[Any]) -> None:
        """Return once a trial of `level` may be measured."""

    def measuring(self, level: Level[Any], seed: int, lead_s: float) -> AbstractContextManager[Measuring]:
        """Return what is in force while a trial is measured, its window beginning in `lead_s` seconds."""

    def drain(self) -> TrialPart:
        """Stop what is measured, and return what is known only then, for all trials of the start."""

    def roles(self) -> Mapping[str, str]:
        """Return the role of each measured container."""

    def pages(self) -> Sequence[str]:
        """Return what to do with the running system: commands to type and addresses to open, a line each."""
