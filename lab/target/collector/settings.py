"""What an experiment may set of a Collector, and of each of its levels."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field

from lab.spec import FileName, Level, LevelSettings, TargetSettings


class CollectorSettings(TargetSettings):
    """An OpenTelemetry Collector."""

    kind: Literal["collector"]
    pipeline: FileName = Field(description="a file of collector/pipelines/ that sends to the sink")

    def level_defaults(self) -> Mapping[str, object]:
        """See `TargetSettings.level_defaults`."""
        return {"pipeline": self.pipeline}


class CollectorLevelSettings(LevelSettings):
    """What a level of a Collector may set. `environment` reaches the Collector, e.g. `GOMAXPROCS`."""

    pipeline: FileName | None = Field(default=None, description="a file of collector/pipelines/, if another")
    memory_mib: int = Field(default=512, ge=32, le=65_536, description="the container's memory limit")

    @property
    def pipeline_name(self) -> str:
        """The pipeline's name, which the target's settings give every level."""
        assert self.pipeline is not None
        return self.pipeline


CollectorLevel = Level[CollectorLevelSettings]
