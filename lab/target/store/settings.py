"""What an experiment may set of a store of traces, and of each of its levels."""

from typing import Annotated, Literal

from pydantic import Field, GetPydanticSchema
from pydantic_core.core_schema import literal_schema

from lab.backend import BACKENDS, Backend
from lab.spec import Level, LevelSettings, TargetSettings
from lab.target.traffic import Traffic

STORES = [name for name, backend in BACKENDS.items() if backend.storage]


class StoreSettings(TargetSettings):
    """A store of traces: a Jaeger or a Zipkin."""

    kind: Literal["store"]


class StoreLevelSettings(LevelSettings, Traffic):
    """What a level of a store may set. Stores keep traces in memory, and evict the oldest ones."""

    backend: Annotated[str, GetPydanticSchema(lambda *_: literal_schema(STORES))] = Field(
        default="jaeger", description="which store"
    )
    max_traces: int = Field(
        default=20_000,
        ge=1,
        le=10_000_000,
        description="that it keeps; Zipkin counts spans: as many as these traces have at most",
    )
    memory_mib: int = Field(default=1024, ge=128, le=65_536, description="the container's memory limit")

    @property
    def store(self) -> type[Backend]:
        """Which store."""
        return BACKENDS[self.backend]

    @property
    def max_spans(self) -> int:
        """The most spans that `max_traces` can have."""
        return self.max_traces * self.spans[1]

    @property
    def needs_own_start(self) -> bool:
        """See `LevelSettings.needs_own_start`: the store keeps the traces of a level."""
        return True


StoreLevel = Level[StoreLevelSettings]
