"""What a metric is."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from lab.record.records import TrialData

Values = Mapping[str, float]
"""A trial's metrics by name."""


@dataclass(frozen=True)
class Measure:
    """How a metric is called, and which direction is better. The unit `fraction` is shown in percent.

    `share_of` names the metrics that count the events and all that there were, where the metric is the share of the
    one in the other: then all of a level's trials are counted together.
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
    """A measure of one trial beside the baseline's of the same block.

    `compute` takes both trials' values; it returns None or raises `KeyError` where they do not say.
    """

    compute: Callable[[Values, Values], float | None] = field(kw_only=True)
