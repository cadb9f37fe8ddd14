"""What an experiment may set of benchmarks, and of each of its levels."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import Field
from typing_extensions import override

from lab.spec import Level, LevelSettings, Shape, TargetSettings

ParameterName = Annotated[str, Field(pattern=r"^[a-z][A-Za-z0-9]{0,40}$")]
# JMH would take a comma for several values, each with a fork of its own.
ParameterValue = Annotated[str, Field(pattern=r"^[A-Za-z0-9._-]{1,60}$")]
Compiler = Literal["c2", "c1"]
COMPILER_FLAGS: Mapping[Compiler, Sequence[str]] = {"c2": (), "c1": ("-XX:TieredStopAtLevel=1",)}


class Iterations(Shape):
    """How long a fork runs."""

    warm_up_iterations: int = Field(default=8, ge=0, le=1000, description="before those that are measured")
    iterations: int = Field(default=5, ge=1, le=1000, description="that are measured")
    iteration_ms: int = Field(default=1000, ge=10, le=600_000, description="least time of an iteration")


class JmhSettings(TargetSettings, Iterations):
    """Benchmarks of services/benchmarks (JMH). A trial is one fork of one of them."""

    kind: Literal["jmh"]

    @override
    def level_defaults(self) -> Mapping[str, object]:
        return self.model_dump(include=set(Iterations.model_fields))


class JmhLevelSettings(LevelSettings, Iterations):
    """What a level may set: a benchmark, its parameters, and how its JVM compiles."""

    benchmark: Annotated[str, Field(pattern=r"^[A-Z][A-Za-z0-9]{0,60}$")] = Field(
        default="LastByteBenchmark", description="a class of services/benchmarks"
    )
    parameters: Mapping[ParameterName, ParameterValue] = Field(
        default_factory=dict, description="of the benchmark, one value each (@Param)"
    )
    compiler: Compiler = Field(default="c2", description="c2: as by default; c1: no optimising compiler")
    memory_mib: int = Field(default=1024, ge=256, le=65_536, description="the container's memory limit; half is heap")

    @property
    def needs_own_start(self) -> bool:
        """See `LevelSettings.needs_own_start`: a fork runs one benchmark."""
        return True


JmhLevel = Level[JmhLevelSettings]
