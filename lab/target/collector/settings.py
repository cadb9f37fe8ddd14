"""What an experiment may set of a Collector, and of each of its levels."""

from collections.abc import Mapping
from typing import Literal

from pydantic import Field
from typing_extensions import override

from lab.analysis.collector.outcomes import Keeps
from lab.spec import FileName, Level, LevelSettings, TargetSettings
from lab.target.traffic import Traffic

Release = Literal["current", "earlier"]


class CollectorSettings(TargetSettings):
    """An OpenTelemetry Collector."""

    kind: Literal["collector"]
    pipeline: FileName = Field(description="a file of collector/pipelines/")
    returns: bool = Field(default=False, description="spans go back to the generator; or else to the lab's sink")

    @override
    def level_defaults(self) -> Mapping[str, object]:
        return {"pipeline": self.pipeline, "returns": self.returns}


class CollectorLevelSettings(LevelSettings, Traffic):
    """What a level of a Collector may set. `environment` reaches the Collectors, e.g. `QUEUE_SIZE` of a pipeline."""

    transport: Literal["grpc", "http"] = Field(default="grpc", description="OTLP over gRPC or over HTTP")
    pipeline: FileName | None = Field(default=None, description="a file of collector/pipelines/, if another")
    returns: bool | None = Field(default=None, description="whether spans go back to the generator, if another")
    keeps: Keeps = Field(
        default="all",
        description="which traces come back if nothing is lost: `sampled`: those that sampling_percent keeps, by their "
        "IDs; `some`: a rule drops others, such as tail sampling",
    )
    sampling_percent: float = Field(default=25, gt=0, le=100, description="of the pipelines that sample by trace ID")
    sink_spans_per_s: float | None = Field(
        default=None, gt=0, le=10_000_000, description="most that the sink accepts, one after the other; or else all"
    )
    release: Release = Field(default="current", description="of the Collector: COLLECTOR_VERSION, or the earlier one")
    memory_mib: int = Field(default=512, ge=32, le=65_536, description="the container's memory limit")
    cpus: float | None = Field(default=None, gt=0, le=1024, description="the container's CPU limit; none if left out")
    edges: int = Field(default=0, ge=0, le=4, description="Collectors of a first stage, which pass spans on")
    edge_pipeline: FileName = Field(default="edge", description="the pipeline of the first stage")

    @property
    def pipeline_name(self) -> str:
        """The pipeline's name, which the target's settings give every level."""
        assert self.pipeline is not None
        return self.pipeline


CollectorLevel = Level[CollectorLevelSettings]
