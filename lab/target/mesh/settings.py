"""What an experiment may set of a mesh, and of each of its levels."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import override

from lab.fault.kinds import Faults
from lab.record import NO_SIDECAR
from lab.spec import FileName, Level, LevelSettings, TargetSettings
from lab.target.mesh.variants import BackendName, Traces
from lab.target.mesh.variants import Name as VariantName

RuntimeKey = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_.]{0,99}$")]


class MeshSettings(TargetSettings):
    """Spring services that call each other."""

    kind: Literal["mesh"]
    topology: FileName = Field(description="a file of experiments/topologies/")

    @override
    def level_defaults(self) -> Mapping[str, object]:
        return {"topology": self.topology}


class MeshLevelSettings(LevelSettings):
    """What a level of a mesh may set."""

    topology: FileName | None = Field(default=None, description="a file of experiments/topologies/, if another")
    telemetry: VariantName = Field(default="baseline", description="a folder of services/telemetry/")
    backend: BackendName | None = Field(default=None, description="where telemetry goes, if not to the variant's own")
    memory_mib: int | None = Field(
        default=None, ge=128, le=65536, description="memory limit of each service, if not 512; half of it is heap"
    )
    traces: Traces | None = Field(
        default=None, description="which requests make spans, where the level's environment changes that"
    )
    sidecar: str = Field(
        default=NO_SIDECAR,
        max_length=200,
        description="`none`, `passthrough`, patterns of envoy/patterns/ joined with `+`, or `all`",
    )
    sidecar_side: Literal["front", "both"] = Field(
        default="front", description="which traffic sidecars handle: their service's inbound, or its outbound too"
    )
    envoy_runtime: Mapping[RuntimeKey, int | str] = Field(
        default_factory=dict, description="runtime values of every sidecar while the level is measured"
    )
    error_probability: float | None = Field(
        default=None, ge=0, le=1, description="of every service, requested by each request; over the topology's own"
    )
    faults: Faults = Field(default_factory=tuple, description="injected while the load is sent; factors add theirs")

    @property
    def needs_own_start(self) -> bool:
        """Whether the level has faults: what one leaves, such as a cold JVM, must not meet the next trial."""
        return bool(self.faults)

    @property
    def topology_name(self) -> str:
        """The topology's name, which the target's settings give every level."""
        assert self.topology is not None
        return self.topology


MeshLevel = Level[MeshLevelSettings]
