"""What `lab up` starts of a target if nothing else is set. Pure."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from lab.spec.level import Level

Fields = Mapping[str, object]
"""A part of an experiment, as its file says it."""


@dataclass(frozen=True)
class Example:
    """Settings of the target and of one level.

    `loads`: `load` and `protocol` of an experiment. The first that the system takes is sent.
    `faults`: those that a level may have, by name.
    """

    target: Fields
    level: Fields
    loads: Sequence[Fields] = ({"load": {"generator": "none"}, "protocol": {"repetitions": 1}},)
    faults: Callable[[Level[Any]], Mapping[str, Fields]] = lambda _: {}
