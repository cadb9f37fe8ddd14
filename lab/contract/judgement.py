"""How a target's trials are judged: checks, metrics and report sections. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

from lab.record import TrialData

Values = Mapping[str, float]
"""A trial's metrics by name."""

Check = Callable[[TrialData], Iterator[str]]
"""Yields why a trial is rejected, a sentence each."""


@dataclass(frozen=True)
class Measure:
    """A metric's title, unit and better direction. The unit `fraction` is shown in percent.

    `share_of` names two metrics, the number of events and of all cases: then the metric is the share of the one in
    the other, and all of a level's trials are counted together.
    """

    name: str
    title: str
    unit: str
    better: Literal["lower", "higher"] = "lower"
    share_of: tuple[str, str] | None = None


@dataclass(frozen=True)
class Metric(Measure):
    """A measure of one trial.

    `compute` returns None where the level has nothing of the kind (no backend); it raises `NotDerivableError`
    or, for a counter that was not recorded, `KeyError` where the records do not say.
    """

    compute: Callable[[TrialData], float | None] = field(kw_only=True)


@dataclass(frozen=True)
class PairedMetric(Measure):
    """A measure of one trial against the baseline's of the same block.

    `compute` takes both trials' values; it returns None or raises `KeyError` where they do not say.
    """

    compute: Callable[[Values, Values], float | None] = field(kw_only=True)


class Judgement(Protocol):
    """What is computed from a target's records."""

    @property
    def checks(self) -> Sequence[Sequence[Check]]:
        """In stages: the checks of one run only if those before it found nothing."""

    @property
    def metrics(self) -> Mapping[str, Metric]:
        """What a trial's own records give, by name."""

    @property
    def paired(self) -> Mapping[str, PairedMetric]:
        """What a trial gives against the baseline's of its block, by name."""
