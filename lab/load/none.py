"""No generator: for a target that brings its own work."""

from typing import ClassVar, Literal

from pydantic import Field

from lab.load.schedule import NoSchedule
from lab.spec import Capability, Load


class NoLoad(Load):
    """No load is sent, so that there is no window and no warm-up either."""

    generator: Literal["none"]
    schedule: NoSchedule = Field(default=NoSchedule(), description="none")

    capabilities: ClassVar[frozenset[Capability]] = frozenset({"counted", "reusable"})
